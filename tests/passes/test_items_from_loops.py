"""A work-item's own loops that become loops over work-items: the bits of the reference device, also where none may."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def rows_of_distances(o, a, b):
    i = pk.index()
    for j in range(o.shape[1]):
        s = pk.f32(0)
        for k in range(a.shape[1]):
            s += abs(a[i, k] - b[k, j])
        o[i, j] = s


@pk.kernel
def in_two_dimensions(o, a, b):
    """Both loops are independent; the inner one starts further to the right in each row."""
    c = pk.index()
    for i in range(o.shape[0]):
        for j in range(c, o.shape[1]):
            s = pk.f32(0)
            for k in range(a.shape[1]):
                s += abs(a[i, k] - b[k, j])
            o[i, j] = s + pk.f32(c)


@pk.kernel
def from_the_one_before(o, a, b):
    i = pk.index()
    for j in range(1, o.shape[1]):
        s = o[i, j - 1]
        for k in range(a.shape[1]):
            s += abs(a[i, k] - b[k, j])
        o[i, j] = s


@pk.kernel
def into_one_cell(o, a, b):
    """The last column wins."""
    i = pk.index()
    for j in range(b.shape[1]):
        s = pk.f32(0)
        for k in range(a.shape[1]):
            s += abs(a[i, k] - b[k, j])
        o[i, j // 2] = s


@pk.kernel
def edges_of_rows(o, a, b):
    i = pk.index()
    for j in range(o.shape[1]):
        o[i, j] = a[i, max(j - 1, 0)] + b[min(i, b.shape[0] - 1), min(j + 1, o.shape[1] - 1)]


@pk.kernel
def by_way_of_the_row(o, a, b):
    """All cells of a row are read in each iteration."""
    i = pk.index()
    for j in range(o.shape[1]):
        s = b[0, j]
        for k in range(o.shape[1]):
            s += abs(a[i, 0] - o[i, k])
        o[i, j] = s


KERNELS = [rows_of_distances, from_the_one_before, into_one_cell, edges_of_rows, by_way_of_the_row]


@pytest.mark.parametrize("columns", [0, 1, 3, 15, 16, 37, 70])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_own_loops(kernel, columns, rng):
    o = rng.random((5, columns), dtype=np.float32)
    a, b = (
        rng.random((5, max(columns, 7)), dtype=np.float32),
        rng.random((max(columns, 7), columns), dtype=np.float32),
    )
    if kernel is edges_of_rows and not columns:
        pytest.skip("there is no nearest element")
    assert_as_reference(kernel, [o], [a, b], 5)


@pytest.mark.parametrize("columns", [1, 20, 45])
def test_two_loops(columns, rng):
    o = rng.random((9, columns), dtype=np.float32)
    a, b = rng.random((9, 6), dtype=np.float32), rng.random((6, columns), dtype=np.float32)
    assert_as_reference(in_two_dimensions, [o], [a, b], 1)
