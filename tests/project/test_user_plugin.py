"""The pytest plugin in a user's own test run: marks, devices, lit items, golden files, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from tests.project.programs import attempt, run
from tests.project.test_import_weight import HEAVY, loaded_by
from tests.project.tree import ROOT

PLUGIN = ("-p", "pykern.pytest_plugin", "-p", "no:cacheprovider", "-rs")

# No device of any kind, said at once and without a driver: what a machine without GPUs sees.
NO_DEVICES = """\
from pykern.runtime import registry
from pykern.runtime.driver import Missing

registry.found = lambda kind: Missing(kind, f"{kind} is nowhere", f"pip install {kind}")
"""


@pytest.fixture
def suite(tmp_path):
    """``suite({name: text}, *arguments, **environment)``: pytest's exit status and output for these tests."""

    def run_suite(files: dict[str, str], *arguments: str, **environment: str) -> tuple[int, str]:
        for name, text in {"pytest.ini": "[pytest]\naddopts = --strict-markers\n", **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        kept = {name: text for name, text in os.environ.items() if name != "PYKERN_TEST_REQUIRE"}
        command = (sys.executable, "-m", "pytest", "-W", "error", *PLUGIN, *arguments)
        status, output, errors = attempt(*command, cwd=tmp_path, environment={**kept, **environment})
        return status, output + errors

    return run_suite


MARKS = """\
import pytest
import pykern as pk

@pk.kernel
def k(x):
    x[pk.index()] = 1

@pytest.mark.pykern_device("cuda")
def test_long():
    raise SystemError

@pytest.mark.device("rocm:1")
def test_short():
    raise SystemError

@pytest.mark.pykern_device("cpu")
@pytest.mark.pykern_device("python")
def test_here():
    pass

@pytest.mark.device("my laser")
def test_of_others():
    pass
"""


def test_marks_skip_with_the_reason(suite):
    status, output = suite({"conftest.py": NO_DEVICES, "test_marks.py": MARKS})
    assert status == 0, output
    assert "no cuda device: cuda is nowhere (pip install cuda)" in output
    assert "no rocm device: rocm is nowhere" in output
    assert "2 passed, 2 skipped" in output


def test_required_devices_fail(suite):
    files = {"conftest.py": NO_DEVICES, "test_marks.py": MARKS}
    status, output = suite(files, PYKERN_TEST_REQUIRE="cuda,vulkan")
    assert status == 1
    assert "PYKERN_TEST_REQUIRE asks for it: no cuda device: cuda is nowhere" in output
    assert "2 passed, 1 skipped, 1 error" in output


WRONG_MARKS = {
    'pykern_device("cdua")': "no device 'cdua'",
    'pykern_device("cuda:x")': "no device 'cuda:x'",
    "pykern_device()": "with one device",
    'pykern_device("cpu", "cuda")': "with one device",
}


def test_marks_that_mean_nothing_fail(suite):
    tests = [f"@pytest.mark.{mark}\ndef test_{n}(): pass\n" for n, mark in enumerate(WRONG_MARKS)]
    status, output = suite({"conftest.py": NO_DEVICES, "test_it.py": "import pytest\n" + "\n".join(tests)})
    assert status == 1
    assert f"{len(WRONG_MARKS)} error" in output
    parts = re.split(r"_ ERROR at setup of test_\d+ _", output)[1:]
    for (mark, said), part in zip(WRONG_MARKS.items(), parts, strict=True):
        assert said in part, mark


DEVICES = """\
import numpy as np
import pytest
import pykern as pk
from pykern.testing import assert_matches_python

@pk.kernel
def double(x):
    i = pk.index()
    x[i] = 2 * x[i]

def test_everywhere(pk_device):
    x = np.arange(7, dtype=np.float32)
    double(x, ndrange=7, device=pk_device)
    assert (x == 2 * np.arange(7)).all()

@pytest.mark.parametrize("pk_device", ["python", "vulkan"], indirect=True)
def test_chosen(pk_device):
    assert pk_device == "python"
"""


def test_the_fixture_runs_over_devices(suite):
    files = {"conftest.py": NO_DEVICES, "test_devices.py": DEVICES}
    status, output = suite(files, "-v")
    assert status == 0, output
    assert "test_everywhere[cpu] PASSED" in output
    assert "test_chosen[python] PASSED" in output
    assert "no vulkan device: vulkan is nowhere" in output
    status, output = suite(files, PYKERN_TEST_REQUIRE="opencl")
    assert status == 1
    assert "2 passed, 1 skipped, 1 error" in output


GOOD = """\
// RUN: %pykern-opt %s --canonicalize | FileCheck %s
// CHECK: arith.constant 3
func.func @f() -> i32 {
  %0 = arith.constant 3 : i32
  return %0 : i32
}
"""
LIT = {
    "good.mlir": GOOD,
    "bad.mlir": GOOD.replace("CHECK: arith.constant 3", "CHECK: arith.constant 4"),
    "elsewhere.mlir": "// REQUIRES: magic\n" + GOOD,
    "input.mlir": "module {}\n",
}


def test_lit_tests_are_items_where_asked_for(suite):
    status, output = suite(LIT)
    assert status == 5, output  # nothing was collected
    status, output = suite({**LIT, "pytest.ini": "[pytest]\npykern_lit = true\n"})
    assert status == 1
    assert "bad.mlir:2:11: error: CHECK: expected string not found in input" in output
    assert "Test requires the following unavailable features: magic" in output
    assert "1 failed, 1 passed, 1 skipped" in output
    assert "Traceback" not in output


GOLDEN = """\
import pytest
from pykern.testing import golden

def test_text():
    golden("one\\ntwo\\n", "deep/numbers.txt")

def test_outside():
    with pytest.raises(ValueError, match="is no name of a file"):
        golden("", "../test_golden.py")
"""


def test_golden_files(suite, tmp_path):
    files = {"tests/test_golden.py": GOLDEN}
    golden = tmp_path / "tests" / "golden" / "deep" / "numbers.txt"
    status, output = suite(files)
    assert status == 1
    assert f"there is no golden file {golden}" in output
    assert not golden.exists()
    assert suite(files, "--pykern-update")[0] == 0
    assert golden.read_text() == "one\ntwo\n"
    assert suite(files)[0] == 0
    golden.write_text("one\nthree\n")
    status, output = suite(files)
    assert status == 1
    assert "-three" in output
    assert "+two" in output
    assert golden.read_text() == "one\nthree\n"


def test_other_runs_are_left_alone(suite):
    """A user who has pykern for something else: own marks and fixtures; only tables of names are imported."""
    test = """\
import json, sys
import pytest

@pytest.mark.device("cuda")
def test_own_mark():
    pass

@pytest.fixture
def device():
    return "mine"

def test_own_fixture(device):
    assert device == "mine"
    print("loaded", json.dumps(sorted(sys.modules)))
"""
    status, output = suite({"test_own.py": test}, "-s")
    assert status == 0, output
    assert "2 passed" in output
    line = next(line for line in output.splitlines() if "loaded [" in line)
    loaded = json.loads(line[line.index("[") :])
    assert "pykern.pytest_plugin" in loaded
    ours = {name for name in loaded if name.startswith("pykern")}
    assert ours == {"pykern", "pykern.data", "pykern.data.provided", "pykern.pytest_plugin"}


def test_the_plugin_is_light():
    assert not loaded_by("import pykern.pytest_plugin") & HEAVY
    assert not loaded_by("import pykern.testing") & HEAVY


def test_the_entry_point_is_the_plugin():
    """Installed, it is active without ``-p``; the name is the module's, so that ``-p`` as well does no harm."""
    from tests.project.test_packaging import PROJECT

    assert PROJECT["entry-points"]["pytest11"] == {"pykern.pytest_plugin": "pykern.pytest_plugin"}


@pytest.mark.slow
def test_installed_with_and_without_asking_for_it(tmp_path):
    """An installed pykern, as its metadata makes pytest see it; warnings are errors."""
    metadata = tmp_path / "site" / "pykern-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pykern\nVersion: 0.1.0\n")
    (metadata / "RECORD").write_text("pykern/__init__.py,,\npykern/pytest_plugin.py,,\n")
    (metadata / "entry_points.txt").write_text("[pytest11]\npykern.pytest_plugin = pykern.pytest_plugin\n")
    (tmp_path / "test_it.py").write_text(
        "def test(request): assert request.config.getoption('pykern_update') is False\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)])}
    command = (sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "-q")
    for more in ((), ("-p", "pykern.pytest_plugin")):
        output = run(*command, *more, cwd=tmp_path, environment=environment)
        assert "1 passed" in output
    status, output, _ = attempt(
        *command, "-p", "no:pykern.pytest_plugin", cwd=tmp_path, environment=environment
    )
    assert status == 1
    assert "no option named 'pykern_update'" in output
