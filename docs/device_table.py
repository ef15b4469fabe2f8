"""Write `devices.md`: what runs on which device, from a run of the suites that are tested on every device.

    python docs/device_table.py [opencl ...]
    python docs/device_table.py --keep metal:emulated "opencl (OpenCL C)"

Comes in: the tests of `device_features.SUITES`, run once a device in a process of its own. Where a driver dies, what
is left of its column has failed. Goes out: `devices.md` beside this file. A device that is not named keeps no column of
an earlier run: it is "not run"; with `--keep` it has the column that the file has.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device_features import FEATURES, SUITES, features_of

ROOT = Path(__file__).resolve().parents[1]
EMULATED = {
    "cuda:emulated": "NVIDIA's code",
    "rocm:emulated": "AMD's code",
    "metal:emulated": "Metal's language as C++",
}
"""Emulated GPUs, and what runs on the host in their place."""


@dataclass(frozen=True)
class Variant:
    """A device whose kernels are compiled in another way: what its process is told, and how the page says it.
    `suites` are the first of `SUITES`, `plugins` those of pytest."""

    device: str
    settings: dict[str, str]
    what: str
    suites: int = len(SUITES)
    plugins: tuple[str, ...] = ()


VARIANTS = {
    "C": Variant(
        "cpu", {"PYKERN_LOADER": "dlopen"}, "kernels printed in C and compiled by the system's C compiler",
        suites=2, plugins=("tests.lowering.c_as_cpu",),  # which have no array programs
    ),
    "opencl (OpenCL C)": Variant("opencl", {"PYKERN_OPENCL_C": "1"}, "given OpenCL C in place of SPIR-V"),
    "webgpu (standard)": Variant(
        "webgpu", {"PYKERN_WEBGPU_STANDARD": "1"}, "opened without any feature: WGSL has no `f16`, `f64`, `i64`"
    ),
}  # fmt: skip
DEVICES = (
    "cpu",
    "python",
    "C",
    "opencl",
    "opencl (OpenCL C)",
    "vulkan",
    "webgpu",
    "webgpu (standard)",
    "cuda",
    "cuda:emulated",
    "rocm",
    "rocm:emulated",
    "metal",
    "metal:emulated",
)
"""The columns of the page."""
AT_ONCE = 2
"""Devices that are tested at a time: each waits for its compiler most of the time."""
Case = dict[str, Any]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--record"]:
        sys.exit(record(arguments[1], Path(arguments[2])))
    keeps = arguments[:1] == ["--keep"]
    arguments = arguments[keeps:]
    chosen = [device for device in DEVICES if device in (arguments or DEVICES) and is_here(device)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        cases = dict(zip(chosen, pool.map(run, chosen), strict=True))
    columns = {device: cases.get(device, []) for device in DEVICES}
    file = ROOT / "docs" / "devices.md"
    file.write_text(page(columns, Kept(file.read_text(), chosen) if keeps else None))
    failed = [case for cases in columns.values() for case in cases if case["outcome"] == "failed"]
    sys.exit("\n".join(f"failed: {case['id']}" for case in failed) or 0)


# -- running ---------------------------------------------------------------------------------------


def is_here(device: str) -> bool:
    """Whether there is a device of this kind."""
    from pykern.runtime import registry

    if device == "C":
        return bool(shutil.which("cc"))
    return isinstance(registry.found(VARIANTS[device].device if device in VARIANTS else device), tuple)


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
    if device not in VARIANTS:
        return dict(os.environ)
    own = {"PYTHONPATH": str(ROOT), "PYKERN_CACHE_DIR": f"{folder}/cache"}
    return os.environ | own | VARIANTS[device].settings


def record(device: str, file: Path) -> int:
    """Run the suites on one device. Each case is a line of `file`: failed, until it has ended otherwise."""
    import pytest

    variant = VARIANTS.get(device, Variant(device, {}, ""))
    suites = [str(ROOT / suite) for suite in SUITES[: variant.suites]]
    plugins = [part for plugin in variant.plugins for part in ("-p", plugin)]
    with file.open("w") as lines:
        return pytest.main(
            ["-q", "-p", "no:cacheprovider", "--tb=short", *plugins, *suites],
            plugins=[Recorder(variant.device, lines)],
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
## What no GPU has shown

Code for NVIDIA's and AMD's GPUs was assembled, counted and emulated, and never ran on one. So we do not know:

- how fast it is: no time was measured, and clocks, caches, occupancy, bank conflicts and coalescing are not emulated;
- the order in which tensor cores add, and the errors of approximate instructions;
- the order of memory accesses between groups, and whether a wait is missing after an asynchronous copy;
- what drivers refuse, or do otherwise than their stand-ins here.

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

## Apple's GPUs, and Metal emulated

The device `metal` was written against the documentation of Metal and of PyObjC. We have not run it on a Mac. If you
do, `python -m pytest -k "metal and not emulated" tests/parity tests/kernels` runs the cases of this table on it; report
what fails with the output of `pykern devices`. Apple's GPUs have no `f64` (arrays of it are refused by name, and so are
`pk.cbrt`, `pk.erfc`, `pk.gamma`, `pk.hypot`, `pk.isqrt` and `pk.lgamma`, which are computed in it) and no atomics on
integers of 64 bits. A Python float is rounded to what a kernel computes in, as on other devices. Floats of 32 and 16
bits are added atomically by way of their bits.

`device="metal:emulated"` runs the same text, the same driver and the same streams on the host, where there is no Mac:
classes stand for the framework's, and the text is compiled as C++ over a header that stands for Metal's standard
library. It needs `g++`, `clang++` or the package `ziglang`, on Linux, and it is used where it is named: `pk.devices()`
does not list it. Emulated are grids, groups, subgroups of 32, memory of a group, barriers (also in loops), values of
other lanes, atomics, f16, exact rounding, and command queues that run beside the host and wait for each other's events.
Work-items of a group that wait at different places are an error that names the kernel. Not emulated: time, the order of
memory between groups, Apple's compiler and what it refuses, and the error of its functions (they are the C library's).
An access outside of an array is not found; `debug=True` finds it.

Vulkan finds Apple's GPUs as well, by MoltenVK or KosmicKrisp, which translate it to Metal, and so does WebGPU, by
`wgpu`. Both have no `f64` there either. We have run neither on a Mac.

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


class Kept:
    """Columns of the page as it is, but for those of devices that run anew."""

    def __init__(self, text: str, anew: list[str]) -> None:
        table = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines()
            if re.match(r"\|(?!---)", line)
        ]
        devices, *rows = table
        self._cells = {
            (row[0], device): cell
            for row in rows
            for device, cell in zip(devices[1:], row[1:], strict=True)
            if device not in anew
        }
        self._drivers = {
            device: line
            for device, line in re.findall(r"^- `([^`]+)`: (.*)$", text, re.MULTILINE)
            if device not in anew
        }
        self._reasons = dict(re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE))

    def cell(self, feature: str, device: str, reasons: list[str]) -> str | None:
        """What stands in a cell, with the numbers that its reasons have now; None where it is no kept one."""
        found = self._cells.get((feature, device))
        if found is None:
            return None
        body, bracket, numbers = found.partition(" (")
        if not bracket:
            return found
        told = [self._reasons[number] for number in numbers.rstrip(")").split(", ")]
        return body + _numbered(told, reasons)

    def driver(self, device: str) -> str | None:
        """What is said of a column's device."""
        return self._drivers.get(device)


def page(columns: dict[str, list[Case]], kept: Kept | None = None) -> str:
    """The table, what ran it, and the reasons its cells point to."""
    reasons: list[str] = []

    def shown(feature: str, device: str, cases: list[Case]) -> str:
        found = kept.cell(feature, device, reasons) if kept else None
        if found is not None:
            return found
        return cell(feature, cases, reasons) if feature in FEATURES else _count(cases)

    rows = [[name, *(shown(name, *column) for column in columns.items())] for name in FEATURES]
    every = "**all cases**"
    total = [every, *(shown(every, *column) for column in columns.items())]
    told = {
        device: (kept and kept.driver(device)) or driver(device, cases) for device, cases in columns.items()
    }
    lines = [
        "# What runs on which device",
        "",
        "Cases of the suites that run on every device (`tests/kernels`, `tests/parity`, array programs): passed / all,",
        "in brackets why some were skipped. Written by `python docs/device_table.py`; a case counts in each row it",
        "belongs to.",
        "",
        *(f"- `{device}`: {line}" for device, line in told.items()),
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
    skipped = [case["reason"] for case in mine if case["outcome"] == "skipped"]
    behind = _numbered(
        [each.removeprefix("Skipped: ").removeprefix("unsupported: ") for each in skipped], reasons
    )
    if mine and all(case["outcome"] == "skipped" for case in mine):
        return f"unsupported{behind}"
    return _count(mine) + behind


def _numbered(told: list[str], reasons: list[str]) -> str:
    """The numbers of reasons in brackets; those that are new go behind the others."""
    reasons += [reason for reason in dict.fromkeys(told) if reason not in reasons]
    numbers = sorted({reasons.index(reason) + 1 for reason in told})
    return f" ({', '.join(map(str, numbers))})" if numbers else ""


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

    today = datetime.date.today().isoformat()
    if device in VARIANTS:
        variant = VARIANTS[device]
        by = f"`{variant.device}`" if variant.device != "cpu" else f"pykern {pk.__version__}"
        return f"{by}, {variant.what}, {_processor()}; {today}" if cases else "not run here"
    there = registry.found(device)
    if device in EMULATED and cases:
        return f"{EMULATED[device]} on the host; compiled for {registry.info(device).target}; {today}"
    if not isinstance(there, tuple) or not cases:
        hardware = "no GPU of its kind here; code for it is compiled and assembled in `tests/lowering`"
        if device == "metal":
            return "not run on hardware (no Mac here; the driver and its code run as `metal:emulated`)"
        return f"not run on hardware ({hardware})" if device in ("cuda", "rocm") else "not run here"
    if device in ("cpu", "python"):
        what = "compiled by LLVM" if device == "cpu" else "the reference, plain Python"
        return f"pykern {pk.__version__}, {what}, {_processor()}; {today}"
    here = registry.info(device)
    return f"{here.name}; {here.driver}; compiled for {here.target}; {today}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
