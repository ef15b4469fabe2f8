"""Branches that read: the bits of the reference device, also where the branch guards what lies outside of an array."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def pulls(a, p):
    i = pk.index()
    x, y = pk.f32(0), pk.f32(0)
    for j in range(p.shape[0]):
        if j != i:
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            w = 1 / pk.sqrt(abs(dx) + abs(dy))
            x += w
            y = max(y, w - dy)
    a[i, 0] = x
    a[i, 1] = y


@pk.kernel
def third_column_of_some(o, p, wanted):
    i = pk.index()
    s = pk.f32(0)
    for j in range(p.shape[0]):
        if wanted[i] > j:
            s += pk.sqrt(abs(p[j, 2] - p[i, 0]))
    o[i] = s


@pk.kernel
def weights_of_what_is_positive(o, x, w):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        if x[i, j] > 0:
            s += w[i, j]
    o[i] = s


@pk.kernel
def changes_of_sign(o, x, w):
    i = pk.index()
    o[i] = 0
    s = pk.f32(0)
    for j in range(1, x.shape[1]):
        if (x[i, j - 1] > 0 and x[i, j] <= 0) or (x[i, j - 1] <= 0 and x[i, j] > 0):
            o[i] += 1
        if w[i, j] > 0:
            s += w[i, j]
    o[i] += s


@pk.kernel
def of_both_sides(o, x, w):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        if x[j, i] > 0:
            s += pk.sqrt(abs(w[j, i]))
        else:
            s -= x[j, i]
    o[i] = s


@pk.kernel
def neighbour(o, x):
    """The branch keeps the index within the array."""
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        s += x[j, i - 1] if i > 0 else x[j, i]
    o[i] = s


@pk.kernel
def changed_on_the_way(o, x):
    """The loop writes what the branch reads."""
    i = pk.index()
    for j in range(o.shape[1]):
        if x[j] > i:
            o[i, j] = o[i, 0] + pk.sqrt(x[j])
        else:
            o[i, 0] = x[j]


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 70])
def test_pulls(count):
    p = np.random.default_rng(count).standard_normal((count, 3)).astype(np.float32)
    assert_as_reference(pulls, [np.zeros((count, 2), np.float32)], [p], count)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("count", [5, 40])
def test_a_column_that_need_not_be_there(columns, count):
    p = np.random.default_rng(count).standard_normal((count, columns)).astype(np.float32)
    wanted = np.arange(count) if columns == 3 else np.zeros(count, int)
    assert_as_reference(
        third_column_of_some, [np.zeros(count, np.float32)], [p, wanted.astype(np.float32)], count
    )


def test_fewer_rows_than_work_items():
    """Work-items beyond the array take no branch."""
    p = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)
    wanted = np.where(np.arange(40) < 8, 5, 0).astype(np.float32)
    assert_as_reference(third_column_of_some, [np.zeros(40, np.float32)], [p, wanted], 40)


@pytest.mark.parametrize("kernel", [weights_of_what_is_positive, of_both_sides])
@pytest.mark.parametrize("shape", [(33, 33), (70, 70)], ids=str)
def test_other_arrays(kernel, shape):
    drawn = np.random.default_rng(2)
    x, w = (drawn.standard_normal(shape).astype(np.float32) for _ in range(2))
    x[0, :5] = np.nan, np.inf, -0.0, 0.0, -np.inf
    assert_as_reference(kernel, [np.zeros(shape[0], np.float32)], [x, w], shape[0])
    assert_as_reference(kernel, [np.zeros(9, np.float32)], [x, w[:9, :9] if shape[0] < 9 else w], 9)


def test_sums_under_conditions():
    """Branches in branches, and sums that grow or stay, of more rows than run at a time."""
    x, w = (np.random.default_rng(5).standard_normal((11, 21)).astype(np.float32) for _ in range(2))
    x[0, :5] = np.nan, np.inf, -0.0, 0.0, -np.inf
    assert_as_reference(changes_of_sign, [np.zeros(11, np.float32)], [x, w], 11)


def test_where_the_branch_guards():
    x = np.random.default_rng(3).standard_normal((7, 40)).astype(np.float32)
    assert_as_reference(neighbour, [np.zeros(40, np.float32)], [x], 40)
    o = np.random.default_rng(4).standard_normal((12, 40)).astype(np.float32)
    assert_as_reference(changed_on_the_way, [o], [np.arange(40, dtype=np.float32) / 3], 12)


def test_what_is_read_before():
    p, o = np.zeros((40, 3), np.float32), np.zeros((40, 2), np.float32)
    assert "scf.if" in pulls.lower(o, p, ndrange=40).as_text("kern-speculate-loads").split("scf.for")[0]
    x, out = np.zeros((40, 40), np.float32), np.zeros(40, np.float32)
    text = neighbour.lower(out, x, ndrange=40).as_text("kern-speculate-loads")
    assert "scf.if" not in text.split("scf.for")[0]
