"""Slices whose lengths a loop decides: the loop stays one, with the results that NumPy has."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def solved_forwards(a, b):
    x = np.zeros_like(b)
    for i in range(a.shape[0]):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def solved_backwards(a, b):
    x = np.zeros_like(b)
    n = len(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return x


def eliminated(a, b):
    a = a.copy()
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k][:, None] * a[k, k + 1 :][None]
    return a


def eliminated_row_by_row(a, b):
    a, b = a.copy(), b.copy()
    for k in range(a.shape[0] - 1):
        for i in range(k + 1, a.shape[0]):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    return b


def by_columns(a, b):
    a = a.copy()
    for j in range(a.shape[0]):
        a[j, j] = np.sqrt(a[j, j] - np.sum(a[j, :j] ** 2))
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    return a


def by_elements(a, b):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return a


def moved_in_itself(a, b):
    x = b.copy()
    for i in range(1, len(x)):
        x[1 : i + 1] = x[:i] * 0.5 + x[1 : i + 1]
    return x


def means_and_traces(a, b):
    o = np.zeros_like(b)
    for i in range(len(b)):
        o[i] = b[: i + 1].mean() + (a[i, : i + 1] * a[: i + 1, i]).sum()
    return o


def triangles(a, b):
    o = np.zeros_like(a)
    for i in range(a.shape[0]):
        o[i, :i] = np.exp(-a[i, :i]) * b[:i] + b[i]
        o[i:, i] += a[i, i:] * 2
        if b[i] > 0.5:
            o[:i, i] = b[i] - o[:i, i].T
    return o


def squares_of_corners(a, b):
    o = np.zeros_like(b)
    for i in range(1, len(b)):
        o[:i] += a[:i, :i] @ b[:i] - a[:i, -1]
    return o


@pytest.mark.parametrize(
    "function",
    [solved_forwards, solved_backwards, eliminated, eliminated_row_by_row, by_columns, by_elements, moved_in_itself,
     means_and_traces, triangles, squares_of_corners],
)  # fmt: skip
def test_loops_with_slices_of_changing_length(rng, function):
    n = 61
    a = rng.random((n, n)) + n * np.eye(n)
    a, b = (a + a.T) / 2, rng.random(n)
    expected = function(a, b)
    program = pk.jit(function)
    text = program.lower(a, b).as_text("kern")
    assert "scf.for" in text and text.count("\n") < 400  # each copy would have lines of its own
    np.testing.assert_allclose(program(a, b), expected, rtol=1e-9, atol=1e-9)


def test_bounds_that_reach_beyond_an_array_are_those_of_python():
    def lasts(x):
        o = np.zeros_like(x)
        for i in range(60):
            o[i] = x[i - 4 :].sum()  # from behind, where i is below 4
        return o

    x = np.arange(60.0)
    np.testing.assert_allclose(pk.jit(lasts)(x), lasts(x))


def test_elements_that_are_read_and_written_through_other_views(rng):
    def reversed_into(x):
        y = x[::-1]
        for k in range(1, 60):
            y[:k] = x[:k] * 0.5 + 1

    mine = rng.random(61)
    theirs = mine.copy()
    pk.jit(reversed_into)(mine)
    reversed_into(theirs)
    np.testing.assert_allclose(mine, theirs, rtol=1e-13)


def test_derivative(rng):
    @pk.jit
    def loss(a, b):
        x = np.zeros_like(b)
        for i in range(a.shape[0]):
            x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
        return (x**2).sum()

    n = 50
    a, b = np.tril(rng.random((n, n))) / n + np.eye(n), rng.random(n)
    found = pk.grad(loss)(a, b)
    found = found[0] if isinstance(found, tuple) else found
    for place in ((5, 2), (20, 20), (49, 0), (3, 40)):
        step = np.zeros_like(a)
        step[place] = 1e-6
        slope = (loss(a + step, b) - loss(a - step, b)) / 2e-6
        np.testing.assert_allclose(found[place], slope, rtol=1e-5, atol=1e-8)
