"""Sums that all work-items of a row share: the bits of the reference device, and what empty launches read."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def normalised(o, x):
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    o[i, j] = x[i, j] / total


@pk.kernel
def centred(o, x):
    """One number for all work-items, a count beside it, and a loop in the loop."""
    i = pk.index()
    total, count = x.dtype(0), 0
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            if x[a, b] > 0:
                total += x[a, b]
                count += 1
    o[i] = x[i, 0] - total / max(count, 1)


@pk.kernel
def own_array(x, o):
    """What is summed is written by other work-items: nothing may be moved, and one work-item tells."""
    i = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[0]):
        total += x[k]
    o[i] = total
    x[i] = total


@pk.kernel
def behind_a_guard(o, x):
    i, j = pk.index()
    if i < x.shape[0] and j < o.shape[1] - 3:
        total = x.dtype(0)
        for k in range(x.shape[1]):
            total += x[i, k]
        o[i, j] = total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (40, 7)])
def test_as_the_reference(rng, shape, dtype):
    x = rng.standard_normal(shape).astype(dtype)
    assert_as_reference(normalised, [np.zeros(shape, dtype)], [x], shape)
    assert_as_reference(centred, [np.zeros(shape[0], dtype)], [x], shape[0])
    assert_as_reference(behind_a_guard, [np.ones((shape[0] + 2, 9), dtype)], [x], (shape[0] + 2, 9))
    assert_as_reference(own_array, [x[:, 0].copy(), np.zeros(1, dtype)], [], 1)


def test_what_no_work_item_reads_is_not_read():
    """There are rows behind the array, but no work-item asks for their sums."""
    x = np.ones((2, 5), np.float32)
    o = np.ones((60000, 3), np.float32)
    behind_a_guard(o, x, ndrange=o.shape)
    np.testing.assert_array_equal(o, 1)


def test_it_runs_once_a_row():
    x = np.zeros((40, 40), np.float32)
    stages = normalised.lower(x, x.copy(), ndrange=x.shape).stages
    before, behind = (
        next(s.text for s in stages if s.name == name)
        for name in ("kern-carry-selected-loads", "kern-hoist-sums")
    )
    assert behind.count("scf.if") == before.count("scf.if") + 1
