"""Differentiation with arrays of 8 and 16 bits: derivatives of fp8 flow in f32, and are rounded when stored."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

random = np.random.default_rng(17)
FP8 = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
LEVELS = ("auto", "direct")


@pk.kernel
def squares(y, x):
    """The loaded value flows twice, through a branch and through a loop."""
    i = pk.index()
    v = x[i]
    s = v * v
    if v > 1.0:
        s += v
    for _ in range(2):
        s += 0.5 * v
    y[i] = s


@pk.kernel
def sums(y, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        s += x[j] * x[j]  # here
    y[i] = s


@pk.kernel
def scaled(y, x, s):
    i = pk.index()
    y[i] = x[i] * s


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FP8)
def test_both_modes(dtype, level):
    x = np.array([0.5, 0.75, 1.25, 1.5, 2.0], dtype)
    slope = 2 * x.astype(np.float32) + 1 + (x > 1)
    dx, dy = np.ones(5, dtype), np.full(5, 0.5, np.float32)
    pk.autodiff(squares, level=level)(pk.Dup(np.zeros(5, np.float32), dy), pk.Dup(x, dx), ndrange=5)
    np.testing.assert_array_equal(dx.astype(np.float32), (1 + 0.5 * slope).astype(dtype).astype(np.float32))
    assert not dy.any()
    tangent, out = np.full(5, 0.5, dtype), np.zeros(5, np.float32)
    pk.autodiff(squares, mode="forward", level=level)(
        pk.Dup(np.zeros(5, np.float32), out), pk.Dup(x, tangent), ndrange=5
    )
    np.testing.assert_array_equal(out, 0.5 * slope)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FP8)
def test_a_cotangent_in_8_bits(dtype, level):
    """As in quantized training: what was rounded on the way out, its cotangent comes in 8 bits."""
    x, dx = np.linspace(-1, 1, 7, dtype=np.float32), np.zeros(7, np.float32)
    dy, ds = np.array([1, 2, 3, 4, -1, -2, 0.5], dtype), np.zeros((), np.float32)
    seed = dy.astype(np.float32)
    pk.autodiff(scaled, level=level)(
        pk.Dup(np.zeros(7, dtype), dy), pk.Dup(x, dx), pk.Dup(np.float32(1.5), ds), ndrange=7
    )
    np.testing.assert_array_equal(dx, 1.5 * seed)
    np.testing.assert_allclose(ds, x @ seed, rtol=1e-6)
    assert not dy.astype(np.float32).any()


@pytest.mark.parametrize("level", LEVELS)
def test_fp8_is_a_constant(level):
    x = random.integers(-8, 8, 9).astype(ml_dtypes.float8_e4m3fn)
    ds, dy = np.zeros((), np.float32), np.ones(9, np.float32)
    y = pk.Dup(np.zeros(9, np.float32), dy)
    pk.autodiff(scaled, level=level)(y, x, pk.Dup(np.float32(1.5), ds), ndrange=9)
    assert ds == x.astype(np.float32).sum()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FP8)
def test_sums_in_8_bits_are_refused(dtype, level):
    x, dx = random.integers(-8, 8, 9).astype(dtype), np.zeros(9, dtype)
    with pytest.raises(pk.NotDifferentiable, match="8 bits hold no sum") as error:
        pk.autodiff(sums, level=level)(
            pk.Dup(np.zeros(3, np.float32), np.ones(3, np.float32)), pk.Dup(x, dx), ndrange=3
        )
    assert error.value.span is not None
    assert "# here" in str(error.value)
    with pytest.raises(pk.NotRaisable, match="fp8"):
        pk.autodiff(sums, level="raised")(
            pk.Dup(np.zeros(3, np.float32), np.ones(3, np.float32)), pk.Dup(x, dx), ndrange=3
        )


@pytest.mark.parametrize("level", LEVELS)
def test_bfloat16(level):
    x = np.array([0.5, 0.75, 1.25, 1.5, 2.0], ml_dtypes.bfloat16)
    dx, dy = np.ones_like(x), np.full(5, 0.5, np.float32)
    pk.autodiff(squares, level=level)(pk.Dup(np.zeros(5, np.float32), dy), pk.Dup(x, dx), ndrange=5)
    np.testing.assert_array_equal(dx.astype(np.float32), 1 + 0.5 * (2 * x.astype(np.float32) + 1 + (x > 1)))
