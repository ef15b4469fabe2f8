"""What two loops compute alike is kept in the result's row: the bits of the reference device, for any shape."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def softmax(o, x):
    i = pk.index()
    most = x[i, 0]
    for k in range(1, x.shape[1]):
        most = max(most, x[i, k])
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += pk.exp(x[i, k] - most)
    for k in range(x.shape[1]):
        o[i, k] = pk.exp(x[i, k] - most) / total


@pk.kernel
def rows(o, x):
    i = pk.index()
    e = np.exp(x[i] - x[i].max())
    o[i] = e / e.sum()


@pk.kernel
def down(o, x):
    j = pk.index()
    total = x.dtype(0)
    for i in range(x.shape[0]):
        total += pk.tanh(x[i, j])
    for i in range(x.shape[0]):
        o[i, j] = pk.tanh(x[i, j]) - total


@pk.kernel
def in_place(o, x):
    """What the second loop computes is of what the first one has changed."""
    i = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += pk.exp(o[i, k])
    for k in range(x.shape[1]):
        o[i, k] = pk.exp(o[i, k]) / total + x[i, k]


@pk.kernel
def backwards(o, x):
    """Each element is read in another iteration than the one that writes it."""
    i = pk.index()
    n = x.shape[1]
    total = x.dtype(0)
    for k in range(n):
        total += pk.exp(x[i, k])
    for k in range(n):
        o[i, n - 1 - k] = pk.exp(x[i, k]) / total


@pytest.mark.parametrize("kernel", [softmax, rows, down, in_place, backwards])
@pytest.mark.parametrize("shape", [(1, 1), (9, 3), (17, 70), (33, 16)])
def test_as_the_reference(rng, kernel, shape):
    x = rng.standard_normal(shape)
    x[0, -1] = np.inf if shape[1] == 70 else x[0, 0]
    out = rng.standard_normal(shape)
    count = shape[1] if kernel is down else shape[0]
    with np.errstate(all="ignore"):
        found, expected = out.copy(), out.copy()
        kernel(found, x, ndrange=count)
        kernel(expected, x, ndrange=count, device="python")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pk.kernel
def part(o, x):
    """The result may have fewer columns than what is added up."""
    i = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += pk.exp(x[i, k])
    for k in range(o.shape[1]):
        o[i, k] = pk.exp(x[i, k]) / total


@pk.kernel
def each(o, x):
    """The sum is in the work-items of a row."""
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += pk.exp(x[i, k])
    o[i, j] = pk.exp(x[i, j]) / total


@pytest.mark.parametrize("columns", [1, 5, 16, 33])
def test_rows_of_two_lengths(rng, columns):
    x = rng.standard_normal((19, 33))
    expected = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    for kernel, dimensions in ((part, 1), (each, 2)):
        room = np.full((21, columns + 2), 7.0)
        found = room[:19, :columns]
        kernel(found, x, ndrange=found.shape[:dimensions])
        np.testing.assert_allclose(found, expected[:, :columns], rtol=1e-12)
        assert (room[19:] == 7).all() and (room[:, columns:] == 7).all()


@pk.kernel
def counted(o, x):
    i = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += pk.sqrt(x[i, k])
    for k in range(x.shape[1]):
        o[i, k] = pk.sqrt(x[i, k]) + total


def test_guard_zones(rng):
    """Nothing outside of the row is written, also where it is not whole."""
    assert_as_reference(counted, [np.zeros((21, 37))], [rng.random((21, 37))], 21, step=2)


def test_it_is_computed_once():
    x = np.zeros((4, 40), np.float32)
    lowered = softmax.lower(x, x.copy(), ndrange=4)
    before, behind = (
        _exponentials(lowered, name) for name in ("kern-carry-selected-loads", "kern-keep-elements")
    )
    assert behind == before - 1


def _exponentials(lowered, name: str) -> int:
    return next(s.text for s in lowered.stages if s.name == name).count("math.exp ")
