"""Powers with a known exponent: against mpmath, and special values against NumPy's."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import pykern as pk

EXPONENTS = (-1.5, -0.5, 1.5, 2.5, 5, 6, 7, -5, -6, -7, 8, 12, -12, 13, 63, -64)


@pk.kernel
def powers(o, x):
    i = pk.index()
    o[i, 0] = x[i] ** -1.5
    o[i, 1] = x[i] ** -0.5
    o[i, 2] = x[i] ** 1.5
    o[i, 3] = x[i] ** 2.5
    o[i, 4] = x[i] ** 5
    o[i, 5] = x[i] ** 6
    o[i, 6] = x[i] ** 7.0
    o[i, 7] = x[i] ** -5
    o[i, 8] = x[i] ** -6
    o[i, 9] = x[i] ** -7.0
    o[i, 10] = x[i] ** 8
    o[i, 11] = x[i] ** 12.0
    o[i, 12] = x[i] ** -12
    o[i, 13] = x[i] ** 13
    o[i, 14] = x[i] ** 63
    o[i, 15] = x[i] ** -64


@pk.jit
def program(x):
    a, b, c, d, e = x**-1.5, x**-0.5, x**1.5, x**2.5, x**5
    f, g, h, i, j = x**6, x**7.0, x**-5, x**-6, x**-7.0
    k, m, n = x**8, x**12.0, np.power(x, -12)
    return np.stack([a, b, c, d, e, f, g, h, i, j, k, m, n, x**13, x**63, x**-64], axis=1)


def taken(x: np.ndarray, how) -> np.ndarray:
    if how is program:
        return program(x)
    o = np.zeros((len(x), len(EXPONENTS)), x.dtype)
    powers(o, x, ndrange=len(x))
    return o


@pytest.mark.parametrize("how", [powers, program], ids=["kernel", "program"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_units_in_the_last_place(dtype, how, rng):
    x = (rng.random(61) * 3 + 0.1).astype(dtype)
    x[::7] *= dtype(37.5)
    found = taken(x, how)
    with mpmath.workprec(300):
        for column, exponent in enumerate(EXPONENTS):
            for value, result in zip(x, found[:, column], strict=True):
                true = mpmath.mpf(float(value)) ** mpmath.mpf(exponent)
                if not np.finfo(dtype).tiny < abs(true) < np.finfo(dtype).max:
                    continue
                assert abs(mpmath.mpf(float(result)) - true) <= 4 * float(np.spacing(dtype(true)))


@pytest.mark.parametrize("how", [powers, program], ids=["kernel", "program"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype, how):
    large = dtype(np.finfo(dtype).max)
    x = np.array([0, 1, 2, np.inf, np.nan, large, 1 / large, np.finfo(dtype).tiny, 3e25, 3e-25], dtype)
    x = np.concatenate([x, -x])
    with np.errstate(all="ignore"):
        wanted = np.stack([np.power(x.astype(np.longdouble), np.longdouble(e)) for e in EXPONENTS], axis=1)
        wanted = wanted.astype(dtype)
    found = taken(x, how)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(wanted)], np.signbit(wanted)[~np.isnan(wanted)])
    tiny = float(np.finfo(dtype).smallest_subnormal)
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if dtype is np.float32 else 1e-15, atol=4 * tiny)
