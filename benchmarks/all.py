"""All benchmarks of the project, one after another: ``python benchmarks/all.py [--list] [--quick] [--only A,B]``.

Says first what will run and how long it takes, then runs each as a process of its own; one that fails, or takes three
times as long as it should and is stopped, does not lose the others: each keeps what it has measured. The most telling
come first. With ``--quick`` arrays are small and everything goes to results/quick: a try, no figures to quote.

Writes results/all.json: date, commit, versions, and the seconds and exit code of each. Those seconds are the next run's
estimates.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pykern.benchmarking import facts
from pykern.benchmarking.report import origin
from pykern.benchmarking.terminal import table

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 3.0
"""A benchmark may take as many times its estimate, and four minutes more."""
GRACE = 30.0
"""Seconds to write what there is, after it was asked to stop."""
GRADIENTS, ONE_GRADIENT = ("--repeat", "5", "--dtypes", "float64"), ("--repeat", "1", "--only", "sum")
ONE_ROUND = ("--rounds", "1", "--calls", "5")
FEW_ROWS = ("--rows", "64", "--turns", "3")


@dataclass(frozen=True)
class Step:
    """One command; `minutes` on a quiet machine of two cores, `quick` its arguments for a try."""

    name: str
    script: str
    minutes: float
    measures: str
    arguments: Sequence[str] = ()
    quick: Sequence[str] = ("--quick",)
    usual: bool = True

    def command(self, quick: bool) -> list[str]:
        file = os.path.join(HERE, "results", "quick" if quick else "", f"{self.name}.json")
        written = ["--out", os.path.dirname(file)] if self.script == "growth.py" else ["--json", file]
        return [
            sys.executable,
            os.path.join(HERE, self.script),
            *written,
            *(self.quick if quick else self.arguments),
        ]


STEPS = (
    Step("cpu", "cpu.py", 5.0, "eight workloads and a launch beside every peer that is installed"),
    Step("matmul", "matmul.py", 5.0, "products of matrices, 64 to 4096, beside OpenBLAS"),
    Step("polybench", "polybench.py", 3.0, "PolyBench at LARGE beside Numba and NumPy"),
    Step("kernels", "kernels.py", 2.0, "kernels people port from Numba, Taichi and Warp, beside Numba"),
    Step("sequential", "sequential.py", 1.5, "sequential algorithms beside Numba", quick=("--repeat", "3")),
    Step("scaling", "scaling.py", 1.5, "strong scaling over 1, 2, 4, ... and all processors"),
    Step("growth", "growth.py", 3.5, "compile time against statements, throughput against size"),
    Step("fusion", "fusion.py", 1.5, "chains of elementwise operations, fused and not", quick=FEW_ROWS),
    Step("forms", "forms.py", 3.0, "equal computations in several forms, beside Numba's plain loops"),
    Step("launches", "launches.py", 1.5, "what a launch costs, by the kind of its arguments"),
    Step("startup", "startup.py", 1.0, "import and first calls", quick=("--repeat", "2")),
    Step("behind", "behind.py", 1.0, "a product right behind another library's", quick=ONE_ROUND),
    Step("devices", "devices.py", 2.5, "the same kernels on every device that is found"),
    Step("autodiff", "autodiff.py", 6.0, "gradients beside JAX's", GRADIENTS, ONE_GRADIENT, usual=False),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--list", action="store_true", help="say what would run and how long it takes, and end"
    )
    parser.add_argument("--quick", action="store_true", help="small arrays and few turns: a try")
    parser.add_argument("--only", default="", metavar="A,B", help="these; default: all but autodiff")
    chosen = parser.parse_args()
    wanted = [name for name in chosen.only.split(",") if name]
    unknown = set(wanted) - {step.name for step in STEPS}
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    steps = [step for step in STEPS if (step.name in wanted if wanted else step.usual)]
    folder = os.path.join(HERE, "results", "quick" if chosen.quick else "")
    path = os.path.join(folder, "all.json")
    expected = estimates(path, steps, chosen.quick)
    print(plan(steps, expected))
    if chosen.list:
        return 0
    os.makedirs(folder, exist_ok=True)
    run: dict[str, Any] = {"schema": "pykern-all/1", **facts.device("cpu"), **facts.run(HERE), "steps": {}}
    print(f"\n{run['device_name']}, {origin(run)}", flush=True)
    for step in steps:
        print(f"\n== {step.name}: {step.measures}", flush=True)
        started = time.monotonic()
        status = attempt(step.command(chosen.quick), PATIENCE * expected[step.name] + 240, chosen.quick)
        run["steps"][step.name] = {"seconds": round(time.monotonic() - started, 1), "status": status}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(run, file, indent=1)
    print("\n" + summary(run["steps"], folder))
    return int(any(one["status"] for one in run["steps"].values()))


def estimates(path: str, steps: Sequence[Step], quick: bool) -> dict[str, float]:
    """Seconds of each: what it took the last time here, where it ran to its end."""
    found = {step.name: 20.0 if quick else step.minutes * 60 for step in steps}
    try:
        with open(path, encoding="utf-8") as file:
            last = json.load(file)["steps"]
    except (OSError, ValueError, KeyError):
        return found
    return found | {n: one["seconds"] for n, one in last.items() if n in found and one["status"] == 0}


def plan(steps: Sequence[Step], expected: dict[str, float]) -> str:
    rows = [[step.name, f"{expected[step.name] / 60:.1f} min", step.measures] for step in steps]
    return table(["benchmark", "about", ""], [*rows, ["all", f"{sum(expected.values()) / 60:.0f} min", ""]])


def attempt(command: Sequence[str], limit: float, quick: bool) -> int:
    """Run a command; gives its exit code, 124 where it took too long: then it, and what it started, is stopped."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [os.path.dirname(HERE), environment.get("PYTHONPATH")])
    )
    if quick:
        environment["PYKERN_BENCHMARKS_SMALL"] = "1"
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        print(f"stopped after {limit:.0f} s", file=sys.stderr)
        _stop(process)
        return 124
    except KeyboardInterrupt:
        _stop(process)
        raise


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end and to keep what it has; then end it."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def summary(done: dict[str, dict[str, Any]], folder: str) -> str:
    rows = [
        [
            name,
            f"{one['seconds']:.0f} s",
            {0: "measured", 124: "stopped, took too long"}.get(one["status"], "FAILED"),
        ]
        for name, one in done.items()
    ]
    rows.append(["all", f"{sum(one['seconds'] for one in done.values()):.0f} s", os.path.relpath(folder)])
    return table(["benchmark", "took", ""], rows)


if __name__ == "__main__":
    raise SystemExit(main())
