"""A GPU beside its peers, in one command: ``python benchmarks/gpu.py [--device cuda:0] [--json FILE]``.

First the suites that every device runs, those of `docs/device_features.py`, run on it: what is wrong is not timed. Then
bandwidth (T_eff: bytes that must move by time), products, the library, gradients, graphs, launches and compile times;
torch's, Triton's and CuPy's beside them where they are installed. Each launch takes another set of arrays, so that none
is left in the L2 cache. Times are the device's own: events around a row of launches, the contenders by turns, medians.

An H100 has run it (`results/gpu-h100.json`), an AMD GPU has not. Without a GPU all of it but the peers' timing runs
with ``--device cuda:emulated --small`` (torch is on the CPU then, by the clock of the host), the suites included.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import numpy as np
from cpu import machine
from device_workloads import Workload, workloads
from devices import SMALL, overhead
from gpu_peers import cupy_peer, has, torch_peer, triton_peer
from gpu_workloads import gpu_workloads

import pykern as pk

ROOT = Path(__file__).resolve().parents[1]
FULL = {"n": 1 << 26, "side": 8192, "cube": 512, "product": 4096, "rows": 32768}
ROTATED = 512 << 20
"""Bytes of all sets of arrays: some times the largest L2 there is."""

Timer = Callable[[int], float]
"""Seconds of so many launches, one after another."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--small", action="store_true", help="small arrays, few repeats: a dry run")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--tests", nargs="*", default=list(suites()), help="run before; none: skip")
    options = parser.parse_args()
    info = pk.device(options.device).info
    print(f"{options.device}: {info.name}; {info.driver}; compiled for {info.target}")
    if options.tests:
        checked(options.device, options.tests)

    rows = []
    sizes = SMALL if options.small else FULL
    more = gpu_workloads(min(sizes["side"], sizes["rows"]), sizes["product"])
    for workload in chain(workloads(**sizes), more):
        if options.only in workload.name:
            rows.append(measured(workload, options.device, options.small))
            print(line(rows[-1], rows[0]), flush=True)
    launches = overhead([str(pk.device(options.device))]) | replayed(options.device)
    if has("torch"):
        launches |= peer_overhead(options.device)
    for what, times in launches.items():
        print(
            f"{what:38}" + "".join(f"{name:>14} {seconds * 1e6:8.2f} us" for name, seconds in times.items())
        )
    if options.json:
        device = {"name": info.name, "driver": info.driver, "target": info.target}
        with open(options.json, "w") as file:
            json.dump(
                {"machine": machine(), "device": device, "rows": rows, "launch": launches}, file, indent=1
            )


def suites() -> tuple[str, ...]:
    """The tests that every device runs, which the table of devices counts."""
    spec = importlib.util.spec_from_file_location("device_features", ROOT / "docs" / "device_features.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SUITES


def checked(device: str, tests: list[str]) -> None:
    """Run the suites on the device. Ends the program where a test fails, or where the device is not used."""
    kind = device.partition(":")[0]
    cases = f"{kind} and {'' if is_emulated(device) else 'not '}emulated"
    command = [sys.executable, "-m", "pytest", "-q", "-k", cases, *tests]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYKERN_TEST_REQUIRE": kind}, check=False)
    if done.returncode:
        sys.exit(f"the tests fail on {device}: nothing is timed")


# -- one workload ----------------------------------------------------------------------------------


def measured(workload: Workload, device: str, small: bool) -> dict[str, Any]:
    """Median seconds of a launch for pykern and each peer; every result is checked first."""
    nbytes = sum(x.nbytes for x in workload.arrays)
    copies = 2 if small else max(2, -(-ROTATED // nbytes))
    sets = [tuple(pk.array(x, device=device) for x in workload.arrays) for _ in range(copies)]
    compiled = workload.compile_ms(sets[0])
    workload.check(sets[0])
    timers: dict[str, Timer] = {"pykern": pykern_timer(workload, sets, device)}
    if has("torch"):
        timers |= dict(peer_timers(workload, device, copies))
    counts = {name: max(1, min(1000, int(0.02 / timer(2) * 2))) for name, timer in timers.items()}
    taken: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(3 if small else 11):
        for name, timer in timers.items():
            taken[name].append(timer(counts[name]) / counts[name])
    return {
        "name": workload.name,
        "moved": workload.moved,
        "flops": workload.flops,
        "sets": copies,
        "times": {name: statistics.median(seconds) for name, seconds in taken.items()},
        "spread": {name: spread(seconds) for name, seconds in taken.items()},
        "compile_ms": compiled,
    }


def spread(seconds: list[float]) -> float:
    """Half of the distance between the quartiles, as a part of the median: what is less than it is noise."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    return (high - low) / 2 / middle


def pykern_timer(workload: Workload, sets: list[tuple[Any, ...]], device: str) -> Timer:
    stream, turns = pk.Stream(device), cycle(sets)

    def timer(count: int) -> float:
        start = pk.Event().record(stream)
        for _ in range(count):
            workload.launch(next(turns), stream)
        return start.elapsed(pk.Event().record(stream)) / 1e3

    return timer


def peer_timers(workload: Workload, device: str, copies: int) -> Iterator[tuple[str, Timer]]:
    """torch, Triton and CuPy on the same GPU; torch on the CPU where the device is no GPU of theirs."""
    import torch

    there = of_torch(device)
    for label, peer in (("torch", torch_peer), ("triton", triton_peer), ("cupy", cupy_peer)):
        if label != "torch" and there == "cpu":
            continue
        tensors = [
            tuple(torch.from_numpy(x.copy()).to(there) for x in workload.arrays) for _ in range(copies)
        ]
        functions = [function for one in tensors if (function := peer(workload.name, one)) is not None]
        if functions:
            functions[0]()
            found, text = tensors[0][0].cpu().numpy(), f"{label}: {workload.name}"
            np.testing.assert_allclose(found, workload.expected(), rtol=1e-2, atol=1e-2, err_msg=text)
            yield (
                (label, torch_timer(functions))
                if there != "cpu"
                else (f"{label}, CPU", host_timer(functions))
            )


def of_torch(device: str) -> str:
    """The same GPU as torch calls it, ROCm's too; its CPU where there is no such GPU."""
    kind, _, number = device.partition(":")
    return f"cuda:{number or 0}" if kind in ("cuda", "rocm") and not is_emulated(device) else "cpu"


def is_emulated(device: str) -> bool:
    return ":emulated" in device


def torch_timer(functions: list[Callable[[], object]]) -> Timer:
    import torch

    turns = cycle(functions)

    def timer(count: int) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            next(turns)()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    return timer


def host_timer(functions: list[Callable[[], object]]) -> Timer:
    turns = cycle(functions)

    def timer(count: int) -> float:
        started = time.perf_counter()
        for _ in range(count):
            next(turns)()
        return time.perf_counter() - started

    return timer


def replayed(device: str, launches: int = 100) -> dict[str, dict[str, float]]:
    """Seconds of a launch that a graph replays, waiting included: a hundred at a time."""
    from device_kernels import nothing

    x = pk.zeros(64, pk.f32, device=device)
    nothing(x, ndrange=64).wait()
    with pk.graph() as captured:
        for _ in range(launches):
            nothing(x, ndrange=64)
    taken = []
    for _ in range(9):
        started = time.perf_counter()
        captured.replay()
        pk.synchronize(device)
        taken.append((time.perf_counter() - started) / launches)
    return {"launch, replayed": {str(pk.device(device)): statistics.median(taken)}}


def peer_overhead(device: str, launches: int = 100) -> dict[str, dict[str, float]]:
    """Seconds in which torch and Triton put a launch with nothing much to do into their stream."""
    import torch

    there = of_torch(device)
    x, y = torch.zeros(64, device=there), torch.zeros(64, device=there)
    functions: dict[str, Callable[[], object]] = {f"torch, {there}": lambda: x.add_(1)}
    if there != "cpu" and (copy := triton_peer("copy", (x, y))) is not None:
        functions["triton"] = copy
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(10):
        for name, function in functions.items():
            started = time.perf_counter()
            for _ in range(launches):
                function()
            if turn:  # the first compiles
                taken[name].append((time.perf_counter() - started) / launches)
            if there != "cpu":
                torch.cuda.synchronize()
    return {
        "launch, put into the stream, peers": {n: statistics.median(seconds) for n, seconds in taken.items()}
    }


def line(row: dict[str, Any], ceiling: dict[str, Any]) -> str:
    """Time, rate, the share of the copy's bandwidth, and how many times as long each peer takes."""
    mine = row["times"]["pykern"]
    if row["flops"]:
        rate = f"{row['flops'] / mine / 1e9:9.1f} GFLOP/s"
    else:
        share = row["moved"] / mine / (ceiling["moved"] / ceiling["times"]["pykern"])
        rate = f"{row['moved'] / mine / 1e9:9.1f} GB/s {share:6.1%} of the copy"
    peers = "".join(f"   {n} {t / mine:.2f}x" for n, t in row["times"].items() if n != "pykern")
    noise = f"± {row['spread']['pykern']:.1%}"
    return f"{row['name']:26} {mine * 1e3:9.3f} ms {noise:>7} {rate:32}{peers}   compiled in {row['compile_ms']:.0f} ms"


if __name__ == "__main__":
    main()
