"""What names mean after a loop or a branch was left: as in Python, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def first_above(out, x, bound):
    i = pk.index()
    j = -1
    for j in range(x.shape[1]):
        if x[i, j] > bound:
            break
    out[i] = j


@pk.kernel
def unrolled_search(out, x, bound):
    i = pk.index()
    k = 7
    for k in pk.unroll(range(4)):
        if x[i, k] > bound:
            break
    out[i] = k


@pk.kernel
def returning_branch(out, x):
    i = pk.index()
    if x[i] < 0:
        out[i] = -1
        return
    else:  # noqa: RET505 - the form under test
        scale = 2.0
    out[i] = x[i] * scale


def search(row: np.ndarray, bound: float, start: int) -> int:
    for start in range(len(row)):
        if row[start] > bound:
            break
    return start


@pytest.mark.parametrize("columns", [0, 1, 4, 7])
def test_target_keeps_the_value_it_had_when_the_loop_was_left(device, columns):
    x = np.random.default_rng(columns).random((9, columns))
    out = np.zeros(9, np.int64)
    first_above(out, x, 0.6, ndrange=9, device=device)
    assert out.tolist() == [search(row, 0.6, -1) for row in x]


def test_target_of_an_unrolled_loop(device):
    x = np.random.default_rng(4).random((9, 4))
    out = np.zeros(9, np.int64)
    unrolled_search(out, x, 0.6, ndrange=9, device=device)
    assert out.tolist() == [search(row, 0.6, 7) for row in x]


def test_name_of_the_branch_that_stays(device):
    x = np.random.default_rng(5).standard_normal(33)
    out = np.zeros(33)
    returning_branch(out, x, ndrange=33, device=device)
    np.testing.assert_array_equal(out, np.where(x < 0, -1, 2 * x))


@pk.func
def returns_in_no_copy(i, n):
    for _ in range(n):
        for _ in pk.unroll(range(0)):
            if n > 1:
                return 5
    else:
        if i % 3 < 1:
            return 7
    return 9 + n


@pk.kernel
def calls_it(out, n):
    i = pk.index()
    out[i] = returns_in_no_copy(i, n)


def test_a_return_after_a_loop_whose_return_was_unrolled_away(device):
    """The value of a return was lost where a loop before had a return that no copy of its body held."""
    out = np.zeros(9, np.int64)
    calls_it(out, 3, ndrange=9, device=device)
    assert out.tolist() == [returns_in_no_copy(i, 3) for i in range(9)]
