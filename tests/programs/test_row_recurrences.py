"""Loops over the rows of an array that read other rows of it: against the same functions on NumPy's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def running_sum(x):
    o = np.empty_like(x)
    o[0] = x[0]
    for i in range(1, x.shape[0]):
        o[i] = o[i - 1] + x[i]
    return o


def updated(x):
    o = x + 0.0
    for i in range(1, x.shape[0]):
        o[i] += 0.5 * o[i - 1]
    return o


def backwards(x):
    o = x * 2.0
    for i in range(x.shape[0] - 2, -1, -1):
        o[i] = o[i + 1] * 0.5 + x[i]
    return o


def two_before(x):
    o = x * 1.0
    for i in range(2, x.shape[0]):
        o[i] = 0.5 * o[i - 1] - 0.25 * o[i - 2] + x[i]
    return o


def overlapping(x):
    """Rows i - 1 to i are read where row i is written."""
    o = x * 1.0
    for i in range(1, x.shape[0] - 1):
        o[i] = o[i - 1 : i + 1].sum(axis=0) - x[i + 1]
    return o


def exchanged(x):
    o = x * 1.0
    for i in range(1, x.shape[0]):
        above = o[i - 1].copy()
        o[i - 1] = o[i]
        o[i] = above
    return o


def columns(x):
    o = x * 1.0
    for j in range(1, x.shape[1]):
        o[1:, j] = 0.5 * o[:-1, j - 1] + o[1:, j]
    return o


PROGRAMS = [running_sum, updated, backwards, two_before, overlapping, exchanged, columns]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_rows_of_other_rows(function, rng):
    program = pk.jit(function)
    for shape in [(400, 17), (7, 33), (3, 1)]:
        x = rng.random(shape)
        np.testing.assert_allclose(program(x), function(x), rtol=1e-12)
