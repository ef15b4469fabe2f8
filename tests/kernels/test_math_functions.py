"""Every function of mathematics on every device, against the C library's in f64.

Accuracy over all magnitudes is tested with mpmath, in `tests/passes/test_vector_math.py` and
`tests/lowering/test_library.py`; here, that each function of each device is that function.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk

SMALL, POSITIVE, UNIT, LARGE = (-6, 6), (1e-3, 9), (-0.999, 0.999), (2.1, 50)
UNARY = {
    "sqrt": POSITIVE, "rsqrt": POSITIVE, "cbrt": SMALL, "exp": SMALL, "exp2": SMALL, "expm1": SMALL, "log": POSITIVE,
    "log2": POSITIVE, "log10": POSITIVE, "log1p": POSITIVE, "sin": SMALL, "cos": SMALL, "tan": UNIT, "asin": UNIT,
    "acos": UNIT, "atan": SMALL, "sinh": SMALL, "cosh": SMALL, "tanh": SMALL, "asinh": SMALL, "acosh": LARGE,
    "atanh": UNIT, "erf": SMALL, "erfc": SMALL, "gamma": POSITIVE, "lgamma": LARGE, "floor": SMALL, "ceil": SMALL,
    "trunc": SMALL, "round": SMALL, "abs": SMALL, "degrees": SMALL, "radians": SMALL,
}  # fmt: skip
BINARY = ("atan2", "hypot", "fmod", "remainder", "copysign", "pow", "minimum", "maximum")
OURS = {"rsqrt": lambda v: 1 / math.sqrt(v), "cbrt": np.cbrt, "exp2": lambda v: 2.0**v, "abs": abs}
TWO = {"minimum": min, "maximum": max}


def unary(name: str):
    function = getattr(pk, name)

    @pk.kernel
    def kernel(y, x):
        i = pk.index()
        y[i] = function(x[i])

    return kernel


def binary(name: str):
    function = getattr(pk, name)

    @pk.kernel
    def kernel(z, x, y):
        i = pk.index()
        z[i] = function(x[i], y[i])

    return kernel


def ulps(got: np.ndarray, expected: list[float]) -> float:
    """The largest distance in units of the last place."""
    right = np.array(expected)
    unit = np.spacing(np.abs(right).astype(got.dtype)).astype(float)
    return float((np.abs(got.astype(float) - right) / unit).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name, dtype, device, rng):
    x = rng.uniform(*UNARY[name], 77).astype(dtype)
    y = np.zeros_like(x)
    unary(name)(y, x, ndrange=77, device=device)
    reference = OURS.get(name) or (round if name == "round" else getattr(math, name, None))
    expected = [reference(float(v)) for v in x]
    if name in ("gamma", "lgamma"):
        np.testing.assert_allclose(y, expected, rtol=1e-12 if dtype is np.float64 else 1e-6, atol=1e-12)
    else:
        assert ulps(y, expected) <= 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name, dtype, device, rng):
    x, y = rng.uniform(0.1, 9, (2, 77)).astype(dtype)
    z = np.zeros_like(x)
    binary(name)(z, x, y, ndrange=77, device=device)
    reference = TWO.get(name) or getattr(math, name)
    assert ulps(z, [reference(float(a), float(b)) for a, b in zip(x, y, strict=True)]) <= 5


@pk.kernel
def kinds(out, x):
    i = pk.index()
    out[0, i] = pk.isnan(x[i])
    out[1, i] = pk.isinf(x[i])
    out[2, i] = pk.isfinite(x[i])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_no_numbers(dtype, device):
    x = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan], dtype)
    out = np.zeros((3, x.size), np.bool_)
    kinds(out, x, ndrange=x.size, device=device)
    np.testing.assert_array_equal(out, [np.isnan(x), np.isinf(x), np.isfinite(x)])


@pytest.mark.parametrize(
    ("number", "integer"),
    [(pk.f16, pk.u16), (pk.f32, pk.u32), (pk.f32, pk.i32), (pk.f64, pk.i64), (pk.bf16, pk.i16)],
    ids=lambda d: d.name,
)
def test_numbers_read_as_their_bits(number, integer, device, rng):
    @pk.kernel
    def read_as(out, back, x):
        i = pk.index()
        out[i] = pk.bitcast(x[i], integer)
        back[i] = pk.bitcast(pk.bitcast(x[i], integer) ^ pk.bitcast(number(-1.0), integer), number)

    x = np.array([0, -0.0, 1, np.inf, np.nan, *rng.standard_normal(40)]).astype(number.numpy)
    out, back = np.zeros(x.size, integer.numpy), np.zeros_like(x)
    read_as(out, back, x, ndrange=x.size, device=device)
    np.testing.assert_array_equal(out, x.view(integer.numpy))
    one = np.array(-1, number.numpy).view(integer.numpy)
    np.testing.assert_array_equal(back.view(integer.numpy)[5:], (x.view(integer.numpy) ^ one)[5:])


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize(
    ("kind", "said"), [(pk.u16, "has 32 bits"), (pk.bool_, "no bits of a fixed number")], ids=["size", "bool"]
)
def test_bits_of_another_size_are_refused(kind, said, device):
    @pk.kernel
    def read(out, x):
        i = pk.index()
        out[i] = pk.bitcast(x[i], kind)

    with pytest.raises(pk.KernelTypeError, match=said):
        read(np.zeros(3, np.uint16), np.zeros(3, np.float32), ndrange=3, device=device)


@pk.kernel
def bits(out, x):
    i = pk.index()
    out[0, i] = pk.popcount(x[i])
    out[1, i] = pk.clz(x[i])


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_bits(dtype, device, rng):
    limits = np.iinfo(dtype)
    x = np.array([0, 1, limits.max, limits.min, *rng.integers(limits.min, limits.max, 60, dtype)], dtype)
    out = np.zeros((2, x.size), np.int64)
    bits(out, x, ndrange=x.size, device=device)
    patterns = [int(v) & (2**limits.bits - 1) for v in x]
    np.testing.assert_array_equal(out[0], [v.bit_count() for v in patterns])
    np.testing.assert_array_equal(out[1], [limits.bits - v.bit_length() for v in patterns])
