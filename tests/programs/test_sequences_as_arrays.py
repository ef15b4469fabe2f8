"""Tuples and lists of numbers beside arrays: arrays, as for NumPy's operators and functions."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def operators(v):
    return (
        v == (1, 0, 1),
        v + [1, 2, 3],
        [1.5, 2, 3] * v,
        v > (1, 2, 3),
        v - (1, 2, 3),
        ((1, 2), (3, 4)) * v[:2],
    )


def functions(v):
    return (
        np.bitwise_and((1, 0, 1), v),
        np.maximum([1, 2, 3], v),
        np.where(v > 0, (1, 2, 3), 0),
        np.sqrt((1, 4, 9)) + v,
        np.power(v, [1, 2, 3]),
        np.clip(v, (0, 0, 0), (1, 1, 1)),
        divmod(v, (1, 2, 3))[1],
    )


def products(v):
    return (
        np.dot(v, [1, 2, 3]),
        v @ (1, 2, 3),
        v.dot((1, 2, 3)),
        (v == (1, 0, 1)).all(),
        np.multiply.outer((1, 2), v),
    )


def stores(v):
    w = v * 2
    w[[0, 2]] = [v[1], 7]
    w += (1, 2, 3)
    return w


@pytest.mark.parametrize("function", [operators, functions, products, stores])
def test_as_numpy(function):
    v = np.array([1, 0, 4])
    found, wanted = pk.jit(function)(v), function(v)
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)
        assert np.asarray(one).dtype == np.asarray(other).dtype


def test_lengths_that_differ_are_refused():
    with pytest.raises(pk.KernelTypeError, match="the shapes do not fit together"):
        pk.jit(lambda v: v + (1, 2))(np.ones(3))
