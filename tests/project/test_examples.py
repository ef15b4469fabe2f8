"""Every example runs, from any folder; each checks its own numbers."""

from __future__ import annotations

import sys

import pytest

from tests.project.programs import run
from tests.project.tree import ROOT

ARGUMENTS = {"landscape": ["--steps", "40"]}
SAYS = {
    "landscape": "volume conserved to",
    "histogram": "same as numpy.bincount",
    "tiled_matmul": "same as NumPy",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example(path, tmp_path):
    output = run(sys.executable, path, *ARGUMENTS.get(path.stem, []), cwd=tmp_path)
    assert SAYS.get(path.stem, "") in output


@pytest.mark.slow
def test_landscape_draws_a_picture(tmp_path):
    program = ROOT / "examples" / "landscape.py"
    run(sys.executable, program, "--steps", "1", "--picture", "picture.png", cwd=tmp_path)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
