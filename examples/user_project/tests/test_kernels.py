"""The kernels of `pluck`, with what pykern brings for tests."""

from __future__ import annotations

import numpy as np
import pytest
from pluck.kernels import after, count_crests, step

import pykern as pk
from pykern.testing import assert_matches_python, check_ir, golden


@pytest.fixture
def string():
    """A plucked string: float32, 101 points."""
    u = np.random.default_rng(0).random(101, np.float32)
    u[[0, -1]] = 0
    return u


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_step_is_what_the_function_says(string, dtype, pk_device):
    """On every device of this machine, against the function run as plain Python."""
    now = string.astype(dtype)
    before = now[::-1].copy()
    assert_matches_python(step, np.empty_like(now), now, before, 0.5, ndrange=now.shape, device=pk_device)


def test_crests_of_a_strided_view(string):
    count = np.zeros(1, np.int64)
    assert_matches_python(count_crests, count, string[::2], ndrange=51)
    assert count[0] == 0  # both ran on copies


def test_after_is_numpys(string):
    """An array program against plain Python, and both against NumPy."""
    assert_matches_python(after, string, 0.5, 7)
    before = now = string.astype(float)
    for _ in range(7):
        later = np.zeros_like(now)
        later[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.25 * (now[:-2] - 2 * now[1:-1] + now[2:])
        before, now = now, later
    np.testing.assert_allclose(after(string, 0.5, 7), now, atol=1e-5)


def test_step_has_one_store_a_branch():
    u = pk.spec((None,), pk.f32)
    lowered = step.lower(u, u, u, pk.f64, ndrange="n")
    checks = """
        CHECK-LABEL: func.func @step
        CHECK: scf.if
        CHECK-COUNT-1: memref.store
        CHECK: else
        CHECK-COUNT-1: memref.store
        CHECK-NOT: memref.store
    """
    check_ir(lowered, "kern", checks)


def test_the_ir_of_crests_is_the_golden_file():
    lowered = count_crests.lower(pk.spec((1,), pk.i64), pk.spec((None,), pk.f32), ndrange="n")
    golden(lowered.as_text("kern"), "count_crests.mlir")


@pytest.mark.pykern_device("opencl")
def test_arrays_of_a_device(string):
    u = pk.asarray(string, device="opencl:0")
    later = pk.zeros_like(u)
    step(later, u, u, 0.5, ndrange=string.shape)
    inner = string[1:-1] + 0.25 * (string[:-2] - 2 * string[1:-1] + string[2:])
    np.testing.assert_allclose(later.numpy()[1:-1], inner, rtol=1e-5, atol=1e-6)
