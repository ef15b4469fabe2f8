"""Scripts of `repro` run in an empty folder: helpers, captured values, types, other modules, on every device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern.testing import repro
from pykern.tools.cli import main

RUNS = ["cpu", "opencl:0", "vulkan:0"]
SETTINGS = "WEIGHT = 0.25\nimport pykern as pk\n\n@pk.func\ndef limit(a):\n    return min(a, 10.0)\n"
KERNELS = """
import math
from typing import NamedTuple

import numpy as np
import pykern as pk
from pykern import sqrt as root

import settings_here

SCALE = np.float32(1.5)
SHIFTS = (1, 2)
LOW = -math.inf
matrix = pk.f32[:, :]


class Pair(NamedTuple):
    a: float
    b: float


@pk.func
def inner(a):
    return a * SCALE


@pk.func
def outer(a):
    both = Pair(a, LOW)
    return inner(both.a) + max(both.b, 0.0)


def make(k):
    @pk.kernel(workgroup=4)
    def blend(out: pk.InOut[matrix], x: pk.In[pk.f32[:, :]], n: pk.static, gain: float = 2.0):
        i, j = pk.index()
        out[i, j] = settings_here.limit(outer(x[i, j]) * settings_here.WEIGHT + k) * gain
        for step in range(n):
            out[i, j] += root(x[i, j]) * SHIFTS[1] / (step + 1) + np.sin(x[i, j])

    return blend


blend = pk.kernel(make(7).__wrapped__, workgroup=(4, 8))


def plain_helper(a):
    return a * 2


@pk.kernel
def double(y, x):
    i = pk.index()
    y[i] = x[i] * SCALE


@pk.jit
def program(x):
    y = pk.empty_like(x)
    double(y, x, ndrange=x.shape)
    return plain_helper(y).sum()
"""


@pytest.fixture
def kernels_here(tmp_path, monkeypatch):
    """A folder with kernels; scripts run in another one."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "settings_here.py").write_text(SETTINGS)
    (folder / "kernels_here.py").write_text(KERNELS)
    monkeypatch.chdir(folder)
    return folder


def run_elsewhere(script: str | Path, tmp_path: Path) -> subprocess.CompletedProcess:
    folder = tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    text = script.read_text() if isinstance(script, Path) else script
    (folder / "repro.py").write_text(text)
    return subprocess.run([sys.executable, "repro.py"], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("device", RUNS, indirect=True)
def test_a_kernel(device, kernels_here, tmp_path):
    call = ["--args", "f32[9,13] f32[9,13] int f64", "--value", "2=3", "--ndrange", "9,13"]
    assert main(["repro", "kernels_here.py::blend", *call, "--device", device, "-o", "out.py"]) == 0
    ran = run_elsewhere(kernels_here / "out.py", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout == f"blend on {device}: as plain Python\n"


def test_a_script_tells_what_is_wrong(kernels_here, tmp_path):
    call = ["--args", "f32[4] f32[4]", "--ndrange", "4"]
    assert main(["repro", "kernels_here.py::double", *call, "-o", "out.py"]) == 0
    wrong = Path("out.py").read_text().replace("x[i] * SCALE", "x[i] * MISSING")
    ran = run_elsewhere(wrong, tmp_path)
    assert ran.returncode == 1
    assert "name 'MISSING' is not defined" in ran.stderr  # plain Python, which runs first, says so


def test_a_program(kernels_here, tmp_path):
    assert (
        main(["repro", "kernels_here.py::program", "--args", "f64[17]", "--seed", "5", "-o", "out.py"]) == 0
    )
    ran = run_elsewhere(kernels_here / "out.py", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pk.kernel
def turned(out, x, pair):
    i, j = pk.index()
    out[i, j] = x[j, i] * pair[0] + pair[1]


def test_of_values(tmp_path, rng):
    x = np.asfortranarray(rng.random((3, 4)))
    text = repro(turned, np.zeros((4, 3)), x, (2.0, np.float32(0.5)), ndrange=(4, 3))
    ran = run_elsewhere(text, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    half = repro(
        turned, np.zeros((4, 3), np.float16), x.astype(np.float16), (2.0, 1.0), ndrange=(4, 3), device="cpu"
    )
    assert run_elsewhere(half, tmp_path).returncode == 0


def test_what_has_no_source(rng):
    with pytest.raises(pk.LaunchError, match="is a derivative"):
        repro(pk.autodiff(turned), 1, ndrange=1)


def test_printed_without_a_file(kernels_here, capsys):
    assert main(["repro", "kernels_here.py::double", "--args", "f32[4] f32[4]", "--ndrange", "4"]) == 0
    out = capsys.readouterr().out
    assert "SCALE = np.dtype('float32').type(1.5)" in out
    assert "rng = np.random.default_rng(0)" in out
