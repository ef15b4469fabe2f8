"""kern-raise-to-linalg: what is not proved is refused with its line, and the module stays as it was.

The regression cases come from reports on other systems: there they gave wrong numbers or crashed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mlir import ir

import pykern as pk
from pykern.dialect.context import new_context
from pykern.errors import NotRaisable
from pykern.passes.raise_to_linalg.raise_to_linalg import RaiseToLinalg, raisable
from tests.cases.raised import check, kern_text_with_locations
from tests.passes.test_raise_kernels import real, whole


def refusal(kernel: Any, args: tuple, ndrange: Any, noalias: bool = True) -> NotRaisable:
    """The refusal, from the question and from the pass; the module is unchanged."""
    text = kern_text_with_locations(kernel, args, ndrange, noalias)
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        before = str(module)
        reason = raisable(module)
        assert reason is not None
        with pytest.raises(NotRaisable) as raised:
            RaiseToLinalg().run(module)
        assert str(module) == before
        assert raised.value.reason == reason.reason
        return reason


def line_of(error: NotRaisable) -> str:
    assert error.span is not None
    with open(error.span.file) as file:
        return file.read().splitlines()[error.span.line - 1].strip()


@pk.kernel
def same_cell(y, x):
    i = pk.index()
    y[0] = x[i]


@pk.kernel
def neighbour(x):
    i = pk.index()
    x[i] = x[i + 1]


@pk.kernel
def folded(y, x):
    i = pk.index()
    y[i // 2] = x[i]


@pk.kernel
def scattered(y, x, index):
    i = pk.index()
    y[index[i]] = x[i]


@pk.kernel
def row_of_the_other(y, x):
    i, j = pk.index()
    y[i] = x[i, j]


@pk.kernel
def two_places(y, x):
    i = pk.index()
    y[i] = x[i]
    y[i + 2] = x[i]


@pytest.mark.parametrize(
    ("kernel", "args", "ndrange", "line"),
    [
        (same_cell, (real(1), real(9)), 9, "y[0] = x[i]"),
        (neighbour, (real(9),), 8, "x[i] = x[i + 1]"),
        (folded, (real(9), real(9)), 9, "y[i // 2] = x[i]"),
        (scattered, (real(9), real(9), whole(9)), 9, "y[index[i]] = x[i]"),
        (row_of_the_other, (real(9), real(9, 2)), (9, 2), "y[i] = x[i, j]"),
        (two_places, (real(9), real(9)), 7, "y[i] = x[i]"),
    ],
)
def test_races(kernel, args, ndrange, line):
    error = refusal(kernel, args, ndrange)
    assert "their order would matter" in error.reason
    assert line_of(error) == line
    assert error.hint


def test_neighbours_that_are_apart_are_no_race():
    @pk.kernel
    def pairs(y, x):
        i = pk.index()
        y[2 * i] = x[i]
        y[2 * i + 1] = y[2 * i] * 2.0

    x = real(9)
    check(pairs, (real(18), x), 9, (np.stack([x, 2 * x], 1).ravel(), None))


def test_overlapping_arrays():
    @pk.kernel
    def triple(y, x):
        i = pk.index()
        y[i] = 3 * x[i]

    error = refusal(triple, (real(9), real(9)), 9, noalias=False)
    assert "overlap" in error.reason

    @pk.kernel
    def own(x):
        i = pk.index()
        x[i] = 3 * x[i]

    with new_context(), ir.Location.unknown():  # one array overlaps with nothing
        assert raisable(ir.Module.parse(kern_text_with_locations(own, (real(9),), 9, noalias=False))) is None


@pk.kernel
def with_barrier(y, x):
    i = pk.index()
    s = pk.shared(64, pk.f64)
    s[pk.local_index()] = x[i]
    pk.barrier()
    y[i] = s[0]


@pk.kernel
def unequal_barrier(y, x):
    i = pk.index()
    if i < 5:
        y[i] = x[i]
        pk.barrier()
    y[i] += 1.0


@pk.kernel
def with_print(y, x):
    i = pk.index()
    pk.print("x", x[i])
    y[i] = x[i]


@pk.kernel
def with_assert(y, x):
    i = pk.index()
    assert x[i] > 0
    y[i] = x[i]


@pk.kernel
def with_while(y, x):
    i = pk.index()
    v = x[i]
    while v > 1.0:
        v *= 0.5
    y[i] = v


@pk.kernel
def with_break(y, x):
    i = pk.index()
    for k in range(len(x)):
        if x[k] > 1.0:
            break
        y[i] += x[k]


@pk.kernel
def with_old_value(y, x):
    i = pk.index()
    y[i] = pk.atomic_add(x, 0, 1.0)


@pk.kernel
def with_exchange(y, x):
    i = pk.index()
    pk.atomic_exchange(y, 0, x[i])


@pk.kernel
def with_private(y, x):
    i = pk.index()
    p = pk.private(2, pk.f64)
    p[i % 2] = x[i]
    y[i] = p[0]


@pytest.mark.parametrize(
    ("kernel", "word"),
    [
        (with_barrier, "workgroup"),
        (unequal_barrier, "barrier"),
        (with_print, "print"),
        (with_assert, "assert"),
        (with_while, "while"),
        (with_break, "left early"),
        (with_old_value, "old value"),
        (with_exchange, "exchange"),
        (with_private, "private memory"),
    ],
)
def test_refused_by_name(kernel, word):
    error = refusal(kernel, (real(9), real(9)), 9)
    assert word in error.reason
    assert error.span is not None
    assert error.span.file == __file__


# -- reports on other systems -----------------------------------------------------------------------


def test_columns_that_are_added_to_are_not_frozen():
    """Loaded values stayed as they were before the loop, and the last `+=` won."""

    @pk.kernel
    def columns(out, x):
        i = pk.index()
        for j in range(x.shape[1]):
            out[i, 0] += x[i, j]
            out[i, 1] += out[i, 0] * x[i, j]
            out[i, 2] += out[i, 1]

    x, out = real(7, 5), real(7, 3)
    expected = out.copy()
    for j in range(5):
        expected[:, 0] += x[:, j]
        expected[:, 1] += expected[:, 0] * x[:, j]
        expected[:, 2] += expected[:, 1]
    check(columns, (out, x), 7, (expected, None))


def test_two_loops_that_add_at_looked_up_places():
    """`acc[i, idx[j]] += v` within two loops crashed."""

    @pk.kernel
    def spread(acc, idx, v):
        i = pk.index()
        for j in range(len(idx)):
            for k in range(2):
                acc[i, idx[j]] += v[i, j] * (k + 1)

    idx, v, acc = whole(5, low=0, high=3), real(7, 5), real(7, 3)
    expected = acc.copy()
    for j in range(5):
        expected[:, idx[j]] += 3 * v[:, j]
    check(spread, (acc, idx, v), 7, (expected, None, None))


def test_a_place_that_is_looked_up_and_changes():
    """The index array is written as well: its values are no proof of anything."""

    @pk.kernel
    def moving(y, p):
        i = pk.index()
        for k in range(3):
            y[i, p[i]] = k + 1.0
            p[i] = p[i] + 1

    y, p = real(7, 9), whole(7, low=0, high=5)
    expected = y.copy()
    for i in range(7):
        expected[i, p[i] : p[i] + 3] = [1, 2, 3]
    check(moving, (y, p), 7, (expected, p + 3))
