"""Cells that loops of a work-item add to: rounded after each step, as in memory, bit by bit as the reference device."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference

FLOATS = ("float16", "bfloat16", "float32")
TYPES = (*FLOATS, "int8", "uint16", "int64")


def values(shape, dtype: str) -> np.ndarray:
    drawn = np.random.default_rng(7)
    if dtype in (*FLOATS, "float64"):
        x = drawn.standard_normal(shape) * 10.0 ** drawn.integers(-2, 3, shape)
        return x.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    return drawn.integers(0, 100, shape).astype(dtype)


@pk.kernel
def from_zero(o, x):
    i = pk.index()
    o[i] = 0
    for j in range(x.shape[1]):
        o[i] += x[i, j]


@pk.kernel
def onto_what_is_there(o, x):
    i = pk.index()
    for j in range(x.shape[1]):
        o[i] += x[i, j]


@pk.kernel
def columns(o, x):
    i = pk.index()
    for j in range(x.shape[0]):
        o[i] = o[i] * 2 + x[j, i]


@pk.kernel
def twice_an_iteration(o, x):
    i = pk.index()
    for j in range(x.shape[1]):
        o[i] += x[i, j]
        o[i] -= x[i, 0]


@pk.kernel
def in_a_branch(o, x):
    """The cell is its own before the loop; not every iteration adds to it."""
    i = pk.index()
    o[i] = x[i, 0]
    for j in range(x.shape[1]):
        if x[i, j] > x[i, 0]:
            o[i] += x[i, j]
        else:
            if j > 3:
                o[i] = x[i, j]


@pk.kernel
def in_a_branch_alone(o, x):
    """Nobody may write the cell where no iteration does: the loop stays."""
    i = pk.index()
    for j in range(x.shape[1]):
        if x[i, j] > x[i, 0]:
            o[i] += x[i, j]


@pk.kernel
def loop_in_a_loop(o, x):
    i = pk.index()
    o[i] = 1
    for k in range(3):
        o[i] += x[i, 0]
        for j in range(k, x.shape[1]):
            o[i] += x[i, j]


@pk.kernel
def before_and_behind(o, x):
    """Another loop reads what the first one left, and stores in between."""
    i = pk.index()
    o[i] = 0
    for j in range(x.shape[1]):
        o[i] += x[i, j]
    total = o[i]
    o[i] = x[i, 0]
    for j in range(x.shape[1]):
        o[i] += total - x[i, j]


ONE_CELL = (
    from_zero, onto_what_is_there, columns, twice_an_iteration, in_a_branch, in_a_branch_alone, loop_in_a_loop,
    before_and_behind,
)  # fmt: skip


@pytest.mark.parametrize("kernel", ONE_CELL, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("length", [1, 33])
def test_one_cell(kernel, dtype, length):
    x = values((40, length), dtype)
    count = length if kernel is columns else 40
    start = values((count,), dtype)
    assert_as_reference(kernel, [start], [x], count)


@pytest.mark.parametrize("kernel", [from_zero, onto_what_is_there])
def test_no_iteration(kernel):
    x = np.zeros((40, 3), np.float32)[:, :0]
    start = values((40,), "float32")
    (found,) = assert_as_reference(kernel, [start], [x], 40)
    np.testing.assert_array_equal(found, start if kernel is onto_what_is_there else 0)


@pytest.mark.parametrize("special", [np.nan, np.inf, -0.0])
def test_special_values(special):
    x = np.full((4, 9), special, np.float32)
    assert_as_reference(onto_what_is_there, [np.full(4, -0.0, np.float32)], [x], 4)


def test_every_second_cell():
    x = values((40, 9), "float32")
    assert_as_reference(onto_what_is_there, [values((40,), "float32")], [x], 40, step=2)


@pk.kernel
def forces(a, p):
    i = pk.index()
    for j in range(p.shape[0]):
        dx = p[j, 0] - p[i, 0]
        dy = p[j, 1] - p[i, 1]
        dz = p[j, 2] - p[i, 2]
        w = 1 / (dx * dx + dy * dy + dz * dz + 1)
        a[i, 0] += w
        a[i, 1] += dy
        a[i, 2] -= dz


@pk.kernel
def two_rows(a, x):
    """Cells that may be one: `j` and 0 are not known to differ."""
    i = pk.index()
    for j in range(x.shape[1]):
        a[i, 0] += x[i, j]
        a[i, i] += x[i, j]


@pk.kernel
def neighbours(a, x):
    """The cell is read otherwise."""
    i = pk.index()
    for j in range(x.shape[1]):
        a[i, 0] += x[i, j] + a[i, j % 3]


@pytest.mark.parametrize("kernel", [two_rows, neighbours])
def test_several_cells_of_a_row(kernel):
    x, a = values((3, 7), "float32"), values((3, 3), "float32")
    assert_as_reference(kernel, [a], [x], 3)
    assert not _is_promoted(kernel, a, x, ndrange=3)


def test_forces():
    p, a = np.arange(60, dtype=np.float64).reshape(20, 3), np.ones((20, 3))
    assert_as_reference(forces, [a], [p], 20)
    assert _is_promoted(forces, a, p, ndrange=20)


@pytest.mark.parametrize("kernel", ONE_CELL, ids=lambda kernel: kernel.__name__)
def test_what_is_promoted(kernel):
    x, o = np.zeros((8, 8), np.float32), np.zeros(8, np.float32)
    assert _is_promoted(kernel, o, x, ndrange=8) == (kernel is not in_a_branch_alone)


@pk.kernel
def onto_one(o, x):
    i = pk.index()
    for j in range(x.shape[0]):
        o[i] += x[j]


def test_the_same_array_twice():
    """Then the loop reads what it writes, and code of its own does so."""
    x = values((6,), "float64")
    expected = x.copy()
    for j in range(6):
        expected[0] += expected[j]
    onto_one(x, x, ndrange=1)
    np.testing.assert_array_equal(x, expected)


def _is_promoted(kernel, *arguments, ndrange) -> bool:
    lowered = kernel.lower(*arguments, ndrange=ndrange)
    text = lowered.as_text("kern-promote-cells")
    return "iter_args" in text.split(".work(")[0]
