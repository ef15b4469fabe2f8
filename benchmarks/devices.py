"""Every device found beside the CPU: ``python benchmarks/devices.py [--quick] [--only WORD]``.

Comes in: the kernels of `device_kernels`. Goes out: milliseconds a launch, bytes that must move by time, what a launch
and its compilation take. Times are medians of alternating runs in one process, each launch waited for, arrays
resident; every device's result is checked against NumPy first. GPUs: `gpu`.

Writes results/devices.json, after every row what there is until then.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import device_kernels
from device_workloads import Workload, workloads
from measure import alternating

import pykern as pk
from pykern.benchmarking import facts
from pykern.benchmarking.report import counted, origin

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
Row = dict[str, Any]
FULL = {"n": 1 << 23, "side": 2048, "cube": 160, "product": 256, "rows": 2048}
SMALL = {"n": 1 << 18, "side": 500, "cube": 50, "product": 128, "rows": 64}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="default: results/devices.json; with --quick results/quick/devices.json",
    )
    parser.add_argument(
        "--quick", "--small", action="store_true", help="small arrays, few repeats: no figures to quote"
    )
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--threads", type=int, default=2, help="threads of the cpu device")
    options = parser.parse_args()
    pk.set_num_threads(options.threads)
    devices = [str(device) for device in pk.devices() if str(device) != "python"]
    path = options.json or os.path.join(FOLDER, "quick" if options.quick else "", "devices.json")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    run = facts.run(FOLDER)
    names = {d: {"name": pk.device(d).info.name, "driver": pk.device(d).info.driver} for d in devices}
    for device in devices:
        info = pk.device(device).info
        print(f"{device:10} {info.name}; {info.driver}")

    print(f"{'ms a launch (GB/s or GFLOP/s)':26}" + "".join(f"{device:>20}" for device in devices))
    rows: list[Row] = []
    failed = False
    for workload in workloads(**(SMALL if options.quick else FULL)):
        if options.only in workload.name:
            try:
                rows.append(measured(workload, devices, 2 if options.quick else 3))
            except (pk.KernelError, AssertionError) as error:
                print(f"FAILED: {workload.name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
                failed = True
                continue
            print(line(rows[-1], devices), flush=True)
            keep(path, {**run, "devices": names, "rows": rows, "launch": {}})
    launches = overhead(devices)
    for what, times in launches.items():
        print(f"{what:26}" + "".join(f"{times[device] * 1e6:17.1f} us" for device in devices))
    keep(path, {**run, "devices": names, "rows": rows, "launch": launches})
    print(
        f"medians of launches that are waited for, {counted(options.threads)} of the cpu device; {origin(run)}"
    )
    return int(failed)


def keep(path: str, what: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "pykern-devices/1", **what}, file, indent=1)


def measured(workload: Workload, devices: list[str], repeat: int) -> Row:
    """Seconds of a launch on each device, and milliseconds to compile for it."""
    functions, compiled = {}, {}
    for device in devices:
        there = tuple(pk.array(x, device=device) for x in workload.arrays)
        compiled[device] = workload.compile_ms(there)
        workload.check(there)
        functions[device] = lambda there=there: workload.launch(there).wait()
    return {
        "name": workload.name, "moved": workload.moved, "flops": workload.flops,
        "times": alternating(functions, repeat, pause=0.25), "compile_ms": compiled,
    }  # fmt: skip


def line(row: Row, devices: list[str]) -> str:
    """A row of the table: times, and the rate that its limit is told in."""
    amount = row["flops"] or row["moved"]
    cells = (f"{row['times'][d] * 1e3:10.2f} ({amount / row['times'][d] / 1e9:6.1f})" for d in devices)
    return f"{row['name']:26}" + "".join(f"{cell:>20}" for cell in cells)


def overhead(devices: list[str]) -> dict[str, dict[str, float]]:
    """Seconds of a launch with nothing to do: put into the stream, and waited for."""
    put, waited = {}, {}
    for device in devices:
        x = pk.zeros(64, pk.f32, device=device)

        def launch(x: Any = x) -> Any:
            return device_kernels.nothing(x, ndrange=64)

        launch().wait()
        waited[device] = statistics.median(
            _seconds(lambda launch=launch: launch().wait()) for _ in range(200)
        )
        taken = []
        for _ in range(9):
            started = time.perf_counter()
            for _ in range(100):
                launch()
            taken.append((time.perf_counter() - started) / 100)
            pk.synchronize(device)
        put[device] = statistics.median(taken)
    return {"launch, put into the stream": put, "launch, waited for": waited}


def _seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main())
