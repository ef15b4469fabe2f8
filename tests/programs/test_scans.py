"""cumsum and cumprod against NumPy: every axis and dtype, special values, derivatives, tiles, devices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pykern as pk
from pykern.pytest_plugin import need_package


@pk.jit
def sums(x, axis: pk.static):
    return pk.cumsum(x, axis)


@pk.jit
def products(x, axis: pk.static):
    return x.cumprod(axis=axis)


@pk.jit
def numpys(x):
    return np.cumsum(x), np.cumprod(x, -1)


@pk.kernel
def row_sums(o, x):
    i = pk.tile()
    o[i] = x[i].cumsum(-1)


@pk.kernel
def along_tiles(o, x):
    i = pk.tile()
    o[i] = pk.cumsum(x[i], 0)


FUNCTIONS = {"cumsum": (sums, np.cumsum), "cumprod": (products, np.cumprod)}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i1", "u1", "u4", "?"])
def test_same_as_numpy(rng, name, dtype):
    ours, numpys_own = FUNCTIONS[name]
    for shape in ((7,), (3, 5), (2, 3, 4), (0, 3), (3, 0), (1,)):
        x = (rng.standard_normal(shape) * 3).astype(dtype)
        for axis in (None, *range(-len(shape), len(shape))):
            with np.errstate(all="ignore"):
                found, expected = ours(x, axis), numpys_own(x, axis)
            assert found.dtype == expected.dtype and found.shape == expected.shape
            if dtype == "f2":  # sums are kept in f32 here, and in f16 in NumPy
                with np.errstate(over="ignore"):
                    assert_allclose(found, numpys_own(x.astype("f4"), axis).astype("f2"), rtol=1e-3)
            else:
                assert_array_equal(found, expected)


def test_names_of_numpy(rng):
    x = rng.standard_normal((3, 5))
    found = numpys(x)
    assert_array_equal(found[0], np.cumsum(x))
    assert_array_equal(found[1], np.cumprod(x, -1))
    with pk.device("python"):
        assert_array_equal(sums(x, 1), np.cumsum(x, 1))


def test_special_values_to_the_bit():
    x = np.array([-0.0, -0.0, 0.0, 1e308, 1e308, -np.inf, np.nan, 1.0])
    with np.errstate(all="ignore"):
        assert sums(x, 0).tobytes() == np.cumsum(x).tobytes()
        y = x[[0, 1, 3, 4]]
        assert products(y, 0).tobytes() == np.cumprod(y).tobytes()


@pytest.mark.parametrize("axis", [0, 1, 2, None])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(rng, name, axis):
    jax = need_package("jax")
    ours, _ = FUNCTIONS[name]
    x = rng.standard_normal((3, 4, 5))
    x[1, 2, 3] = 0.0
    w = rng.standard_normal(x.shape if axis is not None else x.size)
    found = pk.vjp(lambda x: ours(x, axis), x)[1](w)[0]
    with jax.enable_x64(True):
        expected = jax.vjp(lambda x: getattr(jax.numpy, name)(x, axis), x)[1](w)[0]
    assert_allclose(found, expected, atol=1e-12)


def test_rows_of_a_tile_kernel(pk_device, rng):
    x = rng.standard_normal((37, 53)).astype("f4")
    o = np.zeros_like(x)
    row_sums(o, x, ndrange=37, device=pk_device)
    assert_array_equal(o, x.cumsum(-1))


def test_errors(rng):
    x = rng.standard_normal((3, 4))
    with pytest.raises(pk.KernelTypeError, match="axis 2"):
        sums(x, 2)
    with pytest.raises(pk.KernelTypeError, match="`cumsum` goes along one axis, not 2"):
        sums(x, (0, 1))
    with pytest.raises(pk.KernelTypeError, match="`argmax` goes along one axis, not 2"):
        pk.jit(lambda x: x.argmax((0, 1)))(x)
    with pytest.raises(pk.KernelTypeError, match="how large the tiles are"):
        along_tiles(x, x, ndrange=3)


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_along_an_axis_of_a_transposition(order, rng):
    @pk.jit
    def program(x):
        turned = x.transpose(order)
        return (
            np.cumsum(turned, axis=1),
            turned.cumsum(axis=2).transpose((1, 0, 2)),
            np.cumsum(turned, axis=0) * 2,
        )

    x = rng.integers(-9, 9, (5, 7, 6)).astype(np.float32)
    turned = x.transpose(order)
    first, second, third = program(x)
    assert_array_equal(first, turned.cumsum(axis=1))
    assert_array_equal(second, turned.cumsum(axis=2).transpose(1, 0, 2))
    assert_array_equal(third, turned.cumsum(axis=0) * 2)
