"""Every example runs, from any folder; each checks its own numbers."""

from __future__ import annotations

import re
import sys

import pytest

from pykern.pytest_plugin import need_package
from tests.project.programs import run
from tests.project.tree import ROOT

SMALL = ["--coarser", "8", "--steps", "60", "--iterations", "40"]
ARGUMENTS = {
    "multi_device": ["--steps", "5", "--enlarge", "1"],
    "shallow_water": ["--steps", "20"],
    "torch_conductivity": ["--rods", "3", "--cells", "24", "--epochs", "25", "--picture", "picture.png"],
    "torch_transformer": ["--steps", "12", "--width", "32", "--layers", "1", "--picture", "picture.png"],
}
SAYS = {
    "histogram": "same as numpy.bincount",
    "tiled_matmul": "same as NumPy",
    "attention": "same as NumPy",
    "multi_device": "every device agrees with NumPy",
    "shallow_water": "1 ranks of (200, 160): 1005.30059 cells of water",
    "jax_shard_map": "bit-equal to those on one: True",
    "torch_conductivity": "through 30 steps: as without the kernel",
    "torch_transformer": "compiled: every loss as PyTorch's",
}


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ELSEWHERE = ("inverse_landscape", "landscape")
"""Run below, with their pictures."""


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.stem not in ELSEWHERE], ids=lambda path: path.stem)
def test_example(path, tmp_path):
    library = path.stem.partition("_")[0]
    if library in ("jax", "torch"):
        need_package(library)
    output = run(sys.executable, path, *ARGUMENTS.get(path.stem, []), cwd=tmp_path)
    assert SAYS.get(path.stem, "") in output


@pytest.mark.slow
def test_landscape_draws_a_picture(tmp_path):
    program = ROOT / "examples" / "landscape.py"
    output = run(sys.executable, program, "--steps", "40", "--picture", "picture.png", cwd=tmp_path)
    assert "volume conserved to" in output
    parts = re.findall(r"^ +[0-9.]+ ms  (\w+).*\(\d+\)$", output, re.MULTILINE)
    assert parts == ["frontend", "passes", "lowering", "code", "linking"]
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_inverse_landscape_recovers_the_diffusivity(tmp_path):
    """From 37 % off to under 6 %, by a misfit that falls at least 100 times."""
    program = ROOT / "examples" / "inverse_landscape.py"
    output = run(sys.executable, program, *SMALL, "--picture", "picture.png", cwd=tmp_path)
    fell = re.search(r"misfit fell (\d+) times", output)
    errors = re.findall(r"mean error of D +([\d.]+) %", output)
    assert "finite differences agree" in output
    assert fell is not None
    assert int(fell[1]) >= 100
    assert float(errors[0]) > 30
    assert float(errors[-1]) < 6
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
