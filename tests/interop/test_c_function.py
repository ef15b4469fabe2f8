"""`pk.cfunc`: the functions of C, called by ctypes, Numba and SciPy."""

import ctypes

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package


@pk.func
def bell(x, width):
    return pk.exp(-x * x / width)


@pk.func
def square(x):
    return x * x


@pk.func
def middle(window):
    """The mean of the largest and the smallest."""
    low, high = window[0], window[0]
    for i in range(1, len(window)):
        low, high = min(low, window[i]), max(high, window[i])
    return (low + high) / 2


def test_numbers_by_value():
    found = pk.cfunc(bell, "f64(f64, f64)")
    assert found.ctypes(0.5, 2.0) == pytest.approx(np.exp(-0.125), rel=1e-15)
    assert found.address and found(0.5, 2.0) == pytest.approx(np.exp(-0.125))
    assert repr(found) == "<pykern.cfunc bell: f64(f64, f64)>"


def greater(x, y):
    return x > y


@pytest.mark.parametrize(
    "dtype", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "bool"]
)
def test_each_type(dtype):
    is_greater = pk.cfunc(greater, f"bool({dtype}, {dtype})").ctypes
    assert is_greater(1, 0) is True and is_greater(0, 1) is False
    if dtype not in ("bool", "f32", "f64", "u8", "u16", "u32", "u64"):
        assert is_greater(-1, -2) is True


def test_arrays_come_with_their_lengths(rng):
    x = rng.normal(size=1000)
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert pk.cfunc(middle, "f64(f64[:])").ctypes(pointer, len(x)) == (x.min() + x.max()) / 2


def test_in_numba():
    need_package("numba")
    import numba

    called = pk.cfunc(square, "f64(f64)").ctypes

    @numba.njit
    def total(values):
        result = 0.0
        for value in values:
            result += called(value)
        return result

    assert total(np.arange(5.0)) == 30.0

    @numba.cfunc("float64(float64)")
    def theirs(x):
        return x + 1

    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(theirs.address)(1.0) == 2.0


def test_scipy_integrates():
    need_package("scipy")
    from scipy import integrate

    assert integrate.quad(pk.cfunc(square, "f64(f64)").lowlevel(), 0, 3)[0] == pytest.approx(9)
    found = integrate.quad(pk.cfunc(bell, "f64(f64, f64)").lowlevel(), -np.inf, np.inf, args=(2.0,))[0]
    assert found == pytest.approx(np.sqrt(2 * np.pi))


def test_scipy_filters(rng):
    need_package("scipy")
    from scipy import ndimage

    image = rng.normal(size=(20, 30))
    found = ndimage.generic_filter(image, pk.cfunc(middle, "f64(f64[:])").lowlevel(), size=3)
    wanted = (ndimage.maximum_filter(image, 3) + ndimage.minimum_filter(image, 3)) / 2
    np.testing.assert_array_equal(found, wanted)


def test_what_scipy_does_not_call():
    need_package("scipy")
    with pytest.raises(pk.KernelTypeError, match="no callback of the signature f32"):
        pk.cfunc(bell, "f32(f32, f32)").lowlevel()


@pytest.mark.parametrize("signature", ["f64(f64)", "f64(f64, f64, f64)", "void(f64, f64)", "f64()", "f64"])
def test_signatures_that_do_not_fit(signature):
    with pytest.raises(pk.KernelTypeError, match="signature"):
        pk.cfunc(bell, signature)


def test_as_a_decorator():
    @pk.cfunc("f64(f64)")
    def cube(x):
        return x * x * x

    assert cube.ctypes(1.5) == 1.5**3
    with pytest.raises(pk.KernelTypeError, match="has no type 'f63'"):
        pk.cfunc("f63(f64)")
    with pytest.raises(pk.KernelTypeError, match="takes a function and its signature"):
        pk.cfunc(square)
