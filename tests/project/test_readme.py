"""The README's code runs as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

CHECK = """
expected = T.copy()
inner = T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4 * T[1:-1, 1:-1]
expected[1:-1, 1:-1] += np.float32(0.1) * inner
np.testing.assert_allclose(T2, expected, atol=1e-6)
"""


def test_the_first_kernel_runs_and_is_right(tmp_path: Path) -> None:
    program = tmp_path / "heat.py"
    program.write_text(PYTHON[0] + CHECK)
    subprocess.run([sys.executable, str(program)], check=True, timeout=120)


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
    program = tmp_path / "misfit.py"
    program.write_text(PYTHON[0] + PYTHON[1] + CHECK_DERIVATIVES)
    subprocess.run([sys.executable, str(program)], check=True, timeout=200)


CHECK_DEVICES = """
there = v.numpy()
inner = T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4 * T[1:-1, 1:-1]
np.testing.assert_allclose(there[1:-1, 1:-1], T[1:-1, 1:-1] + np.float32(0.1) * inner, atol=1e-6)
assert (there[0] == 0).all()
"""


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
def test_the_same_kernel_runs_on_other_devices(device: str, tmp_path: Path) -> None:
    program = tmp_path / "devices.py"
    program.write_text(PYTHON[0] + PYTHON[2].replace("opencl:0", device) + CHECK_DEVICES)
    subprocess.run([sys.executable, str(program)], check=True, timeout=120)


def test_the_mistake_says_what_is_printed(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    header = "import numpy as np\nimport pykern as pk\n"
    program.write_text(f"{header}{PYTHON[3]}\nwrong(np.zeros(3), ndrange=3)\n")
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False
    )
    printed = README[README.index('  File "wrong.py"') :].split("```")[0].strip().splitlines()
    for line in (printed[1].strip(), printed[3], printed[4].strip()):
        assert line in done.stderr, done.stderr
    assert done.returncode != 0


def test_the_compile_command() -> None:
    command = re.search(r"\$ pykern (compile examples\S+) --args \"([^\"]*)\" --ndrange \"([^\"]*)\"", README)
    assert command is not None
    subcommand, path = command[1].split()
    arguments = [subcommand, str(ROOT / path), "--args", command[2], "--ndrange", command[3]]
    done = subprocess.run(
        [sys.executable, "-m", "pykern.tools.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "kern-expand-ndrange" in done.stdout


def test_the_lit_suite(tmp_path: Path) -> None:
    lit = Path(sys.executable).with_name("lit")
    if not lit.exists():
        pytest.fail("lit is part of the dev extra")
    (tmp_path / "lit.cfg.py").write_text(PYTHON[4])
    test = re.search(r"```mlir\n(.*?)```", README, re.DOTALL)
    assert test is not None
    (tmp_path / "ids.mlir").write_text(test[1])
    done = subprocess.run(
        [str(lit), "-sv", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 1" in done.stdout


def test_the_pytest_example(tmp_path: Path) -> None:
    (tmp_path / "heat.py").write_text(PYTHON[0])
    (tmp_path / "test_heat.py").write_text(PYTHON[5])
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pykern.pytest_plugin", "-p", "no:cacheprovider"]
    for update in (["--pykern-update"], []):
        done = subprocess.run(
            [*command, *update], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "kern.global_id" in (tmp_path / "golden" / "heat.mlir").read_text()
