"""Lists to which long loops append: as Python's, and the loop stays one wherever nobody could tell."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

STEPS = 200


def states(x):
    out = []
    for _ in range(STEPS):
        x = np.tanh(x * 1.1)
        out.append(x)
    return np.array(out), np.stack(out, axis=1), len(out), out[3], out[-1]


def numbers(x):
    out, total = [], 0.0
    for t in range(STEPS):
        total = total + x[0] * t
        out.append(total)
    return np.array(out), np.mean(out), total


def copies_of_one_array(x):
    out = [x * 2]
    for _ in range(STEPS):
        x += 1
        out.append(x.copy())
    return np.stack(out)


def tuples(x):
    out = []
    for t in range(3, 2 * STEPS, 2):
        v = x * t
        out.append((v.sum(), t * 1.0, v))
    return out[5], np.array([item[0] for item in out]), out[-1][2]


def rows_of_an_array(x):
    out, seen = [], []
    for row in np.outer(np.arange(STEPS * 1.0), x):
        out.append(row.sum())
        seen.append(row * 1j)
    return sum(out), max(out), np.array(out), np.array(seen)


STAY = [states, numbers, copies_of_one_array, tuples, rows_of_an_array]


def the_same_array(x):
    out = []
    for _ in range(60):
        x += 1
        out.append(x)
    return np.array(out)


def written_afterwards(x):
    out = []
    for t in range(60):
        v = x * t
        out.append(v)
        v += 1
    return np.array(out)


def read_in_the_loop(x):
    out = [x]
    for t in range(60):
        out.append(out[-1] * 0.5 + t)
    return np.array(out)


def of_two_kinds(x):
    out = []
    for t in range(60):
        out.append(x[0] if t < 1 else x[0] > t)
    return np.array(out)


def items_and_names_written_behind_the_loop(x):
    out, other = [], []
    for t in range(32):
        x = np.sin(x * 0.5 + t) * 0.5 - x * 0.25 + 1
        out.append(x)
        other.append(x)
    out[3][0] = 9.0
    x[1] = 5.0
    return np.array(out), np.array(other), x


def a_view_of_an_array_that_is_written(x):
    out, y = [], x.copy()
    for t in range(32):
        out.append(y[:2])
        y[0] = np.sin(y[0] * 0.5 + t) * 0.5 - y[1] * 0.25 + 1
    return np.array(out)


def written_by_the_next_iteration(x):
    out = []
    for t in range(32):
        x[0] += np.sin(x[1] * 0.5 + t) * 0.5
        x = x * 0.5 + np.cos(x)
        out.append(x)
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        items_and_names_written_behind_the_loop,
        a_view_of_an_array_that_is_written,
        written_by_the_next_iteration,
    ],
)
def test_items_are_the_arrays_that_were_appended(function, rng):
    test_as_python(function, rng)


def test_items_that_are_views_show_what_is_written(rng):
    def views(x):
        out, y = [], x.copy()
        for _ in range(2):
            out.append(y[:2])
            y[0] = y[0] * 0.5 + 1
        return np.array(out)

    test_as_python(views, rng)


@pytest.mark.parametrize(
    "function", [*STAY, the_same_array, written_afterwards, read_in_the_loop, of_two_kinds]
)
def test_as_python(function, rng):
    x = rng.random(3)
    mine, theirs = x.copy(), x.copy()
    found, expected = pk.jit(function)(mine), function(theirs)
    np.testing.assert_array_equal(mine, theirs)
    for one, other in zip(_leaves(found), _leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
        assert np.result_type(one) == np.result_type(other)


def _leaves(value):
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("function", STAY)
def test_the_loop_stays(function):
    text = pk.jit(function).lower(pk.spec((3,), pk.f64)).as_text("program")
    assert text.count("scf.for") == 1 and len(text) < 1000 * STEPS


def test_gradient(rng):
    @pk.jit
    def loss(x):
        out = []
        for _ in range(64):
            x = np.sin(x) * 1.01
            out.append(x.sum())
        return np.array(out).sum()

    x = rng.random(3)
    step = 1e-6 * np.eye(3)
    plain = loss.__wrapped__
    np.testing.assert_allclose(
        pk.grad(loss)(x), [(plain(x + d) - plain(x - d)) / 2e-6 for d in step], rtol=1e-6
    )
