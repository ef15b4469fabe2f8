"""Long loops in the forms that people write them: each stays a loop, and gives what Python does over NumPy's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError


def backwards_by_index(x, y):
    z, n = np.zeros_like(x), len(x)
    z[n - 1] = x[n - 1]
    for i in range(1, n):
        k = n - 1 - i
        z[k] = x[k] - 0.5 * y[k] * z[k + 1]
    return z


def backwards_by_range(x, y):
    z = np.zeros_like(x)
    z[-1] = x[-1]
    for i in range(len(x) - 2, -1, -1):
        z[i] = x[i] - 0.5 * y[i] * z[i + 1]
    return z


def backwards_by_reversed(x, y):
    z = x.copy()
    for i in reversed(range(len(x) - 1)):
        z[i] = x[i] - 0.5 * y[i] * z[i + 1]
    return z


def from_the_end(x, y):
    z = x.copy()
    for i in range(len(x) - 1):
        z[-i - 2] = x[-i - 2] - 0.5 * y[-i - 2] * z[-i - 1]
    return z


def largest(x, y):
    m, at = x[0], 0
    for i in range(len(x)):
        m = max(m, x[i] * y[i])
        if x[i] > x[at]:
            at = i
    return m + at


def elements(x, y):
    s = 0.0
    for v in x:
        s = 0.5 * s + v
    for i, (a, b) in enumerate(zip(x, reversed(y), strict=True)):
        s += i * a * b
    return s


def strides_and_neighbours(x, y):
    z, n, at = np.zeros_like(x), len(x), 0
    for i in range(n // 2):
        z[i] = x[2 * i] - x[2 * i + 1] + y[at]
        at += 2
    for i in range(n):
        z[i] += x[(i + 1) % n] - x[i - 1] + y[min(i + 1, n - 1)] - y[max(i - 1, 0)]
    return z


def windows(x, y):
    z = np.zeros(len(x) - 4)
    for i in range(len(z)):
        z[i] = x[i : i + 5].sum() - y[i + 1 : i + 3].max()
    return z


def branches(x, y):
    s, sign, previous = x[0] + x[-1], 1.0, 0.0
    for i in range(1, len(x) - 1):
        w = 4 if i % 2 else 2
        if i > 7:
            s += previous * y[i]
        else:
            s -= 0.25 * y[i]
        s += w * x[i] * sign if x[i] > 0 else 0.125
        previous = x[i]
        sign = -sign
    return s


def left_early(x, y):
    s = 0.0
    for i in range(len(x)):
        if y[i] < 0.1:
            continue
        s = s + x[i]
        if s > 5:
            break
    return s + i


def weights(x, y):
    z = x.copy()
    for i in range(1, len(x) - 1):
        s = 0.0
        for j, w in enumerate((0.25, 0.5, 0.125)):
            s += w * x[i + j - 1]
        for d in (-1, 1):
            s -= 0.125 * y[i + d]
        z[i] = s
    return z


def rows(x, y):
    n = 15
    a = np.reshape(x[: n * n], (n, n)) + n * np.eye(n)
    lower = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            s = a[i, j] + a[j, i]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, j] = np.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    for k in range(n * n):
        row = a[k % n]
        t = row[k // n] * 0.5
        lower[k // n, k % n] += t
    return lower


def steps(x, y):
    def slope(t, z):
        return y * np.cos(t) - z

    t, h, z = 0.0, 0.01, x
    for i in range(250):
        k = slope(t, z)
        z = z + h * slope(i * h + h / 2, z + h / 2 * k)
        t += h
    return z


FORMS = [backwards_by_index, backwards_by_range, backwards_by_reversed, from_the_end, largest, elements,
         strides_and_neighbours, windows, branches, left_early, weights, rows, steps]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_forms_stay_loops(form, rng):
    x, y = rng.random((2, 239))
    expected = form(x, y)
    program = pk.jit(form)
    text = program.lower(x, y).as_text("kern")
    assert "scf.for" in text or "scf.while" in text
    assert len(text.splitlines()) < 900  # there are no copies
    found = program(x, y)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("length", [0, 1, 2, 17])
def test_few_iterations_are_copied(length, rng):
    def sums(x):
        s = 0.0
        for i, v in enumerate(reversed(x)):
            s = s * 0.5 + i * v
        return x + s

    x = rng.random(length)
    np.testing.assert_allclose(pk.jit(sums)(x), sums(x), rtol=1e-12)


def test_integers_that_may_be_too_large_are_copied():
    """The integers of Python have no end, and those of the run time do."""

    def doubled(x):
        k = 1
        for _ in range(200):
            k = (k * 2) % 1000003
        return x + k

    x = np.zeros(3)
    np.testing.assert_array_equal(pk.jit(doubled)(x), doubled(x))


def test_outside_of_the_array_is_an_error():
    def beyond(x):
        s = 0.0
        for i in range(300):
            k = 2 * i + 1
            s += x[k]
        return s

    assert pk.jit(beyond)(np.ones(600)) == 300
    with pytest.raises(KernelError, match="index 599 is outside"):
        pk.jit(beyond)(np.ones(599))


def test_gradients_of_rows(rng):
    def squares(x):
        s = 0.0
        for i, row in enumerate(x):
            s += (row * row).sum() * (0.5 if i % 2 else 1.0)
        return s

    x = rng.random((201, 3))
    factor = np.where(np.arange(201) % 2, 0.5, 1.0)[:, None]
    np.testing.assert_allclose(pk.grad(pk.jit(squares))(x), 2 * factor * x, rtol=1e-12)
