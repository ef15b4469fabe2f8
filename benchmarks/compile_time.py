"""What compiling costs: ``python benchmarks/compile_time.py [--only WORD] [--turns 5] [--stages] [--json FILE]``.

Processor time of a whole compile in this process, links in their own processes included, the least of some turns:
other programs on the machine disturb it little. Nothing is cached, and the first compile, which loads the compiler, is
not counted. `--stages` tells for each case where the time went, by the processor's clock too. The code of a case is
fingerprinted by its size in bytes. Read next: `growth`, for time against statements.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ["PYKERN_COMPILER"] = "inprocess"
os.environ["PYKERN_CACHE"] = "0"

import numpy as np
from autodiff_programs import nonlinear_heat
from generated import array_text, kernel_text, made, memory_text
from workloads import EPS, A, C, heat, layernorm, saxpy, softmax

import pykern as pk
from pykern.benchmarking.kernels import attention

SIZES = (64, 67, 127, 256, 1021, 1024)
COUNTS = (100, 1000, 2000)
DTYPES: dict[str, type[np.generic]] = {"f32": np.float32, "f64": np.float64}
Lowered = Any


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def heat_loss(t, steps: pk.static):
    return (nonlinear_heat(t, steps) ** 2).sum()


def cases() -> Iterator[tuple[str, Callable[[], Lowered]]]:
    """Names, and what lowers: its source is then compiled again and again."""
    x = np.zeros((64, 64), np.float32)
    row = x[0]
    yield "saxpy", lambda: saxpy.lower(x[0], x[1], x[2], A, ndrange=64)
    yield "heat", lambda: heat.lower(x, x.copy(), C, ndrange=x.shape)
    yield "softmax", lambda: softmax.lower(x, x.copy(), ndrange=64)
    yield "layernorm", lambda: layernorm.lower(x, x.copy(), row, row, EPS, ndrange=64)
    for dtype, kind in DTYPES.items():
        for n in SIZES:
            yield (
                f"matmul {n} {dtype}",
                lambda n=n, k=kind: product.lower(np.zeros((n, n), k), np.zeros((n, n), k)),
            )
    q = np.zeros((8, 512, 64), np.float32)
    yield "attention", lambda: attention.lower(q, q, q, 0.125)
    yield "heat gradient", lambda: pk.grad(heat_loss).lower(np.zeros((512, 512)), 64)
    line = np.zeros(1 << 16, np.float32)
    for n in COUNTS:
        kernel = pk.kernel(made(kernel_text(n), {"pk": pk}))
        yield f"kernel of {n}", lambda k=kernel: k.lower(line, line.copy(), ndrange=len(line))
        memory = pk.kernel(made(memory_text(n), {"pk": pk}))
        yield f"kernel of {n}, memory", lambda k=memory: k.lower(line, line.copy(), ndrange=len(line))
        program = pk.jit(made(array_text(n), {}))
        yield f"program of {n}", lambda p=program: p.lower(line)


def spent() -> float:
    """Seconds of processor time of this process and of those it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def measure(source: Any, turns: int) -> tuple[float, int, tuple[tuple[str, float], ...]]:
    """Milliseconds, bytes of the result, and milliseconds of each stage of the quickest turn."""
    from pykern.compiler.driver import compile_source

    best, size, stages = float("inf"), 0, ()
    for _ in range(turns):
        started = spent()
        made_of_it = compile_source(source)
        taken = (spent() - started) * 1e3
        if taken < best:
            best, size, stages = taken, len(made_of_it.binary), made_of_it.times
    return best, size, stages


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    chosen = parser.parse_args()
    if chosen.stages:
        time.perf_counter = time.process_time  # what the stages are timed with
    rows: dict[str, float] = {}
    for name, lower in cases():
        if chosen.only not in name:
            continue
        turns = chosen.turns if "of 1000" not in name and "of 2000" not in name else min(chosen.turns, 2)
        rows[name], size, stages = measure(lower().source, turns)
        print(f"{name:24} {rows[name]:9.1f} ms {size:8} bytes", flush=True)
        if chosen.stages:
            for stage, ms in sorted(stages, key=lambda s: -s[1])[:40]:
                print(f"    {ms:8.1f} {stage[:90]}")
    products = [ms for name, ms in rows.items() if name.startswith("matmul")]
    if products:
        print(f"products: median {statistics.median(products):.0f} ms, worst {max(products):.0f}")
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
