"""Accuracy of the expanded functions against mpmath, over all magnitudes and special values."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import pykern as pk


@pk.kernel
def f32_functions(out, x):
    i = pk.index()
    v = x[i]
    out[0, i] = pk.exp(v)
    out[1, i] = pk.log(v)
    out[2, i] = pk.tanh(v)
    out[3, i] = pk.sin(v)
    out[4, i] = pk.cos(v)
    out[5, i] = pk.erf(v)
    out[6, i] = pk.exp2(v)
    out[7, i] = pk.expm1(v)
    out[8, i] = pk.log2(v)
    out[9, i] = pk.log10(v)
    out[10, i] = pk.log1p(v)
    out[11, i] = pk.sinh(v)
    out[12, i] = pk.cosh(v)
    out[13, i] = pk.tan(v)
    out[14, i] = pk.erfc(v)
    out[15, i] = pk.asin(v)
    out[16, i] = pk.acos(v)
    out[17, i] = pk.atan(v)
    out[18, i] = pk.asinh(v)
    out[19, i] = pk.acosh(v)
    out[20, i] = pk.atanh(v)
    out[21, i] = pk.cbrt(v)


NAMES = (
    "exp", "log", "tanh", "sin", "cos", "erf", "exp2", "expm1", "log2", "log10", "log1p", "sinh", "cosh", "tan", "erfc",
    "asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt",
)  # fmt: skip
EXACT = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "log1p": lambda x: mpmath.log1p(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    **{n: getattr(mpmath, n) for n in NAMES if n not in ("exp2", "log2", "log1p", "cbrt")},
}
SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    math.inf,
    -math.inf,
    math.nan,
    1e-40,
    -1e-40,
    88.7,
    88.8,
    -103.9,
    -104.5,
)


def arguments(dtype: type, seed: int) -> np.ndarray:
    """Every magnitude, the range where functions bend, and special values."""
    rng = np.random.default_rng(seed)
    low, high = (-126, 127) if dtype is np.float32 else (-1022, 1023)
    magnitudes = np.exp2(rng.uniform(low, high, 400)) * rng.choice([-1.0, 1.0], 400)
    tiny = np.exp2(rng.uniform(-80, -10, 100)) * rng.choice([-1.0, 1.0], 100)  # where expm1 and log1p cancel
    parts = [
        tiny,
        magnitudes,
        rng.uniform(-12, 12, 500),
        rng.uniform(-110, 110, 300),
        rng.uniform(0.5, 2, 200),
        rng.uniform(-1, 1, 300),
    ]
    near_poles = np.arange(1, 60) * (math.pi / 2)
    with np.errstate(over="ignore"):
        return np.concatenate([*parts, near_poles, SPECIAL]).astype(dtype)


def ulps(got: float, exact: object, dtype: type) -> float:
    """Distance in units of the last place of the correctly rounded result."""
    with np.errstate(over="ignore"):
        right = dtype(float(exact)) if dtype is np.float64 else dtype(np.float64(float(exact)))
    if np.isnan(right) or np.isinf(right) or np.isinf(got) or np.isnan(got):
        same = (np.isnan(right) and np.isnan(got)) or right == got
        largest = np.finfo(dtype).max
        return 0.0 if same or (abs(right) == largest and np.isinf(got)) else math.inf
    return float(abs(mpmath.mpf(float(got)) - exact) / mpmath.mpf(float(np.spacing(abs(right)))))


def reference(name: str, x: float) -> object:
    """The exact value; what C says where mathematics has none."""
    if math.isnan(x):
        return mpmath.nan
    if math.isinf(x):
        limits = {
            "exp": (math.inf, 0), "exp2": (math.inf, 0), "expm1": (math.inf, -1), "tanh": (1, -1), "erf": (1, -1),
            "erfc": (0, 2), "sinh": (math.inf, -math.inf), "cosh": (math.inf, math.inf),
            "log": (math.inf, math.nan), "log2": (math.inf, math.nan), "log10": (math.inf, math.nan),
            "log1p": (math.inf, math.nan), "atan": (math.pi / 2, -math.pi / 2), "asinh": (math.inf, -math.inf),
            "acosh": (math.inf, math.nan), "cbrt": (math.inf, -math.inf),
        }  # fmt: skip
        plus, minus = limits.get(name, (math.nan, math.nan))
        return mpmath.mpf(plus if x > 0 else minus)
    if name in ("log", "log2", "log10") and x <= 0:
        return mpmath.mpf(-math.inf if x == 0 else math.nan)
    if name == "log1p" and x <= -1:
        return mpmath.mpf(-math.inf if x == -1 else math.nan)
    if (name in ("asin", "acos", "atanh") and abs(x) > 1) or (name == "acosh" and x < 1):
        return mpmath.nan
    if name == "atanh" and abs(x) == 1:
        return mpmath.mpf(math.copysign(math.inf, x))
    if abs(x) > 2000 and name in ("exp", "exp2", "expm1", "sinh", "cosh"):
        if name in ("sinh", "cosh"):
            return mpmath.mpf(math.inf if x > 0 or name == "cosh" else -math.inf)
        return mpmath.mpf(math.inf if x > 0 else (-1 if name == "expm1" else 0))
    if abs(x) > 1000 and name in ("erfc", "erf", "tanh"):
        sign = 1 if x > 0 else -1
        return mpmath.mpf(1 - sign if name == "erfc" else sign)
    with mpmath.workprec(1300 if name in ("sin", "cos", "tan") else 200):
        return +EXACT[name](mpmath.mpf(x))


def worst(got: np.ndarray, name: str, x: np.ndarray, dtype: type) -> tuple[float, float]:
    errors = [(ulps(g, reference(name, float(v)), dtype), float(v)) for g, v in zip(got, x, strict=True)]
    return max(errors)


@pytest.fixture(scope="module")
def f32_results() -> tuple[np.ndarray, np.ndarray]:
    x = arguments(np.float32, 1)
    out = np.zeros((len(NAMES), x.size), np.float32)
    f32_functions(out, x, ndrange=x.size)
    return x, out


@pytest.mark.parametrize("name", NAMES)
def test_f32_within_2_ulp(name: str, f32_results: tuple[np.ndarray, np.ndarray]) -> None:
    x, out = f32_results
    error, where = worst(out[NAMES.index(name)], name, x, np.float32)
    assert error <= (3 if name in ("erf", "tanh") else 2), f"{name}({where!r}) is {error} ulp off"


@pytest.mark.parametrize(("name", "one"), [("erf", 4.0), ("tanh", 9.125)])
def test_quotients_of_f32_densely(name: str, one: float) -> None:
    """They are rounded in several places; no result is beyond 1."""
    bits = np.arange(np.float32(2**-8).view(np.int32), np.float32(1.1 * one).view(np.int32), 23, np.int32)
    x = bits.view(np.float32)
    y = np.zeros((len(NAMES), x.size), np.float32)
    f32_functions(y, x, ndrange=x.size)
    right = np.array([getattr(math, name)(v) for v in x.astype(np.float64)])
    found = y[NAMES.index(name)]
    assert (abs(found - right) / np.spacing(right.astype(np.float32))).max() <= 3
    assert found.max() == 1
    assert (found[x >= one] == 1).all()


@pk.kernel
def f64_functions(out, x):
    i = pk.index()
    v = x[i]
    out[0, i] = pk.exp(v)
    out[1, i] = pk.log(v)
    out[2, i] = pk.tanh(v)
    out[3, i] = pk.sin(v)
    out[4, i] = pk.cos(v)
    out[5, i] = pk.erf(v)
    out[6, i] = pk.exp2(v)
    out[7, i] = pk.expm1(v)
    out[8, i] = pk.log2(v)
    out[9, i] = pk.log10(v)
    out[10, i] = pk.log1p(v)
    out[11, i] = pk.sinh(v)
    out[12, i] = pk.cosh(v)
    out[13, i] = pk.tan(v)
    out[14, i] = pk.erfc(v)
    out[15, i] = pk.asin(v)
    out[16, i] = pk.acos(v)
    out[17, i] = pk.atan(v)
    out[18, i] = pk.asinh(v)
    out[19, i] = pk.acosh(v)
    out[20, i] = pk.atanh(v)
    out[21, i] = pk.cbrt(v)


@pytest.fixture(scope="module")
def f64_results() -> tuple[np.ndarray, np.ndarray]:
    x = arguments(np.float64, 2)
    out = np.zeros((len(NAMES), x.size))
    f64_functions(out, x, ndrange=x.size)
    return x, out


@pytest.mark.parametrize("name", NAMES)
def test_f64_within_4_ulp(name: str, f64_results: tuple[np.ndarray, np.ndarray]) -> None:
    x, out = f64_results
    error, where = worst(out[NAMES.index(name)], name, x, np.float64)
    assert error <= 4, f"{name}({where!r}) is {error} ulp off"


def test_signed_zero_is_kept() -> None:
    x = np.array([-0.0, 0.0], np.float32)
    out = np.zeros((len(NAMES), 2), np.float32)
    f32_functions(out, x, ndrange=2)
    for name in (
        "tanh",
        "sin",
        "erf",
        "expm1",
        "log1p",
        "sinh",
        "tan",
        "asin",
        "atan",
        "asinh",
        "atanh",
        "cbrt",
    ):
        assert np.signbit(out[NAMES.index(name)]).tolist() == [True, False], name


@pk.kernel
def powers(out, x, y):
    i, j = pk.index()
    out[i, j] = x[i] ** y[j]


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 2), (np.float64, 4)])
def test_pow_special_cases_and_accuracy(dtype: type, limit: int) -> None:
    rng = np.random.default_rng(3)
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        math.inf,
        -math.inf,
        math.nan,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        -3.0,
        1e10,
        -1e10,
    ]
    x = np.concatenate([special, rng.uniform(0, 20, 40), -rng.uniform(0, 5, 10)]).astype(dtype)
    near = 1 + rng.uniform(-1e-3, 1e-3, 20)
    tiny = [1e-310, -1e-310, 5e-324, 1e-40, 1e300, -1e300]  # some of them 0 or infinite in f32
    with np.errstate(all="ignore"):
        x = np.concatenate([x, near, tiny]).astype(dtype)
    y = [*special, *rng.uniform(-20, 20, 40), *rng.integers(-9, 9, 10), *rng.uniform(-3e4, 3e4, 20)]
    odd = {np.float32: [2.0**23 + 1, 2.0**24], np.float64: [2.0**52 + 1, -(2.0**53) + 1, 2.0**53, 1e300]}
    y = np.array([*y, *odd[dtype]], dtype)
    out = np.zeros((x.size, y.size), dtype)
    powers(out, x, y, ndrange=out.shape)
    with np.errstate(all="ignore"):
        right = np.power(x[:, None].astype(np.longdouble), y[None, :].astype(np.longdouble))
        rounded = right.astype(dtype)
        exceptional = ~np.isfinite(rounded) | (rounded == 0)
        np.testing.assert_array_equal(out[exceptional], rounded[exceptional])
        assert (np.signbit(out) == np.signbit(rounded))[~np.isnan(rounded)].all()
        error = np.abs((out - right) / np.spacing(np.abs(rounded)))[~exceptional]
    assert error.max() <= limit


@pk.kernel
def angles(out, y, x):
    i, j = pk.index()
    out[i, j] = pk.atan2(y[i], x[j])


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 2), (np.float64, 4)])
def test_atan2_special_cases_and_accuracy(dtype: type, limit: int) -> None:
    rng = np.random.default_rng(4)
    special = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.5, -2.5, 1e-40, -1e-40, 3e38, -3e38]
    values = np.concatenate([special, rng.uniform(-3, 3, 60), np.exp2(rng.uniform(-120, 120, 40))])
    values = values.astype(dtype)
    out = np.zeros((values.size, values.size), dtype)
    angles(out, values, values, ndrange=out.shape)
    right = np.arctan2(values[:, None].astype(np.longdouble), values[None, :].astype(np.longdouble))
    with np.errstate(under="ignore"):
        rounded = right.astype(dtype)
    np.testing.assert_array_equal(np.isnan(out), np.isnan(rounded))
    known = ~np.isnan(rounded)
    assert (np.signbit(out) == np.signbit(rounded))[known].all()
    error = np.abs((out - right) / np.spacing(np.abs(rounded)))[known]
    assert error.max() <= limit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_angles_among_small_ones(dtype: type) -> None:
    """Vectors of which some lanes, none or all are too large for the usual reduction."""
    rng = np.random.default_rng(5)
    largest = {np.float32: 127, np.float64: 1023}[dtype]
    x = np.exp2(rng.uniform(-3, 20, 512))
    x[rng.integers(0, 512, 60)] = np.exp2(rng.uniform(27, largest, 60))
    x[256:300] = np.exp2(rng.uniform(29, largest, 44))
    x = x.astype(dtype)
    out = np.zeros((len(NAMES), x.size), dtype)
    (f32_functions if dtype is np.float32 else f64_functions)(out, x, ndrange=x.size)
    for name in ("sin", "cos", "tan"):
        error, where = worst(out[NAMES.index(name)], name, x, dtype)
        assert error <= 3, f"{name}({where!r}) is {error} ulp off"
