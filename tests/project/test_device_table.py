"""The table of devices leaves nothing out: each test that runs on devices has a row, each row is in the file."""

from __future__ import annotations

import ast
import re

from tests.cases.texts import imported
from tests.project.tree import ROOT

features = imported(ROOT / "docs" / "device_features.py")

TABLE = (ROOT / "docs" / "devices.md").read_text()
EVERY = {"bool", *(f"{kind}{size}" for kind in "iu" for size in (8, 16, 32, 64)), "f16", "bf16", "f32", "f64"}


def on_devices() -> set[str]:
    """``file::function`` of the tests that take `device`."""
    found = set()
    for suite in features.SUITES:
        place = ROOT / suite
        for path in [place] if place.is_file() else place.glob("test_*.py"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.FunctionDef) and any(a.arg == "device" for a in node.args.args):
                    found.add(f"{path.stem}::{node.name}")
    return {name for name in found if "::test_" in name}


def test_every_test_has_a_row():
    lost = {test for test in on_devices() if not features.features_of(test, EVERY)}
    assert not lost, f"name them in docs/device_features.py: {sorted(lost)}"


def test_every_dtype_of_the_suites_has_a_row():
    for dtype in EVERY:
        assert features.features_of("test_casts::test_every_pair", {dtype}), dtype


def test_every_pattern_means_a_test():
    tests = on_devices()
    for row, patterns in features.FEATURES.items():
        for pattern in patterns:
            assert any(features._meant(pattern, test, EVERY) for test in tests), f"{row}: {pattern}"


def test_the_file_has_the_rows_of_the_suites():
    """Run `python docs/device_table.py` where this fails."""
    rows = [row for row in re.findall(r"^\| ([^|]+) \|", TABLE, re.MULTILINE) if row.strip()]
    assert rows == 2 * [*features.FEATURES, "**all cases**"]  # of devices, and of chips
    devices, chips = (head.split(" | ") for head in re.findall(r"^\| +\| (.*) \|$", TABLE, re.MULTILINE))
    assert devices == [
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
    ]
    assert chips == [f"{chip} (emulated)" for chip in ("sm_75", "sm_90a", "gfx942", "gfx1100")]


def test_no_chip_skips_silently():
    """The chips of a vendor have run the same cases; what is skipped has a reason in brackets."""
    totals = re.findall(r"^\| \*\*all cases\*\* \| (.*) \|$", TABLE, re.MULTILINE)
    cases = [int(cell.strip("*").split("/")[1]) for cell in totals[1].split(" | ")]
    assert cases[0] == cases[1] and cases[2] == cases[3], cases  # each vendor has a few cases of its own


def test_nothing_in_the_file_failed():
    cells = re.findall(r"(\d+)/(\d+)", TABLE)
    assert len(cells) > 2 * len(features.FEATURES)
    assert "**" not in TABLE.replace("**all cases**", "")  # failed cases are bold


def test_the_text_by_hand_is_found():
    """A run of the suites ends with it."""
    assert re.findall(r'^OWN_TEXT = "(.*)"$', (ROOT / "docs" / "device_table.py").read_text(), re.MULTILINE)[
        0
    ] in (TABLE.splitlines())
