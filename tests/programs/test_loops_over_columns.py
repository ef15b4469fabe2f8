"""Loops of programs that go from column to column run row by row; kernels that are launched there add in order."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def _columns(x):
    """All in one program: carried columns, arrays that are written, both directions, and parts of the rows."""
    before = x.copy()
    for j in range(1, x.shape[1]):
        before[:, j] = 0.5 * before[:, j - 1] + x[:, j]
    inner = x.copy()
    for j in range(1, x.shape[1]):
        inner[1:, j] = inner[1:, j - 1] + x[:-1, j]
    diagonal = x.copy()
    for j in range(1, x.shape[1]):
        diagonal[1:, j] = diagonal[:-1, j - 1] + x[1:, j]
    back, held = np.empty_like(x), x[:, 0] * 1
    for j in range(x.shape[1] - 1, -1, -1):
        held = 0.25 * held + x[:, j] * x[:, 0]
        back[:, j] = held
    sums, most = np.cumsum(x, axis=1), np.maximum.accumulate(x, axis=1)
    planes = np.cumsum(x.reshape(1, x.shape[0], x.shape[1]), axis=2)
    return before, inner, diagonal, back, held, sums, most, planes


@pytest.mark.parametrize("shape", [(37, 65), (3, 50)])
def test_columns_that_are_carried(rng, shape):
    x = (rng.random(shape) - 0.5).astype(np.float64)
    x[1, 7], x[2, 9] = np.nan, -0.0
    for ours, theirs in zip(pk.jit(_columns)(x), _columns(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_running_sum_keeps_its_order(rng):
    x = (1e3 * rng.standard_normal((19, 70))).astype(np.float32)
    assert np.array_equal(pk.jit(lambda x: np.cumsum(x, axis=1))(x), np.cumsum(x, axis=1))


@pk.kernel
def _row_sums(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
    o[i] = s


def test_a_kernel_that_is_launched_adds_in_order(rng):
    """As many rows as make groups, and some more; the order of each sum is that of the kernel by itself."""
    x = (1e3 * rng.standard_normal((43, 130))).astype(np.float32)

    @pk.jit
    def program(x):
        o = np.empty(x.shape[0], np.float32)
        _row_sums(o, x, ndrange=x.shape[0])
        return o

    expected = np.cumsum(x, axis=1, dtype=np.float32)[:, -1]
    assert np.array_equal(program(x), expected)
