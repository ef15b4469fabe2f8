"""How costs grow: ``python benchmarks/growth.py [--quick] [--statements 10,100,1000,2000] [--skip-sizes]``.

Compile time against statements (10 to 2,000) of a kernel, of a kernel that goes to memory with each, and of an array
program, beside Numba's and JAX's for the same text; against the terms of one sum, of a kernel, a program and their
gradients; what the compiled kernel then takes to run; time against size of saxpy and softmax. Compile times are the
compiler's own (the sum of its stages), the worker warm, nothing cached; peers' are their compilers' alone. An exponent
is fitted from 100 statements on: 1 is linear.

Writes results/growth-compile.json, growth-sizes.json (JSON lines) and growth-{compile,run,sizes}.png.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from generated import array_sum_text, array_text, kernel_text, loop_text, made, memory_text, sum_text
from peers import PEERS
from workloads import saxpy_of, softmax_of

import pykern as pk
from pykern.benchmarking import facts, figures, records
from pykern.benchmarking.contest import PEERS_FAIL_WITH
from pykern.benchmarking.harness import Suite
from pykern.benchmarking.interleaved import Effort
from pykern.benchmarking.records import Record
from pykern.benchmarking.report import machine
from pykern.benchmarking.samples import Samples, duration
from pykern.benchmarking.terminal import table
from pykern.environment.installation import no_plots

COUNTS = (10, 30, 100, 300, 1000, 2000)
QUICK = (10, 100, 200)
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
X = np.linspace(0.5, 1.5, 1 << 16, dtype=np.float32)
TOO_LONG = 40.0
"""Seconds: a line that would take more, growing by the power of 1.5, is not tried with more statements."""
MOST_OF_PEERS = 1000
"""Statements: JAX took five minutes for 2,000 on a loaded machine."""
SUITE = Suite(
    "growth-sizes", __file__,
    (
        *(saxpy_of(1 << k, str(1 << k)) for k in (8, 11, 14, 17, 20, 23, 25)),
        *(softmax_of(1 << k, 1024) for k in (0, 3, 6, 9, 12)),
    ),
    [peer for peer in PEERS if peer.name in ("numpy", "numba", "torch", "jax")], Effort(7, 0.3), None,
)  # fmt: skip


def main() -> int:
    if "--child" in sys.argv:
        return SUITE.main()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--statements",
        metavar="N,M",
        help=f"default: {','.join(map(str, COUNTS))}; with --quick {','.join(map(str, QUICK))}",
    )
    parser.add_argument("--lines", default="", metavar="A,B", help="pykern, numba, jax; default: all")
    parser.add_argument("--skip-sizes", action="store_true", help="compile times only")
    parser.add_argument("--skip-compile", action="store_true", help="sizes only")
    parser.add_argument(
        "--quick", action="store_true", help="up to 200 statements, few turns: a try, no figures to quote"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="default: results beside the command; with --quick results/quick"
    )
    chosen = parser.parse_args()
    folder = chosen.out or os.path.join(FOLDER, "quick" if chosen.quick else "")
    os.makedirs(folder, exist_ok=True)
    status = 0
    if not chosen.skip_compile:
        counts = (
            [int(n) for n in chosen.statements.split(",")]
            if chosen.statements
            else QUICK
            if chosen.quick
            else COUNTS
        )
        status = compile_times(counts, folder, [name for name in chosen.lines.split(",") if name])
    if not chosen.skip_sizes:
        path = os.path.join(folder, "growth-sizes")
        more = ["--quick"] if chosen.quick else []
        status = SUITE.main(["--json", f"{path}.json", "--no-plots", "--threads", "1", *more]) or status
        draw_sizes(records.read(f"{path}.json"), path)
    return status


# -- compile time --------------------------------------------------------------------------------


def compile_times(counts: Sequence[int], folder: str, wanted: Sequence[str]) -> int:
    """Measured, printed and drawn; what was measured is kept whatever comes later. Gives the exit code."""
    os.environ["PYKERN_CACHE"] = "0"
    status, path = 0, os.path.join(folder, "growth")
    found: list[Record] = []
    shared = facts.run(os.path.dirname(os.path.abspath(__file__)))
    lines: dict[str, Callable[[int], tuple[float, float]]] = {
        "pykern kernel": pykern_kernel, "pykern kernel, memory": pykern_memory, "pykern program": pykern_program,
        "pykern sum": pykern_sum, "pykern sum, gradient": pykern_sum_gradient,
        "pykern array sum": pykern_array_sum, "pykern array sum, gradient": pykern_array_sum_gradient,
    }  # fmt: skip
    for name, line in (("numba", numba_loop), ("jax", jax_function)):
        if facts.versions((name,)).get(name):
            lines[name] = line
        else:
            print(f"not run: {name}: not installed (pip install {name})")
    pykern_kernel(3)  # the compiler's process starts
    pykern_program(3)
    lines = {n: line for n, line in lines.items() if not wanted or n.split()[0] in wanted}
    for name, line in lines.items():
        these = [n for n in counts if n <= MOST_OF_PEERS or name.startswith("pykern")]
        for count, following in zip(these, [*these[1:], 0], strict=True):
            started = time.perf_counter()
            try:
                compiled, run = line(count)
            except (*PEERS_FAIL_WITH, pk.KernelError) as error:
                print(
                    f"not run: {name}, {count} statements and more: {type(error).__name__}: {str(error)[:200]}"
                )
                status |= name.startswith("pykern")
                break
            whole = time.perf_counter() - started
            found.append(_record(name, "compile", count, compiled, shared))
            found.append(_record(name, "run", count, run, shared))
            print(
                f"{name:24} {count:5} statements  compiled in {duration(compiled):>8}  runs {duration(run)}",
                flush=True,
            )
            if count >= 100 and whole * (following / count) ** 1.5 > TOO_LONG:
                print(f"not run: {name}, {following} statements and more: might take over {TOO_LONG:.0f} s")
                break
        with open(f"{path}-compile.json", "w") as file:
            file.write(records.as_lines(found))
    print("\n" + exponents(found) + "\n\n" + machine(found[:1]))
    try:
        draw_compile(found, path)
    except ModuleNotFoundError as error:
        print(no_plots(error), file=sys.stderr)
    return status


def _record(line: str, what: str, count: int, seconds: float, shared: dict[str, object]) -> Record:
    return {
        "schema": records.SCHEMA, "benchmark": what, "line": line, **facts.device("cpu"), "clock": "host",
        "cache": "warm", "config": {"statements": count}, **records.times(Samples((seconds,))), **shared,
    }  # fmt: skip


def _least(function: Callable[[], Any], turns: int = 5) -> float:
    """Seconds of the quickest call: what others do to this machine is not asked here."""
    best = math.inf
    for _ in range(turns):
        started = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - started)
    return best


def _of_kernel(text: str) -> tuple[float, float]:
    kernel, y = pk.kernel(made(text, {"pk": pk})), np.zeros_like(X)
    compiled = sum(stage.ms for stage in kernel.lower(y, X, ndrange=len(X)).stages) / 1e3
    kernel(y, X, ndrange=len(X))
    return compiled, _least(lambda: kernel(y, X, ndrange=len(X)))


def pykern_kernel(count: int) -> tuple[float, float]:
    return _of_kernel(kernel_text(count))


def pykern_memory(count: int) -> tuple[float, float]:
    return _of_kernel(memory_text(count))


def pykern_sum(count: int) -> tuple[float, float]:
    return _of_kernel(sum_text(count))


def pykern_sum_gradient(count: int) -> tuple[float, float]:
    gradient = pk.autodiff(pk.kernel(made(sum_text(count), {"pk": pk})))
    duplicates = [pk.Dup(a, np.ones_like(X)) for a in (np.zeros_like(X), X)]
    compiled = sum(stage.ms for stage in gradient.lower(*duplicates, ndrange=len(X)).stages) / 1e3
    gradient(*duplicates, ndrange=len(X))
    return compiled, _least(lambda: gradient(*duplicates, ndrange=len(X)))


def pykern_program(count: int) -> tuple[float, float]:
    return _of_program(array_text(count))


def pykern_array_sum(count: int) -> tuple[float, float]:
    return _of_program(array_sum_text(count))


def pykern_array_sum_gradient(count: int) -> tuple[float, float]:
    gradient = pk.grad(pk.jit(made(array_sum_text(count, objective=True), {})))
    compiled = sum(stage.ms for stage in gradient.lower(X).stages) / 1e3
    gradient(X)
    return compiled, _least(lambda: gradient(X))


def _of_program(text: str) -> tuple[float, float]:
    program, out = pk.jit(made(text, {})), np.zeros_like(X)
    compiled = sum(stage.ms for stage in program.lower(X).stages) / 1e3
    program(X, out=out)
    return compiled, _least(lambda: program(X, out=out))


def numba_loop(count: int) -> tuple[float, float]:
    import numba

    function, y = numba.njit(made(loop_text(count), {})), np.zeros_like(X)
    compiled = _least(lambda: function.compile((numba.float32[::1], numba.float32[::1])), 1)
    return compiled, _least(lambda: function(y, X))


def jax_function(count: int) -> tuple[float, float]:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    x, function = jax.numpy.asarray(X), made(array_text(count), {})
    compiled = _least(lambda: jax.jit(function).lower(x).compile(), 1)
    ready = jax.jit(function).lower(x).compile()
    return compiled, _least(lambda: ready(x).block_until_ready())


def exponents(found: Sequence[Record]) -> str:
    """Time grows as statements to this power, fitted by least squares over what has 100 statements and more."""
    rows = []
    for name in dict.fromkeys(r["line"] for r in found):
        points = [
            (math.log(r["config"]["statements"]), math.log(r["median_ns"]))
            for r in found
            if r["line"] == name and r["benchmark"] == "compile" and r["config"]["statements"] >= 100
        ]
        if len(points) > 1:
            (xs, ys) = zip(*points, strict=True)
            rows.append([name, f"{np.polyfit(xs, ys, 1)[0]:.2f}"])
    if not rows:
        return ""
    return (
        table(["compile time", "exponent"], rows)
        + "\nthe power of the statements that the time grows with: 1 is linear"
    )


# -- plots ---------------------------------------------------------------------------------------


def draw_compile(found: Sequence[Record], path: str) -> None:
    for what, unit, scale in (("compile", "seconds to compile", 1e9), ("run", "ns an element", len(X))):
        series: dict[str, list[tuple[float, float]]] = {}
        for r in found:
            if r["benchmark"] == what:
                series.setdefault(r["line"], []).append((r["config"]["statements"], r["median_ns"] / scale))
        series = {name: points for name, points in series.items() if len(points) > 1}
        if not series:
            continue
        first = next(iter(series.values()))
        guide = {"linear": [(n, first[-1][1] * n / first[-1][0]) for n, _ in first]}
        figures.lines(
            series, f"{path}-{what}.png", "statements", unit, f"{unit} against statements", guide,
            below=figures.note(found),
        )  # fmt: skip


def draw_sizes(found: Sequence[Record], path: str) -> None:
    """Bytes by time against bytes: one line for each contender, softmax dashed by its name."""
    series: dict[str, list[tuple[float, float]]] = {}
    for r in found:
        if not r["allocates"]:
            series.setdefault(f"{r['line']}, {r['benchmark']}", []).append((r["bytes"], r["gb_per_s"]))
    roof = found[0]["limits"]["gb_per_s"] if found else 0.0
    guide = {
        "copy, measured": [
            (min(p[0][0] for p in series.values()), roof),
            (max(p[-1][0] for p in series.values()), roof),
        ]
    }
    try:
        figures.lines(
            series,
            f"{path}.png",
            "bytes",
            "GB/s",
            "throughput against size, one thread",
            guide,
            below=figures.note(found),
        )
    except ModuleNotFoundError as error:
        print(no_plots(error), file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
