"""Write `devices.md`: what runs on which device, from a run of the suites that are tested on every device.

    python docs/device_table.py [opencl ...]

Comes in: the tests of `device_features.SUITES`, run once a device in a process of its own. Where a driver dies, what
is left of its column has failed. Goes out: `devices.md` beside this file. A device that is not named keeps no column of
an earlier run: it is "not run".
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from device_features import FEATURES, SUITES, features_of

ROOT = Path(__file__).resolve().parents[1]
EMULATED = {"cuda:emulated": "NVIDIA's", "rocm:emulated": "AMD's"}
"""Emulated GPUs, and whose code they run."""
DEVICES = (
    "cpu",
    "python",
    "C",
    "opencl",
    "vulkan",
    "webgpu",
    "cuda",
    "cuda:emulated",
    "rocm",
    "rocm:emulated",
)
"""`C` is the device `cpu` with kernels that are printed in C and compiled by a C compiler."""
AT_ONCE = 2
"""Devices that are tested at a time: each waits for its compiler most of the time."""
Case = dict[str, Any]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--record"]:
        sys.exit(record(arguments[1], Path(arguments[2])))
    chosen = [device for device in DEVICES if device in (arguments or DEVICES) and is_here(device)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        cases = dict(zip(chosen, pool.map(run, chosen), strict=True))
    columns = {device: cases.get(device, []) for device in DEVICES}
    (ROOT / "docs" / "devices.md").write_text(page(columns))
    failed = [case for cases in columns.values() for case in cases if case["outcome"] == "failed"]
    sys.exit("\n".join(f"failed: {case['id']}" for case in failed) or 0)


# -- running ---------------------------------------------------------------------------------------


def is_here(device: str) -> bool:
    """Whether there is a device of this kind."""
    from pykern.runtime import registry

    return bool(shutil.which("cc")) if device == "C" else isinstance(registry.found(device), tuple)


def run(device: str) -> list[Case]:
    """What became of every case of a device."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases"
        command = [sys.executable, __file__, "--record", device, str(file)]
        subprocess.run(command, cwd=ROOT, env=environment(device, folder), check=False)
        cases = (json.loads(line) for line in file.read_text().splitlines())
        return list({case["id"]: case for case in cases}.values())


def environment(device: str, folder: str) -> dict[str, str]:
    """What a device's process is told."""
    if device != "C":
        return dict(os.environ)
    return os.environ | {
        "PYTHONPATH": str(ROOT), "PYKERN_LOADER": "dlopen", "PYKERN_CACHE_DIR": f"{folder}/cache",
    }  # fmt: skip


def record(device: str, file: Path) -> int:
    """Run the suites on one device. Each case is a line of `file`: failed, until it has ended otherwise."""
    import pytest

    by_c = device == "C"  # which has no array programs
    suites = [str(ROOT / suite) for suite in (SUITES[:2] if by_c else SUITES)]
    plugins = ["-p", "tests.lowering.c_as_cpu"] * by_c
    with file.open("w") as lines:
        return pytest.main(
            ["-q", "-p", "no:cacheprovider", "--tb=short", *plugins, *suites],
            plugins=[Recorder("cpu" if by_c else device, lines)],
        )


class Recorder:
    """A plugin of pytest that keeps the cases of one device and writes down what becomes of them."""

    def __init__(self, device: str, lines: Any) -> None:
        self.device, self.lines = device, lines
        self.cases: dict[str, Case] = {}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        mine = [item for item in items if _device_of(item) == self.device]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(mine)])
        items[:] = mine
        for item in mine:
            test = f"{item.path.stem}::{item.originalname}"
            self.cases[item.nodeid] = {"id": item.nodeid, "test": test, "dtypes": sorted(dtypes_of(item))}
            self.write(item.nodeid, "failed", "")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self.write(report.nodeid, report.outcome, reason)

    def write(self, name: str, outcome: str, reason: str) -> None:
        self.lines.write(json.dumps(self.cases[name] | {"outcome": outcome, "reason": reason}) + "\n")
        self.lines.flush()


def _device_of(item: Any) -> str | None:
    parameters = getattr(item, "callspec", None)
    name = parameters.params.get("device") if parameters else None
    if not isinstance(name, str):
        return None
    from pykern.runtime import registry

    kind = registry.emulated_kind(name)
    if kind is not None:  # of one chip
        return kind if name in (kind, f"{kind}:{registry.EMULATED[kind]}") else None
    return name.partition(":")[0]


def dtypes_of(item: Any) -> set[str]:
    """The dtypes among a case's parameters, by pykern's names."""
    import numpy as np

    from pykern.types import DType, from_numpy

    found = set()
    for value in item.callspec.params.values():
        if isinstance(value, DType):
            found.add(value.name)
        elif isinstance(value, type) and issubclass(value, np.generic):
            kind = from_numpy(np.dtype(value))
            found |= {kind.name} if kind else set()
    return found


# -- the page --------------------------------------------------------------------------------------

LIMITS = """\
## NVIDIA's GPUs, emulated

`device="cuda:emulated"` runs the code that is made for NVIDIA's GPUs on the host, of sm_80; `"cuda:emulated:90"` is
an sm_90a (75, 80, 86, 89, 90, 100 and 120 are there). It needs `llvmlite` (the extra `emulator`), and it is used
where it is named: `pk.devices()` does not list it. A wrong kernel is an error at its line of Python, and the device
goes on afterwards:

- an access outside of every allocation, or at an address that its type must not have;
- two work-items that access the same shared memory with no barrier between them, and reads of shared memory that
  nobody wrote;
- work-items that wait at different barriers, or take values from work-items that bring none; an operation of a whole
  subgroup (`mma`, `ldmatrix`) that not all of its work-items reach;
- writes to memory that is only read, and an instruction that the emulator does not know.

Grids, groups, subgroups, shared and private memory, barriers, shuffles, votes, atomics, products of tensor cores
(`mma.sync`, dense, of f16, bf16, tf32, f64 and 8-bit integers; `ldmatrix`, `stmatrix`) and the rounding of every type
are emulated, by the PTX that a GPU would get and through the driver's functions that a GPU would be launched by. Not
emulated: time and caches, the order of memory between groups (they run one after the other), races in global memory,
`ptxas` and encodings, `wgmma`, `pk.cuda_func`, and memory that another library owns. Approximate instructions give
correctly rounded results; tensor cores add one product after the other in f32, where the order of a GPU is not
specified. Asynchronous copies (`cp.async`) are made at once, so that a wait that is missing is not found. An access
that is far enough outside to fall into another array is not found; `debug=True` finds it.

## AMD's GPUs, emulated

`device="rocm:emulated"` runs the code that is made for AMD's GPUs on the host, of gfx942 (waves of 64 lanes);
`"rocm:emulated:gfx1100"` is an RDNA 3 (waves of 32). gfx90a, gfx942, gfx950, gfx1100 and gfx1201 are there. All else is
as above: `llvmlite` (the extra `emulator`), used where it is named, and the same errors at lines of Python.

What runs is the assembly that LLVM prints of the module that the code object is made of, through the functions of HIP
that a GPU would be launched by. Emulated are scalar and vector registers, EXEC, branches of waves, barriers, shared,
private and flat memory, scalar loads, atomics, values that move between lanes (DPP, `ds_bpermute`, `ds_swizzle`,
`v_readlane`), parts of registers (SDWA, halves, pairs), dual instructions, the steps of quotients, and the rounding of
every type. Functions of the transcendental unit flush subnormals as the chips do and are otherwise rounded to the
nearest; those of f64 are cut to 24 digits, which code must not rely on. Not emulated: time, caches and counters (all
memory operations are done at once, so a missing `s_waitcnt` is not found), other rounding modes, products of matrices
(MFMA, WMMA), kernels that call functions, encodings, and memory that another library owns. Work-items of one wave run
in lockstep, as on the chips; accesses of theirs to shared memory race all the same where no barrier stands between.

## Limits that a driver does not tell

Mesa's Vulkan driver for processors (lavapipe, over llvmpipe) gives wrong results beyond three limits without saying
so. Code that is compiled for it (`spirv:vulkan1.3+lavapipe`, and WGSL of the device `webgpu`) says so instead, at the
line of the kernel:

- The loops of a work-item make 65,535 iterations in all. A launch that needs more is a `DeviceError` when its results
  are waited for. The check costs a store and a load for each loop, in kernels whose loops are not known to be short.
- Conditions are nested at most 80 deep, and loops as well. Deeper ones are a `TargetError`.
- Private memory of a work-item is at most 16 KiB, as the driver compiles for minutes where there is more. That is a
  `TargetError`, too.

It also takes products with a zero that it knows, and quotients by or of one, for 0, where the other number is infinite
or NaN. That code keeps such zeros from it, so results are those of other devices.

Intel's OpenCL for processors adds up the terms of a loop in another order where it runs a work-item alone: in groups
whose size is no multiple of its vectors. Sums then differ in their last bits, those of f16 in more.
"""


def page(columns: dict[str, list[Case]]) -> str:
    """The table, what ran it, and the reasons its cells point to."""
    reasons: list[str] = []
    rows = [[name, *(cell(name, cases, reasons) for cases in columns.values())] for name in FEATURES]
    total = ["**all cases**", *(_count(cases) for cases in columns.values())]
    lines = [
        "# What runs on which device",
        "",
        "Cases of the suites that run on every device (`tests/kernels`, `tests/parity`, array programs): passed / all,",
        "in brackets why some were skipped. Written by `python docs/device_table.py` on "
        f"{datetime.date.today().isoformat()};",
        "a case counts in each row it belongs to.",
        "",
        *(f"- `{device}`: {driver(device, cases)}" for device, cases in columns.items()),
        "",
        "| | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
        *("| " + " | ".join(row) + " |" for row in (*rows, total)),
    ]
    if reasons:
        lines += ["", *(f"{n}. {reason}" for n, reason in enumerate(reasons, 1))]
    return "\n".join([*lines, "", LIMITS])


def cell(feature: str, cases: list[Case], reasons: list[str]) -> str:
    """``12/12``, ``unsupported (1)`` with the number of the reason, or ``not run`` where the device was not."""
    if not cases:
        return "not run"
    mine = [case for case in cases if feature in features_of(case["test"], set(case["dtypes"]))]
    numbers = set()
    for case in mine:
        if case["outcome"] == "skipped":
            reason = case["reason"].removeprefix("Skipped: ").removeprefix("unsupported: ")
            if reason not in reasons:
                reasons.append(reason)
            numbers.add(reasons.index(reason) + 1)
    behind = f" ({', '.join(map(str, sorted(numbers)))})" if numbers else ""
    if mine and all(case["outcome"] == "skipped" for case in mine):
        return f"unsupported{behind}"
    return _count(mine) + behind


def _count(cases: list[Case]) -> str:
    if not cases:
        return "not run"
    outcomes = Counter(case["outcome"] for case in cases)
    counted = f"{outcomes['passed']}/{len(cases)}"
    return f"**{counted}**" if outcomes["failed"] else counted


def driver(device: str, cases: list[Case]) -> str:
    """What runs a column's cases."""
    import pykern as pk
    from pykern.runtime import registry

    if device == "C":
        return f"pykern {pk.__version__}, kernels printed in C and compiled by the system's C compiler, {_processor()}"
    there = registry.found(device)
    if device in EMULATED and cases:
        return f"{EMULATED[device]} code on the host; compiled for {registry.info(device).target}"
    if not isinstance(there, tuple) or not cases:
        hardware = "no GPU of its kind here; code for it is compiled and assembled in `tests/lowering`"
        return f"not run on hardware ({hardware})" if device in ("cuda", "rocm") else "not run here"
    if device in ("cpu", "python"):
        what = "compiled by LLVM" if device == "cpu" else "the reference, plain Python"
        return f"pykern {pk.__version__}, {what}, {_processor()}"
    here = registry.info(device)
    return f"{here.name}; {here.driver}; compiled for {here.target}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
