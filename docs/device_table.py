"""Write `devices.md`: what runs on which device, from a run of the suites that are tested on every device.

    python docs/device_table.py [opencl ...]
    python docs/device_table.py --keep metal:emulated "opencl (OpenCL C)" "sm_75 (emulated)"
    python docs/device_table.py --record webgpu cases.jsonl
    python docs/device_table.py --recorded webgpu=cases.jsonl

Comes in: the tests of `device_features.SUITES`, run once a device in a process of its own. Where a driver dies, what
is left of its column has failed. Goes out: `devices.md` beside this file. A device that is not named keeps no column of
an earlier run: it is "not run"; with `--keep` it has the column that the file has. `--record` runs one column and only
writes what became of its cases; `--recorded` runs nothing, and replaces the columns of which it is given such a file.
So columns can run one by one, beside other work. Chips of emulated GPUs have a table of their own, with the same rows:
each runs the cases of its device.
"""

from __future__ import annotations

import datetime
import functools
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
    chip: str = ""
    """An emulated GPU that runs the cases of `device` in the place of the usual chip."""


CHIPS = {
    f"{name} (emulated)": Variant(kind, {}, "", chip=f"{kind}:{number}")
    for kind, chips in (
        ("cuda:emulated", {"sm_75": "75", "sm_90a": "90"}),
        ("rocm:emulated", {name: name for name in ("gfx942", "gfx1100")}),
    )
    for name, number in chips.items()
}
"""The columns of the second table."""
VARIANTS = {
    **CHIPS,
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
    every = (*DEVICES, *CHIPS)
    file = ROOT / "docs" / "devices.md"
    text = file.read_text()
    behind = text[text.index(OWN_TEXT) :]  # before the tests, which take an hour
    keeps = arguments[:1] in (["--keep"], ["--recorded"])
    if arguments[:1] == ["--recorded"]:
        files = dict(argument.rsplit("=", 1) for argument in arguments[1:])
        cases = {device: recorded(Path(name)) for device, name in files.items()}
    else:
        arguments = arguments[keeps:]
        chosen = [device for device in every if device in (arguments or every) and is_here(device)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            cases = dict(zip(chosen, pool.map(run, chosen), strict=True))
    unknown = [device for device in cases if device not in every]
    if unknown:
        sys.exit(f"no columns: {', '.join(unknown)}; there are {', '.join(every)}")
    columns = {device: cases.get(device, []) for device in every}
    file.write_text(page(columns, behind, Kept(text, list(cases)) if keeps else None))
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
        return recorded(file)


def recorded(file: Path) -> list[Case]:
    """The cases of a file that `record` wrote, each as it ended."""
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
            plugins=[Recorder(variant.device, lines, variant.chip)],
        )


class Recorder:
    """A plugin of pytest that keeps the cases of one device and writes down what becomes of them."""

    def __init__(self, device: str, lines: Any, chip: str = "") -> None:
        self.device, self.lines, self.chip = device, lines, chip
        self.cases: dict[str, Case] = {}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        mine = [item for item in items if _device_of(item) == self.device]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(mine)])
        items[:] = mine
        for item in mine:
            if self.chip:
                item.callspec.params["device"] = self.chip
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

OWN_TEXT = "## What a GPU has shown, and what none has"
"""From this heading on the page is written by hand, and stays."""


class Kept:
    """Columns of the page as it is, but for those of devices that run anew."""

    def __init__(self, text: str, anew: list[str]) -> None:
        self._cells: dict[tuple[str, str], str] = {}
        devices: list[str] = []
        for line in text.splitlines():
            if not re.match(r"\|(?!---)", line):
                continue
            first, *row = [cell.strip() for cell in line.strip("|").split("|")]
            if not first:  # the head of a table
                devices = row
                continue
            named = zip(devices, row, strict=True)
            self._cells |= {(first, device): cell for device, cell in named if device not in anew}
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


def page(columns: dict[str, list[Case]], behind: str, kept: Kept | None = None) -> str:
    """The tables, what ran them, the reasons that their cells point to, and what stands behind."""
    reasons: list[str] = []
    chips = {name: columns[name] for name in CHIPS}
    first = {name: columns[name] for name in DEVICES}
    lines = [
        "# What runs on which device",
        "",
        "Each cell has the cases that passed / all cases, of the suites that run on every device (`tests/kernels`,",
        "`tests/parity`, array programs). A number in brackets is the reason, listed below, why cases were skipped. A",
        "case counts in each row that it belongs to. `python docs/device_table.py` writes the tables.",
        "",
        *_table(first, reasons, kept),
        "",
        "## Chips of the emulated GPUs",
        "",
        "All cases of `cuda:emulated` and `rocm:emulated`, run with the code of each chip. Rows that are not run have",
        "no cases for these devices.",
        "",
        *_table(chips, reasons, kept),
    ]
    if reasons:
        lines += ["", "Reasons:", "", *(f"{n}. {reason}" for n, reason in enumerate(reasons, 1))]
    return "\n".join([*lines, "", behind])


def _table(columns: dict[str, list[Case]], reasons: list[str], kept: Kept | None) -> list[str]:
    """A line of each device, and a row of each feature."""

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
    return [
        *(f"- `{device}`: {line}" for device, line in told.items()),
        "",
        "| | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
        *("| " + " | ".join(row) + " |" for row in (*rows, total)),
    ]


def cell(feature: str, cases: list[Case], reasons: list[str]) -> str:
    """``12/12``, ``unsupported (1)`` with the number of the reason, or ``not run`` where the device was not."""
    if not cases:
        return "not run"
    mine = [case for case in cases if feature in rows_of(case["test"], tuple(case["dtypes"]))]
    skipped = [case["reason"] for case in mine if case["outcome"] == "skipped"]
    behind = _numbered(
        [each.removeprefix("Skipped: ").removeprefix("unsupported: ") for each in skipped], reasons
    )
    if mine and all(case["outcome"] == "skipped" for case in mine):
        return f"unsupported{behind}"
    return _count(mine) + behind


@functools.cache
def rows_of(test: str, dtypes: tuple[str, ...]) -> frozenset[str]:
    """The rows that a case counts in; found once, as there are more patterns than `fnmatch` keeps compiled."""
    return frozenset(features_of(test, set(dtypes)))


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
    if device in CHIPS:
        target = registry.info(CHIPS[device].chip).target if cases else ""
        return f"`{CHIPS[device].chip}`, compiled for {target}; {today}" if cases else "not run here"
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
