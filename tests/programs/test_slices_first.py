"""Slices of what is computed element by element: against the same functions on NumPy's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def widened(x, y):
    z = x.astype(np.float64)
    return z[1:] - z[:-1], z[:, ::3] * 2


def broadcast(x, y):
    z = x * y[0] - 1
    return z[2:, 1::2].sum(axis=1) + z[:-2, ::2][:, : z[:, 1::2].shape[1]].max(axis=1), z[0] + z[-1]


def chained(x, y):
    """Slices of slices of slices, of which only the last are results."""
    lap = 4 * x[1:-1, 1:-1] - x[2:, 1:-1] - x[:-2, 1:-1] - x[1:-1, 2:] - x[1:-1, :-2]
    along = lap[:, 1:] - lap[:, :-1]
    along = np.where(along * (x[1:-1, 2:-1] - x[1:-1, 1:-2]) > 0, 0.0, along)
    return along[:, 1:] - along[:, :-1]


def backwards(x, y):
    z = np.abs(x + y)
    return z[::-1] - z[:, ::-1] * 0.5


def integers(x, y):
    z = (100 * x).astype(np.int32)
    return z[:, ::2].sum(axis=1) + z[:, 1::2].sum(axis=1)


def of_a_product(x, y):
    """A product, and what is added to it: they stay together."""
    z = x @ y.T + y[:, 0]
    return np.maximum(z[:, 1:], 0) - z[:, :-1]


def looped(x, y):
    """In a loop whose arrays change."""
    for _ in range(3):
        z = x - y
        x[1:] = z[1:] + z[:-1]
    return x


PROGRAMS = [widened, broadcast, chained, backwards, integers, of_a_product, looped]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(13, 29), (5, 5), (6, 40)])
def test_slices(function, shape, rng):
    x, y = rng.standard_normal((2, *shape))
    expected = function(x.copy(), y)
    found = pk.jit(function)(x.copy(), y)
    many = isinstance(expected, tuple)
    for one, other in zip(found if many else (found,), expected if many else (expected,), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
