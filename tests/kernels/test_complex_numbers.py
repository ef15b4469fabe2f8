"""Complex numbers in kernels: elements, arithmetic, functions and loops, against NumPy."""

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError


def numbers(rng, n, dtype: type):
    return (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)


@pk.kernel
def arithmetic(y, a, b, s, x):
    i = pk.index()
    z = a[i]
    w = z * b[i] + 1j - x[i] * z / b[i] + z**2
    if abs(w) > 1.0:
        w = w * s
    y[i] = w + np.exp(z) + np.conj(z) * z.real + complex(x[i], 2)
    y[i] += np.sqrt(z)


def expected(a, b, s, x):
    w = a * b + 1j - x * a / b + a**2
    w = np.where(abs(w) > 1.0, w * s, w)
    return w + np.exp(a) + np.conj(a) * a.real + x + 2j + np.sqrt(a)


@pytest.mark.parametrize("where", ["cpu", "python"])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("step", [1, -2])
def test_elements(where, dtype, step, rng):
    a, b, s = numbers(rng, 37, dtype), numbers(rng, 37, dtype), dtype(1 - 2j)
    x = rng.normal(size=37).astype(a.real.dtype)
    whole = np.zeros(37 * abs(step), dtype)
    with pk.device(where):
        arithmetic(whole[::step], a, b[::-1], s, x, ndrange=37)
    single = dtype == np.complex64
    np.testing.assert_allclose(whole[::step], expected(a, b[::-1], s, x), rtol=1e-4 if single else 1e-11)
    assert step == 1 or not whole[::2].any()


@pk.kernel
def escapes(n, c, most):
    i, j = pk.index()
    z = 0j
    k = 0
    while k < most and abs(z) < 2.0:
        z = z * z + c[i, j]
        k += 1
    n[i, j] = k


@pytest.mark.parametrize("where", ["cpu", "python"])
def test_a_complex_value_goes_around_a_loop(where):
    c = np.linspace(-2, 1, 9)[:, None] + 1j * np.linspace(-1, 1, 7)
    found = np.zeros(c.shape, np.int64)
    with pk.device(where):
        escapes(found, c, 30, ndrange=c.shape)
    counts = np.zeros(c.shape, np.int64)
    for place, start in np.ndenumerate(c):
        z, k = 0j, 0
        while k < 30 and abs(z) < 2.0:
            z, k = z * z + start, k + 1
        counts[place] = k
    np.testing.assert_array_equal(found, counts)


def test_no_element_is_a_row(rng):
    @pk.kernel
    def rows(y, z):
        i = pk.index()
        y[i] = abs(z[i])

    with pytest.raises(KernelTypeError, match="single elements of complex arrays"):
        rows(np.zeros(2), np.zeros((2, 2), complex), ndrange=2)


def test_a_real_array_holds_no_complex_number(rng):
    @pk.kernel
    def store(y, z):
        i = pk.index()
        y[i] = z[i]

    for where in ("cpu", "python"):
        with pk.device(where), pytest.raises(KernelTypeError, match="not a complex number"):
            store(np.zeros(3), numbers(rng, 3, np.complex128), ndrange=3)


def test_derivatives_of_complex_kernels_are_refused(rng):
    @pk.kernel
    def size(y, z):
        i = pk.index()
        y[i] = abs(z[i])

    y, z = np.zeros(3), numbers(rng, 3, np.complex128)
    with pytest.raises(KernelTypeError, match="`z` is complex, and derivatives"):
        pk.autodiff(size)(pk.Dup(y, np.ones(3)), z, ndrange=3)


def test_numbers_that_become_complex_in_loops_and_branches(rng):
    @pk.kernel
    def mixed(o, z):
        i = pk.index()
        total = 0
        best = 0.0
        for k in range(z.shape[1]):
            total += z[i, k]
            if z[i, k].real > best.real:
                best = z[i, k]
        w = 0
        if total.real > 2:
            w = total * 1j
        o[i] = total + best + w + sum(z[i, k] * z[i, k] for k in range(z.shape[1]))

    z = rng.standard_normal((7, 5)) + 1j * rng.standard_normal((7, 5)) + 0.3
    o = np.zeros(7, np.complex128)
    mixed(o, z, ndrange=7)
    for row, found in zip(z, o, strict=True):
        best = max((v for v in row if v.real > 0), key=lambda v: v.real, default=0.0)
        total = row.sum()
        expected = total + best + (total * 1j if total.real > 2 else 0) + (row * row).sum()
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pk.kernel
def powers_and_choices(o, x, y):
    i = pk.index()
    o[i, 0] = x[i] ** y[i]
    o[i, 1] = np.where(x[i] == 0, 1, x[i])
    o[i, 2] = np.where(y[i].real > 0, x[i].imag, y[i])


@pytest.mark.parametrize("where", ["cpu", "python"])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_zero_to_a_power_and_where(where, dtype, rng):
    x, y = numbers(rng, 11, dtype), numbers(rng, 11, dtype)
    x[::2] = 0
    y[0], y[2], y[4], y[6] = 3 - 4j, 0.5 + 1e-3j, -1 + 1j, 0
    o = np.zeros((11, 3), dtype)
    with pk.device(where):
        powers_and_choices(o, x, y, ndrange=11)
    with np.errstate(all="ignore"):
        expected = np.stack([x**y, np.where(x == 0, 1, x), np.where(y.real > 0, x.imag, y)], axis=1)
    np.testing.assert_allclose(o, expected, rtol=1e-4 if dtype == np.complex64 else 1e-11)
