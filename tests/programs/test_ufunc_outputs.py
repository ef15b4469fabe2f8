"""`out` and `where` of NumPy's functions of elements: what is written, and what keeps its value."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def into_zeros(x, y, z):
    made = np.zeros_like(x)
    np.divide(x, y, out=made, where=y > 0.3)
    return made


def of_columns(x, y, z):
    table = np.ones((5, 3))
    np.subtract(x[:, None], y[:3], out=table, where=(x > 0.5)[:, None])
    return table.sum(where=table > 0), table


def behind_operands(x, y, z):
    np.multiply(x, y, x)
    np.exp(x, y)
    return np.minimum(x, 0.5, out=x)


def into_a_view(x, y, z):
    np.add(x[:3], y[:3], x[1:4], where=y[:3] > 0.5)
    return x


def complex_arrays(x, y, z):
    np.multiply(z, z, z)
    np.add(z, 1j, z, where=x > 0.5)
    np.add(x[:2], 1, out=z[:2])
    return np.abs(z, out=x)


def bools(x, y, z):
    return np.logical_and(x > 0, x < 0.5, where=y > 0.5, out=np.ones(x.shape, bool))


@pytest.mark.parametrize(
    "function", [into_zeros, of_columns, behind_operands, into_a_view, complex_arrays, bools]
)
def test_as_numpy(function, rng):
    given = rng.random(5), rng.random(5), rng.random(5) + 1j * rng.random(5)
    theirs, ours = [x.copy() for x in given], [x.copy() for x in given]
    expected = function(*theirs)
    found = pk.jit(function)(*ours)
    for one, other in zip([*_leaves(found), *ours], [*_leaves(expected), *theirs], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
        assert np.result_type(one) == np.result_type(other)


def _leaves(value):
    return value if isinstance(value, tuple) else (value,)


def without_an_array(x, m):
    return np.sqrt(x, where=x > 0)


def by_integers(x, m):
    return np.sqrt(x, out=x, where=m)


def into_reals(x, m):
    return np.sqrt(x + 1j, out=x)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (without_an_array, "the other elements of the result have no value"),
        (by_integers, "`where` is a mask of bools"),
        (into_reals, "the result is complex, and `out` is array `x`"),
    ],
)
def test_refused(function, reason):
    with pytest.raises(pk.KernelError, match=reason):
        pk.jit(function)(np.ones(3), np.ones(3, int))


@pk.kernel
def largest_of_three(o, x, y):
    i = pk.index()
    o[i] = np.maximum(x[i], y[i], 0.5)


def test_a_kernel_has_nothing_to_write_into():
    """NumPy's third argument is the output; ``pk.maximum`` takes more numbers."""
    with pytest.raises(pk.KernelError, match="`maximum` takes two numbers"):
        largest_of_three(np.ones(3), np.ones(3), np.ones(3), ndrange=3)
