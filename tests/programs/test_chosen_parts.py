"""Branches and loops decide which part of an array is meant: as plain Python does, on all devices."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.python_programs import leaves


def by_a_branch(a, x, y, k):
    w = x[:3] if k[0] > 0 else y[2:5]
    return w * 2, w.sum()


def a_row_or_an_array(a, x, y, k):
    w = a[1] if k[0] > 0 else y
    return w.sum(), w @ w, w[::-1]


def a_column_or_a_row(a, x, y, k):
    w = a[:5, 1] if k[0] > 0 else a[2, :5]
    return w + 1, w.sum()


def columns_in_a_product(a, x, y, k):
    w = a[:, :3] if k[0] > 0 else a[:, 2:5]
    return w @ w.T, w.max(axis=0)


def of_two_types(a, x, y, k):
    w = k[0] if x[0] > 0 else k[1] * 1.5
    return w + x


def kept_elsewhere(a, x, y, k):
    p, q = x[:3], y[2:5]
    w = p if k[0] > 0 else q
    return w * 2, p, q


def the_largest_row(a, x, y, k):
    w = a[0]
    for row in a:
        if row[0] > w[0]:
            w = row
    return w, w.sum()


def the_largest_element(a, x, y, k):
    w, at = x[0], 0
    for q in pk.range(7):
        if x[q] > w:
            w, at = x[q], q
    return w, at


def rows_in_a_while(a, x, y, k):
    w, q = a[0], 0
    while q < 4 and w[0] < 0.5:
        q += 1
        w = a[q]
    return w, q


def a_part_or_a_new_array(a, x, y, k):
    w = x[:3]
    for q in pk.range(4):
        w = x[q : q + 3] if w[0] > 0 else x[q : q + 3] * 2
    return w + 1


def sums_with_continue_and_break(a, x, y, k):
    total = k[0] * 0
    for q in range(7):
        if k[q] < 0:
            continue
        if k[q] == 8:
            break
        total += k[q]
    return total


FUNCTIONS = (
    by_a_branch, a_row_or_an_array, a_column_or_a_row, columns_in_a_product, of_two_types, kept_elsewhere,
    the_largest_row, the_largest_element, rows_in_a_while, a_part_or_a_new_array, sums_with_continue_and_break,
)  # fmt: skip


@pytest.mark.sweep("function", "device")
@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize("function", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_chosen_parts(rng, device, function):
    program = pk.jit(function)
    a, x, y = rng.standard_normal((5, 7)), rng.standard_normal(7), rng.standard_normal(7)
    for first in (-3, 3):
        k = np.array([first, 1, -1, 2, 8, 4, 5], np.int32)
        found = leaves(program(*(pk.asarray(v, device=device) for v in (a, x, y, k))))
        for have, want in zip(found, leaves(function(a, x, y, k)), strict=True):
            have = have.numpy() if isinstance(have, pk.Array) else have
            assert np.shape(have) == np.shape(want)
            np.testing.assert_allclose(have, want, rtol=1e-12, atol=1e-13)


def test_derivative_of_a_chosen_part(rng):
    def f(a, x, k):
        w = a[1] if k[0] > 0 else x
        return (w * w * w).sum()

    for first in (-1, 1):
        a, x, k = rng.standard_normal((5, 7)), rng.standard_normal(7), np.array([first])
        da, dx = pk.grad(f, argnums=(0, 1))(a, x, k)
        expected = np.zeros((5, 7)), np.zeros(7)
        if first > 0:
            expected[0][1] = 3 * a[1] ** 2
        else:
            expected[1][:] = 3 * x**2
        np.testing.assert_allclose(da, expected[0], rtol=1e-12)
        np.testing.assert_allclose(dx, expected[1], rtol=1e-12)
