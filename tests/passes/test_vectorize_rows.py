"""Sums in their order, of several rows at once: the bits of the reference device, for any shape and any values."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import PassError
from pykern.passes.vectorize.ordered.vectorize_rows import VectorizeRows
from tests.passes.bitwise import assert_as_reference

SHAPES = ((1, 40), (7, 33), (8, 8), (8, 7), (9, 1), (17, 16), (24, 100), (33, 31))


def values(shape: tuple[int, int], dtype: str = "float32") -> np.ndarray:
    """Numbers of many sizes, so that each order of additions rounds in a way of its own."""
    drawn = np.random.default_rng(shape[1])
    if np.dtype(dtype).kind == "i":
        return drawn.integers(-1000, 1000, shape).astype(dtype)
    x = (drawn.standard_normal(shape) * 10.0 ** drawn.integers(-4, 4, shape)).astype(dtype)
    if shape[0] > 6 and shape[1] > 6:
        x[0], x[1], x[2, -1], x[3, 3], x[4, 2:4] = -0.0, np.inf, np.nan, -np.inf, [np.inf, -np.inf]
    return x


@pk.kernel
def total(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
    o[i] = s


@pk.kernel
def onto_the_result(o, x):
    i = pk.index()
    o[i] = -0.0
    for j in range(x.shape[1]):
        o[i] += x[i, j]


@pk.kernel
def variance(o, x):
    i = pk.index()
    n = x.shape[1]
    s = x[i, 0] - x[i, 0]
    for j in range(n):
        s += x[i, j]
    mean = s / n
    v = x[i, 0] - x[i, 0]
    for j in range(n):
        d = x[i, j] - mean
        v += d * d
    o[i] = v / n


@pk.kernel
def two_sums_and_an_index(o, x):
    i = pk.index()
    s, q = x[i, 0], pk.f32(1)
    for j in range(1, x.shape[1]):
        s += x[i, j] * j
        q = q * 0.5 + x[i, j] * i
    o[i] = s - q


@pk.kernel
def mean_of_some(o, x):
    """The loop carries a count beside the sum, and skips what is not counted."""
    i = pk.index()
    s, n = pk.f32(0), 0
    for j in range(x.shape[1]):
        if x[i, j] < -1:
            continue
        s += x[i, j]
        n += 1
    if n == 0:
        o[i] = -1
    else:
        o[i] = s / n


@pytest.mark.parametrize("shape", SHAPES)
def test_a_count_beside_a_sum(shape):
    x = values(shape)
    assert_as_reference(mean_of_some, [np.zeros(shape[0], np.float32)], [x], shape[0])


def test_a_count_beside_a_sum_runs_in_rows():
    x = values((24, 100))
    lowered = mean_of_some.lower(np.zeros(24, np.float32), x, ndrange=24)
    text = next(s.text for s in lowered.stages if s.name == "kern-vectorize-rows")
    assert "vector<8xindex>" in text


@pk.kernel
def under_a_condition(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s = s + x[i, j] if x[i, j] > 0 else s
    o[i] = s


@pk.kernel
def until_it_is_large(o, x):
    """The condition depends on the sum."""
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        less, more = s * 0.25, s + x[i, j]
        s = less if s > 100 else more
    o[i] = s


@pk.kernel
def begins_with_its_number(o, x):
    i = pk.index()
    s = pk.f32(i)
    for j in range(x.shape[1]):
        s = s * 0.5 + x[i, j]
    o[i] = s


@pk.kernel
def other_rows(o, x):
    """A row of one array, the row before of the same, and a row that all share."""
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += abs(x[i, j] - x[0, j]) - x[max(i - 1, 0), j]
    o[i] = s


@pk.kernel
def counted_beside(o, x):
    """An integer is carried beside the sum."""
    i = pk.index()
    s, count = pk.f32(0), pk.i32(0)
    for j in range(x.shape[1]):
        s = s * 0.5 + x[i, j]
        count = count + 1 if s > 0 else count
    o[i] = s + count


ROWS = (
    total, onto_the_result, variance, two_sums_and_an_index, under_a_condition, until_it_is_large,
    begins_with_its_number, other_rows, counted_beside,
)  # fmt: skip


@pk.kernel
def prefix_sums(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
        o[i, j] = s


@pk.kernel
def written_on_the_way(o, x):
    """A pass that writes what it adds, and one that reads it again."""
    i = pk.index()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = max(m, x[i, j])
    s = pk.f32(0)
    for j in range(x.shape[1]):
        e = abs(x[i, j]) * m
        o[i, j] = e
        s += e
    for j in range(x.shape[1]):
        o[i, j] = o[i, j] / s


@pk.kernel
def smoothed_in_place(o, x):
    i = pk.index()
    s = x[i, 0]
    for j in range(x.shape[1]):
        s = s * 0.75 + o[i, j] * 0.25
        o[i, j] = s


WRITTEN = (prefix_sums, written_on_the_way, smoothed_in_place)


@pytest.mark.parametrize("kernel", ROWS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_number_a_row(kernel, shape):
    x = values(shape)
    assert_as_reference(kernel, [np.ones(shape[0], np.float32)], [x], shape[0])


@pytest.mark.parametrize("kernel", WRITTEN, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_for_each_row(kernel, shape):
    x = values(shape)
    assert_as_reference(kernel, [values(shape)], [x], shape[0])


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("kernel", [total, variance, prefix_sums, until_it_is_large])
def test_other_types(kernel, dtype):
    x = values((24, 67), dtype)
    shape = (24, 67) if kernel is prefix_sums else (24,)
    out = np.zeros(shape, "float64" if dtype == "int32" else dtype)
    assert_as_reference(kernel, [out], [x], 24)


@pytest.mark.parametrize("kernel", [total, prefix_sums, written_on_the_way])
def test_strided_arrays(kernel):
    x = np.repeat(values((24, 33)), 2, axis=1)[:, ::2]
    shape = (24,) if kernel is total else (24, 33)
    assert_as_reference(kernel, [np.zeros(shape, np.float32)], [x], 24, step=2)
    wide = np.zeros((24, 50), np.float32)
    wide[:, 5:38] = x
    assert_as_reference(kernel, [np.zeros(shape, np.float32)], [wide[:, 5:38]], 24)
    assert_as_reference(kernel, [np.zeros(shape, np.float32)], [np.asfortranarray(x)], 24)


def test_no_columns_and_no_rows():
    x = np.zeros((24, 3), np.float32)
    assert_as_reference(total, [np.ones(24, np.float32)], [x[:, :0]], 24)
    assert_as_reference(total, [np.ones(24, np.float32)], [x], 0)


@pk.kernel
def rows_of_pages(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[2]):
        s += x[i, j, k] - x[0, 0, k]
    o[i, j] = s


@pytest.mark.parametrize("shape", [(3, 19, 40), (2, 5, 40), (1, 8, 7)], ids=str)
def test_pages(shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    assert_as_reference(rows_of_pages, [np.zeros(shape[:2], np.float32)], [x], shape[:2])
    assert _runs_in_rows(rows_of_pages, np.zeros(shape[:2], np.float32), x, ndrange=shape[:2])


@pk.kernel
def exponentials(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += pk.exp(x[i, j] * 0.001)
    o[i] = s


def test_every_row_is_summed_alike():
    """Rows in groups and rows behind them, columns in squares and columns behind them."""
    x = np.tile(np.random.default_rng(3).standard_normal((1, 1003)).astype(np.float32), (21, 1))
    for kernel in (total, variance, exponentials):
        o = np.zeros(21, np.float32)
        kernel(o, x, ndrange=21)
        np.testing.assert_array_equal(o, o[0])


@pk.kernel
def triangle(o, x):
    """Rows of different lengths."""
    i = pk.index()
    s = pk.f32(0)
    for j in range(i):
        s += x[i, j]
    o[i] = s


@pk.kernel(fastmath=True)
def any_order(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
    o[i] = s


@pk.kernel
def down_the_columns(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        s += x[j, i]
    o[i] = s


@pk.kernel
def private_memory(o, x):
    i = pk.index()
    kept = pk.private(4, pk.f32)
    for k in range(4):
        kept[k] = x[i, k]
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j] - kept[j % 4]
    o[i] = s


@pytest.mark.parametrize("kernel", [triangle, down_the_columns, private_memory])
def test_what_stays(kernel):
    x = values((24, 24))
    assert_as_reference(kernel, [np.zeros(24, np.float32)], [x], 24)


def test_where_it_is_used():
    x, o = np.zeros((24, 24), np.float32), np.zeros(24, np.float32)
    for kernel in ROWS:
        assert _runs_in_rows(kernel, o, x, ndrange=24)
    for kernel in WRITTEN:
        assert _runs_in_rows(kernel, np.zeros_like(x), x, ndrange=24)
    for kernel in (triangle, any_order, down_the_columns, private_memory):
        assert not _runs_in_rows(kernel, o, x, ndrange=24)


def test_lanes_are_a_power_of_two():
    with pytest.raises(PassError, match="power of two"):
        VectorizeRows(rows=6).run(None)  # type: ignore[arg-type]


def _runs_in_rows(kernel, *arguments, ndrange) -> bool:
    return "vector.shuffle" in kernel.lower(*arguments, ndrange=ndrange).as_text("kern-vectorize-rows")
