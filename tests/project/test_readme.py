"""The numbers of the README's code are right; that all of it runs as printed, in order, is said in `test_wheel`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.project.tree import ROOT

README = ROOT / "README.md"
FILES = {b.comment.removeprefix("file: "): b.text for b in blocks(README) if b.comment.startswith("file: ")}


def run(folder: Path, check: str, *names: str, **changes: str) -> None:
    """Run the last of some files of the README with a check at its end."""
    for name in names:
        text = FILES[name]
        for old, new in changes.items():
            text = text.replace(f'{old} = "opencl:0"', f'{old} = "{new}"')
        (folder / name).write_text(text + (check if name == names[-1] else ""))
    subprocess.run([sys.executable, str(folder / names[-1])], check=True, timeout=200)


CHECK = """
expected = T.copy()
inner = T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4 * T[1:-1, 1:-1]
expected[1:-1, 1:-1] += np.float32(0.1) * inner
np.testing.assert_allclose(T2, expected, atol=1e-6)
"""


def test_the_first_kernel_is_right(tmp_path: Path) -> None:
    run(tmp_path, CHECK, "heat.py")


CHECK_DERIVATIVES = """
def numpy_misfit(c):
    u = T.astype(float)
    for _ in range(20):
        v = u.copy()
        v[1:-1, 1:-1] += 0.1 * c[1:-1, 1:-1] * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u = v
    return ((u - T2) ** 2).mean()

direction = np.random.default_rng(1).random(c.shape)
step = 1e-4
slope = (numpy_misfit(c + step * direction) - numpy_misfit(c - step * direction)) / (2 * step)
np.testing.assert_allclose(loss, numpy_misfit(c), rtol=1e-4)
np.testing.assert_allclose((dc * direction).sum(), slope, rtol=1e-3)
assert not dT2[1:-1, 1:-1].any() and dT2[0, 0] == 1  # the kernel leaves the edge alone
np.testing.assert_allclose(dT[5:-5, 5:-5], 1, atol=1e-5)  # what flows out of a cell flows into others
"""


def test_the_derivatives_are_right(tmp_path: Path) -> None:
    run(tmp_path, CHECK_DERIVATIVES, "heat.py", "misfit.py")


CHECK_DEVICES = """
import numpy as np

there = v.numpy()
inner = T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4 * T[1:-1, 1:-1]
np.testing.assert_allclose(there[1:-1, 1:-1], T[1:-1, 1:-1] + np.float32(0.1) * inner, atol=1e-6)
assert (there[0] == 0).all()
"""


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
def test_the_same_kernel_runs_on_other_devices(device: str, tmp_path: Path) -> None:
    run(tmp_path, CHECK_DEVICES, "heat.py", "devices.py", device=device)
