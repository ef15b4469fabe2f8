"""Ranges whose step only the launch knows: of either sign, of any size, and zero."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import AssertionFailed

MOST, LEAST = 2**63 - 1, -(2**63)


def count(o, start, stop, step):
    o[1] = -1
    for j in range(start, stop, step):
        o[0] += 1
        o[1] = j


def left_early(o, start, stop, step):
    o[1] = -1
    for j in range(start, stop, step):
        if o[0] == 100:
            break
        o[0] += 1
        o[1] = j


@pytest.mark.parametrize("function", [count, left_early])
@pytest.mark.parametrize(
    "bounds",
    [(0, 10, 3), (10, 0, -3), (0, 10, -3), (10, 0, 3), (0, 10, 2**62), (0, 10, MOST), (10, 0, LEAST), (0, 10, LEAST),
     (MOST - 5, MOST, 3), (MOST - 5, MOST, 4), (LEAST + 5, LEAST, -3), (0, MOST, 2**61), (-1, LEAST, -(2**61)),
     (5, 5, 1), (5, 5, -1)],
)  # fmt: skip
def test_as_pythons(function, bounds, device):
    o, items = np.zeros(2, np.int64), range(*bounds)
    pk.kernel(function)(o, *bounds, ndrange=1, device=device)
    assert o.tolist() == [len(items), items[-1] if items else -1]


@pytest.mark.parametrize("function", [count, left_early])
def test_a_step_of_zero_has_no_items(function, device):
    o = np.zeros(2, np.int64)
    for start, stop in ((0, 10), (10, 0), (5, 5)):
        pk.kernel(function)(o, start, stop, 0, ndrange=1, device=device)
        assert o.tolist() == [0, -1]
    with pytest.raises(AssertionFailed, match="the step of a range is zero") as caught:
        pk.kernel(function, debug=True)(o, 0, 10, 0, ndrange=1, device=device)
    assert "for j in range(start, stop, step):" in str(caught.value)


@pk.kernel
def written(o, n):
    for j in range(0, n, 0):
        o[0] = j


def test_a_step_of_zero_that_is_written_is_refused(device):
    with pytest.raises(pk.KernelTypeError, match="the step of a range is not zero"):
        written(np.zeros(2, np.int64), 3, ndrange=1, device=device)


@pk.kernel
def of_floats(o, x):
    for j in range(x[0] % 5):
        o[0] = j


def test_floats_are_refused(device):
    with pytest.raises(pk.KernelTypeError, match="range takes integers, not f64"):
        of_floats(np.zeros(2, np.int64), np.ones(2), ndrange=1, device=device)
