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


NAMES = (
    "exp", "log", "tanh", "sin", "cos", "erf", "exp2", "expm1", "log2", "log10", "log1p", "sinh", "cosh", "tan", "erfc",
)  # fmt: skip
EXACT = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "log1p": lambda x: mpmath.log1p(x),
    **{n: getattr(mpmath, n) for n in NAMES if n not in ("exp2", "log2", "log1p")},
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
            "log1p": (math.inf, math.nan),
        }  # fmt: skip
        plus, minus = limits.get(name, (math.nan, math.nan))
        return mpmath.mpf(plus if x > 0 else minus)
    if name in ("log", "log2", "log10") and x <= 0:
        return mpmath.mpf(-math.inf if x == 0 else math.nan)
    if name == "log1p" and x <= -1:
        return mpmath.mpf(-math.inf if x == -1 else math.nan)
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
    assert error <= 2, f"{name}({where!r}) is {error} ulp off"


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
    for name in ("tanh", "sin", "erf", "expm1", "log1p", "sinh", "tan"):
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
    y = np.concatenate([special, rng.uniform(-20, 20, 40), rng.integers(-9, 9, 10)]).astype(dtype)
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


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "pow"])
def test_loops_vectorise(name: str) -> None:
    """The optimised code works on vectors: the whole point of the pass."""
    kernels = {
        "exp": exp_kernel,
        "log": log_kernel,
        "tanh": tanh_kernel,
        "erf": erf_kernel,
        "pow": pow_kernel,
    }
    lowered = kernels[name].lower(pk.spec("n", pk.f32), pk.spec("n", pk.f32), ndrange=("n",))
    assert " x float>" in lowered.as_text("llvm-optimise")


@pk.kernel
def exp_kernel(y, x):
    i = pk.index()
    y[i] = pk.exp(x[i])


@pk.kernel
def log_kernel(y, x):
    i = pk.index()
    y[i] = pk.log(x[i])


@pk.kernel
def tanh_kernel(y, x):
    i = pk.index()
    y[i] = pk.tanh(x[i])


@pk.kernel
def erf_kernel(y, x):
    i = pk.index()
    y[i] = pk.erf(x[i])


@pk.kernel
def pow_kernel(y, x):
    i = pk.index()
    y[i] = x[i] ** 1.7
