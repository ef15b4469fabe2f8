"""Sums that do not depend on the column, and sums over rows and columns beside a product: each runs once."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def share_of_row(out, x):
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    out[i, j] = x[i, j] / total


@pk.kernel
def normalised(out, x):
    """The second sum needs the first one."""
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    mean = total / x.shape[1]
    squares = x.dtype(0)
    for k in range(x.shape[1]):
        squares += (x[i, k] - mean) ** 2
    out[i, j] = (x[i, j] - mean) / pk.sqrt(squares + x.dtype(1))


@pk.kernel
def softmax(out, x):
    i, j = pk.index()
    most = x[i, 0]
    for k in range(x.shape[1]):
        most = max(most, x[i, k])
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += pk.exp(x[i, k] - most)
    out[i, j] = pk.exp(x[i, j] - most) / total


@pk.kernel
def sum_above(out, x):
    """Of a row, for columns of another loop of the work-item's own."""
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    above = x.dtype(0)
    for k in range(j):
        above += x[i, k] / total
    out[i, j] = above


@pk.kernel
def share_of_column(out, x):
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[0]):
        total += x[k, j]
    out[i, j] = x[i, j] / total


@pk.kernel
def share_of_all(out, x):
    """Of row, column and everything; the root belongs to the column, too."""
    i, j = pk.index()
    row = x.dtype(0)
    column = x.dtype(0)
    whole = x.dtype(0)
    for k in range(x.shape[1]):
        row += x[i, k]
    for k in range(x.shape[0]):
        column += x[k, j] * x[k, j]
    for k in range(x.shape[0]):
        for m in range(x.shape[1]):
            whole += x[k, m]
    out[i, j] = x[i, j] * whole / row / pk.sqrt(column)


@pk.kernel
def norms_of_rows(out, x, y):
    """What depends on the column is a row of another array."""
    i, j = pk.index()
    squares = x.dtype(0)
    for k in range(y.shape[1]):
        squares += y[j, k] * y[j, k]
    out[i, j] = x[i, j] / pk.sqrt(squares)


@pk.kernel
def within(out, x):
    """Itself overwritten: the sums are not the same for all work-items."""
    i, j = pk.index()
    total = x.dtype(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    if j == 0:
        out[0, i] = total


@pk.kernel
def cosines(out, x, y):
    i, j = pk.index()
    both = x.dtype(0)
    own = x.dtype(0)
    other = x.dtype(0)
    for k in range(x.shape[1]):
        both += x[i, k] * y[j, k]
        own += x[i, k] * x[i, k]
        other += y[j, k] * y[j, k]
    out[i, j] = both / pk.sqrt(own * other)


SHAPES = [(0, 5), (1, 1), (3, 7), (8, 16), (19, 33), (70, 130)]


def on_reference(kernel, out, *given):
    expected = np.zeros_like(out)
    kernel(expected, *given, ndrange=out.shape, device="python")
    return expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "kernel", [share_of_row, share_of_column, share_of_all, normalised, softmax, sum_above]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_a_row_for_each_element(kernel, kind, shape, rng):
    x = (rng.random(shape) + 0.5).astype(kind)
    out = np.full(shape, 7, kind)
    kernel(out, x, ndrange=shape)
    rows = x.astype(np.float64)
    with np.errstate(all="ignore"):
        share = rows / rows.sum(1, keepdims=True)
        e = np.exp(rows)
        centred = rows - rows.mean(1, keepdims=True)
        expected = {
            "share_of_row": share,
            "share_of_column": rows / rows.sum(0),
            "share_of_all": share * rows.sum() / np.sqrt((rows**2).sum(0)),
            "normalised": centred / np.sqrt((centred**2).sum(1, keepdims=True) + 1),
            "softmax": e / e.sum(1, keepdims=True),
            "sum_above": np.cumsum(share, 1) - share,
        }[kernel.__name__]
    rtol, atol = (2e-4, 1e-5) if kind == np.float32 else (1e-11, 1e-13)
    np.testing.assert_allclose(out, expected, rtol=rtol, atol=atol)


def test_the_order_of_a_shared_sum_stays(rng):
    x = (rng.standard_normal((13, 41)) * 10.0 ** rng.integers(-3, 4, (13, 41))).astype(np.float32)
    out = np.zeros_like(x)
    share_of_row(out, x, ndrange=x.shape)
    np.testing.assert_array_equal(out, on_reference(share_of_row, out, x))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("start", [0, 3])
def test_columns_of_a_part(kind, start, rng):
    """Work-items from `start` on, for which there are columns of other rows."""
    x, y = ((rng.random(shape) + 0.5).astype(kind) for shape in [(21, 34), (34, 5)])
    out, expected = np.full_like(x, 7), np.full_like(x, 7)
    norms_of_rows(out, x, y, ndrange=(range(1, 21), range(start, 34)))
    whole = x / np.linalg.norm(y, axis=1)
    expected[1:, start:] = whole[1:, start:]
    np.testing.assert_allclose(out, expected, rtol=1e-5 if kind == np.float32 else 1e-13)


def test_the_order_of_a_column_sum_stays(rng):
    x = (rng.standard_normal((41, 13)) * 10.0 ** rng.integers(-3, 4, (41, 13))).astype(np.float32)
    out = np.zeros_like(x)
    share_of_column(out, x, ndrange=x.shape)
    np.testing.assert_array_equal(out, on_reference(share_of_column, out, x))


def test_launches_without_rows_read_no_column():
    out, x, y = np.full((2, 3), 7.0), np.zeros((0, 3)), np.zeros((0, 4))
    norms_of_rows(out, x, y, ndrange=(0, 3))
    np.testing.assert_array_equal(out, np.full((2, 3), 7.0))


def test_launches_without_columns_read_no_row():
    """There is no row 0 of `x`, nor a work-item that asks for it."""
    out, x = np.full((3, 2), 7.0), np.zeros((0, 4))
    softmax(out, x, ndrange=(3, 0))
    np.testing.assert_array_equal(out, np.full((3, 2), 7.0))


def test_columns_of_the_result_written_by_rows(rng):
    x, out = rng.random((6, 5)), np.zeros((1, 6))
    within(out, x, ndrange=x.shape)
    np.testing.assert_allclose(out[0], x.sum(1), rtol=1e-14)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 5, 3), (1, 1, 1), (7, 9, 4), (150, 131, 65)])
def test_norms_beside_a_product(kind, shape, rng):
    n, m, k = shape
    x, y = (rng.random((n, k)) + 0.1).astype(kind), (rng.random((m, k)) + 0.1).astype(kind)
    expected = (x @ y.T) / np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(y, axis=1)
    for _ in range(3):  # a launch that is large enough is compiled for its lengths
        out = np.full((n, m), 7, kind)
        cosines(out, x, y, ndrange=(n, m))
        np.testing.assert_allclose(out, expected, rtol=1e-5 if kind == np.float32 else 1e-13)
