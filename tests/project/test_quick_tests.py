"""The rule of `tests.cases.quick`, by which tests are slow, and that continuous integration runs these too."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import defaultdict

import pytest

from tests.cases import quick
from tests.cases.quick import choose
from tests.project.programs import run
from tests.project.tree import ROOT


def product(**sizes: int) -> list[dict[str, int]]:
    return [
        dict(zip(sizes, values, strict=True)) for values in itertools.product(*map(range, sizes.values()))
    ]


@pytest.mark.parametrize("sizes", [(5, 7, 11), (4, 10, 4), (8, 1, 1), (3, 2, 1), (1, 6, 2)])
def test_each_case_and_each_device_once(sizes):
    rows = product(**dict(zip(("device", "op", "dtype"), sizes, strict=True)))
    devices, ops, dtypes = sizes
    chosen = [rows[n] for n in choose(rows, ["device"], [False] * len(rows))]
    assert {(row["op"], row["dtype"]) for row in chosen} == set(itertools.product(range(ops), range(dtypes)))
    assert {row["device"] for row in chosen} == set(range(devices))
    assert len(chosen) == max(devices, ops * dtypes)


def test_each_device_sees_every_value_where_there_is_room():
    """Also where dtypes are a multiple of devices, so that taking turns would give each device the same ones."""
    rows = product(device=4, op=8, dtype=8)
    seen = defaultdict(set)
    for n in choose(rows, ["device"], [False] * len(rows)):
        seen[rows[n]["device"]] |= {("op", rows[n]["op"]), ("dtype", rows[n]["dtype"])}
    assert {device: len(values) for device, values in seen.items()} == dict.fromkeys(range(4), 16)


def test_a_device_that_is_absent_has_no_case_of_another():
    rows = product(device=3, case=10)
    absent = [row["device"] == 1 for row in rows]
    chosen = [rows[n] for n in choose(rows, ["device"], absent)]
    assert {row["case"] for row in chosen if row["device"] != 1} == set(range(10))
    assert len([row for row in chosen if row["device"] == 1]) == 1
    assert len(choose(rows, ["device"], [True] * len(rows))) == 10  # what runs nowhere is still reported


def test_cases_that_not_every_device_has():
    rows = [{"device": 0, "case": 0}, {"device": 1, "case": 0}, {"device": 1, "case": 1}]
    assert choose(rows, ["device"], [False] * 3) == {0, 2}


def test_several_swept_parameters():
    rows = product(chip=3, width=4, case=5)
    chosen = [rows[n] for n in choose(rows, ["chip", "width"], [False] * len(rows))]
    assert len(chosen) == 5
    assert {row["chip"] for row in chosen} == set(range(3))
    assert {row["width"] for row in chosen} == set(range(4))


def test_quick_tests_of_a_file():
    """A selection by mark leaves some tests of every device, and leaves some out."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "not slow",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    listing = run(*command, "tests/parity/test_small_floats.py", cwd=ROOT)
    numbers = re.search(r"(\d+)/\d+ tests collected \((\d+) deselected\)", listing)
    assert numbers and int(numbers[1]) < int(numbers[2])
    devices = re.findall(
        r"^tests/.*\[(cpu|python|opencl|vulkan|webgpu|cuda|rocm|metal|(?:cuda|rocm|metal):emulated)-",
        listing,
        re.MULTILINE,
    )
    assert len(set(devices)) == 11


class Collected:
    """As much of a test as the rule asks for."""

    def __init__(self, nodeid: str, slow: bool = False) -> None:
        self.nodeid, self.slow = nodeid, slow

    def get_closest_marker(self, name: str) -> object:
        return self.slow or None

    def add_marker(self, marker: pytest.MarkDecorator) -> None:
        assert marker.name == "slow"
        self.slow = True


def test_what_takes_long_is_slow_but_for_one_of_each_file(monkeypatch, tmp_path):
    file = tmp_path / "times.txt"
    file.write_text(
        "0.9 tests/a.py::one[x y]\n0.8 tests/a.py::two\n0.2 tests/b.py::one\n7.0 tests/b.py::two\n"
    )
    monkeypatch.setattr(quick, "TIMES", file)
    names = (
        "tests/a.py::one[x y]",
        "tests/a.py::two",
        "tests/b.py::one",
        "tests/b.py::two",
        "tests/b.py::new",
    )
    items = [Collected(name) for name in names]
    quick.mark_long(items)
    assert [item.nodeid for item in items if item.slow] == ["tests/a.py::one[x y]", "tests/b.py::two"]


def test_times_are_of_files_that_are_there():
    assert all((ROOT / name.partition("::")[0]).is_file() for name in quick.times(quick.TIMES.read_text()))


@pytest.mark.slow
def test_times_are_measured(tmp_path):
    """What a test takes by itself, and in a process that it starts."""
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys, time\n"
        "WORK = 'import time\\nwhile time.process_time() < 0.6: pass'\n"
        "def test_short(): pass\n"
        "def test_by_itself():\n"
        "    begin = time.process_time()\n"
        "    while time.process_time() < begin + 0.5: pass\n"
        "def test_in_another_process(): subprocess.run([sys.executable, '-c', WORK], check=True)\n"
    )
    file, plugin = tmp_path / "times.txt", ("-p", "tests.cases.processor_time", "-p", "no:cacheprovider")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "--processor-times", file, "test_it.py"]
    run(*command, cwd=tmp_path, environment=environment)
    found = quick.times(file.read_text())
    assert set(found) == {"test_it.py::test_by_itself", "test_it.py::test_in_another_process"}
    assert all(0.4 < seconds < 3 for seconds in found.values())


def test_continuous_integration_runs_both():
    assert "for target in test test-slow" in (ROOT / ".ci" / "run").read_text()
    for target, selection in (
        ("check-pytest", '-m "not slow" '),
        ("test-slow", "-m slow "),
        ("test-all", ""),
    ):
        assert f"-m pytest {selection}" in run("make", "--dry-run", target, cwd=ROOT).replace(
            "pytest  ", "pytest "
        )


def test_marks_are_those_of_the_guide():
    declared = re.findall(r'^    "(\w+)(?:\(\w+\))?: ', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert {"slow", "sweep", "benchmark"} <= set(declared)
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    assert "pytest.mark.slow" in guide and "pytest.mark.sweep" in guide
