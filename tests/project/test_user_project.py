"""The example project of examples/user_project: a user's package and tests, run as its user runs them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.project.programs import attempt
from tests.project.tree import ROOT

PYTEST = ("-m", "pytest", "-q", "-rs", "-p", "pykern.pytest_plugin", "-p", "no:cacheprovider")


@pytest.fixture
def project(tmp_path):
    """A copy of the project."""
    skipped = shutil.ignore_patterns("__pycache__", ".pytest_cache", "Output")
    return Path(
        shutil.copytree(ROOT / "examples" / "user_project", tmp_path / "user_project", ignore=skipped)
    )


def run_tests(project: Path, *arguments: str) -> tuple[int, str]:
    """Exit status and output of the project's tests; what they need of devices is not required of this machine."""
    environment = {name: text for name, text in os.environ.items() if name != "PYKERN_TEST_REQUIRE"}
    status, output, errors = attempt(
        sys.executable, *PYTEST, *arguments, cwd=project, environment=environment
    )
    return status, output + errors


@pytest.mark.slow
def test_its_tests_pass(project):
    status, output = run_tests(project)
    assert status == 0, output
    assert " failed" not in output


def test_its_lit_tests_pass_alone(project):
    status, output, errors = attempt(
        sys.executable, "-m", "pykern.tools.cli", "test", "-v", "tests/lit", cwd=project
    )
    assert status == 0, output + errors
    assert "laplacian.mlir" in output
    assert "2 passed" in output


def test_a_mistake_in_a_kernel_fails_what_looks_at_it(project):
    """Another number in the kernel: the comparison with NumPy fails, that with the function itself does not."""
    kernels = project / "pluck" / "kernels.py"
    kernels.write_text(kernels.read_text().replace("u[i] > u[i + 1]", "u[i] >= u[i + 1]"))
    status, output = run_tests(project, "-k", "golden or strided")
    assert status == 1
    assert "-      %10 = arith.cmpf ogt" in output
    assert "+      %10 = arith.cmpf oge" in output
    assert "1 failed, 1 passed" in output


def test_update_writes_what_is_checked(project):
    golden = project / "tests" / "golden" / "count_crests.mlir"
    generated = project / "tests" / "lit" / "laplacian.mlir"
    by_hand = project / "tests" / "lit" / "ends.mlir"
    texts = [path.read_text() for path in (golden, generated, by_hand)]
    golden.unlink()
    generated.write_text(texts[1].replace("arith.subf %[[V6]]", "arith.addf %[[V6]]"))
    only = ("-k", "golden or lit")

    status, output = run_tests(project, *only)
    assert status == 1
    assert "there is no golden file" in output
    assert "expected string not found" in output or "is not on the line after" in output
    assert "2 failed" in output

    status, output = run_tests(project, *only, "--pykern-update")
    assert status == 0, output
    assert [path.read_text() for path in (golden, generated, by_hand)] == texts
