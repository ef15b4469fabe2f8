"""A user's own lit suite: a three-line lit.cfg.py in any folder, tests that use pykern-opt and FileCheck."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pykern.testing import missing_device
from tests.project.programs import attempt

CONFIG = """\
from pykern.testing import lit as pykern_lit

pykern_lit.configure(config, lit_config, __file__)
"""

OPT_TEST = """\
// RUN: %pykern-opt %s --canonicalize | FileCheck %s
// CHECK-LABEL: func.func @f
// CHECK: arith.constant 3
// CHECK-NOT: arith.addi
func.func @f() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 2 : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
"""


@pytest.fixture
def suite(tmp_path):
    """A function that writes tests (name to text) beside the config, runs lit, gives status and output."""

    def run(tests: dict[str, str], *arguments: str) -> tuple[int, str]:
        (tmp_path / "lit.cfg.py").write_text(CONFIG)
        for name, text in tests.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        lit = Path(sys.executable).with_name("lit")
        status, output, errors = attempt(lit, "-v", *arguments, tmp_path, cwd=Path("/"))
        return status, output + errors

    run.folder = tmp_path
    return run


def test_pykern_opt(suite):
    status, output = suite({"passes/fold.mlir": OPT_TEST})
    assert status == 0, output
    assert "Passed: 1" in output


def test_failing_check_fails(suite):
    status, output = suite({"fold.mlir": OPT_TEST.replace("constant 3", "constant 4")})
    assert status == 1
    assert "expected string not found" in output


def test_python_tests_and_tools(suite):
    text = """\
# RUN: %python %s %target > %t
# RUN: FileCheck %s < %t
# RUN: not FileCheck --check-prefix=OTHER %s < %t
# CHECK: pykern.types llvm
# OTHER: pykern.errors
import sys
import pykern.types
print(pykern.types.__name__, sys.argv[1])
"""
    status, output = suite({"names.py": text})
    assert status == 0, output
    status, output = suite({"names.py": text.replace("types llvm", "types spirv")}, "--param", "target=spirv")
    assert status == 0, output


def test_features(suite):
    tests = {
        "slow.mlir": "// REQUIRES: slow\n// RUN: echo\n",
        "never.mlir": "// REQUIRES: none\n// RUN: false\n",
    }
    assert "Unsupported: 2" in suite(tests)[1]
    output = suite(tests, "--param", "slow=1")[1]
    assert "Unsupported: 1" in output
    assert "Passed     : 1" in output


def test_features_of_devices(suite):
    """A device that some test requires is looked for; the test runs where `missing_device` finds it."""
    kinds = ("cuda", "rocm", "metal", "vulkan", "opencl", "webgpu")
    tests = {f"{kind}.mlir": f"// REQUIRES: {kind}\n// RUN: echo\n" for kind in kinds}
    status, output = suite(tests)
    assert status == 0, output
    there = {kind for kind in kinds if missing_device(kind) is None}
    assert {kind for kind in kinds if f"PASS: {Path(suite.folder).name} :: {kind}.mlir" in output} == there


def test_output_stays_out_of_the_way(suite, tmp_path):
    suite({"echo.mlir": "// RUN: echo x > %t\n"})
    assert {path.name for path in tmp_path.iterdir()} == {"lit.cfg.py", "echo.mlir", "Output"}
    status, output = suite({})  # what the first run wrote is no test
    assert status == 0, output
    assert "Total Discovered Tests: 1" in output
