"""Maxima, minima and what is taken along with them, in every way to write them, bit by bit as the reference device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference

LENGTHS = (1, 2, 31, 33, 64, 95, 1000)


@pk.kernel
def ternary(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        m = v if v > m else m
    o[i] = m


@pk.kernel
def ternary_other_way(o, x):
    """The comparison is true where a value is NaN."""
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        m = m if m >= v else v
    o[i] = m


@pk.kernel
def branch(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        if x[i, j] < m:
            m = x[i, j]
    o[i] = m


@pk.kernel
def both_ends(o, x):
    i = pk.index()
    low, high = x[i, 0], x[i, 0]
    for j in range(1, x.shape[1]):
        if x[i, j] <= low:
            low = x[i, j]
        if x[i, j] > high:
            high = x[i, j]
    o[i] = high - low


VALUES = (ternary, ternary_other_way, branch, both_ends)


@pk.kernel
def first_greatest(o, x):
    i = pk.index()
    best = 0
    most = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        if v > most:
            most = v
            best = j
    o[i] = best


@pk.kernel
def last_least(o, x):
    i = pk.index()
    best = -1
    least = x[i, 0]
    for j in range(x.shape[1]):
        if x[i, j] <= least:
            least = x[i, j]
            best = j
    o[i] = best


@pk.kernel
def beside_a_maximum(o, x):
    i = pk.index()
    best = 0
    most = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        best = j if v > most else best
        most = max(most, v)
    o[i] = best


@pk.kernel
def unless_smaller(o, x):
    i = pk.index()
    best = 0
    most = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        if not v < most:
            most = v
            best = j
    o[i] = best


@pk.kernel
def two_of_them(o, x):
    i = pk.index()
    low, high = x[i, 0], x[i, 0]
    at_low, at_high = 0, 0
    for j in range(x.shape[1]):
        v = x[i, j]
        if v < low:
            low = v
            at_low = j
        if v >= high:
            high = v
            at_high = j
    o[i] = 10000 * at_low + at_high


@pk.kernel
def squares_of_what_is_least(o, x):
    """What is compared is computed; other values, and the index, come along."""
    i = pk.index()
    least = x[i, 0] * x[i, 0]
    best = x[i, 0] + 0 * x[i, 0]
    for j in range(1, x.shape[1]):
        d = x[i, j] * x[i, j]
        if d < least:
            least = d
            best = x[i, j]
    o[i] = best


POSITIONS = (first_greatest, last_least, beside_a_maximum, unless_smaller, two_of_them)


def rows(length: int, dtype: str) -> np.ndarray:
    """Rows of few different numbers, so that many are equal, with NaN, infinities and zeros of both signs in places
    that whole vectors reach and in those that they leave over."""
    drawn = np.random.default_rng(length)
    x = drawn.integers(-3, 4, (24, length))
    if np.dtype(dtype).kind in "iu":
        return np.abs(x).astype(dtype) if np.dtype(dtype).kind == "u" else x.astype(dtype)
    x = x.astype(dtype)
    x[0], x[1] = drawn.standard_normal((2, length))
    x[2], x[3] = 0.0, -0.0
    x[4] = np.where(drawn.random(length) < 0.5, 0.0, -0.0)
    x[5], x[6] = -x[4], np.minimum(x[6], -0.0)
    x[7], x[8], x[9] = np.nan, np.inf, -np.inf
    x[10, 0], x[11, -1], x[12, length // 2] = np.nan, np.nan, np.nan
    x[13, ::3], x[14, 1:] = np.nan, np.nan
    x[15, ::2], x[16, length // 3] = np.inf, -np.inf
    x[17] = np.arange(length)
    x[18] = -np.arange(length)
    return x


@pytest.mark.parametrize("kernel", VALUES, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("length", LENGTHS)
def test_values(kernel, dtype, length):
    x = rows(length, dtype)
    assert_as_reference(kernel, [np.zeros(len(x), dtype)], [x], len(x))


@pytest.mark.parametrize("kernel", POSITIONS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_positions(kernel, dtype, length):
    x = rows(length, dtype)
    (found,) = assert_as_reference(kernel, [np.zeros(len(x), np.int64)], [x], len(x))
    if kernel is first_greatest:
        sound = ~np.isnan(x).any(1) if np.dtype(dtype).kind == "f" else np.full(len(x), True)
        np.testing.assert_array_equal(found[sound], x[sound].argmax(1))


@pytest.mark.parametrize("length", LENGTHS)
def test_what_is_taken_along(length):
    x = rows(length, "float32")
    assert_as_reference(squares_of_what_is_least, [np.zeros(len(x), np.float32)], [x], len(x))


@pytest.mark.parametrize("kernel", [ternary, branch, last_least])
def test_every_second_element(kernel):
    x = np.repeat(rows(100, "float32"), 2, axis=1)[:, ::2]
    dtype = np.int64 if kernel is last_least else np.float32
    assert_as_reference(kernel, [np.zeros(len(x), dtype)], [x], len(x), step=2)


def test_no_columns():
    o = np.full(3, 7, np.int64)
    last = np.zeros((3, 8), np.float32)[:, :0]
    from_nothing(o, last, ndrange=3)
    np.testing.assert_array_equal(o, -1)


@pk.kernel
def from_nothing(o, x):
    i = pk.index()
    best = -1
    least = pk.f32(3)
    for j in range(x.shape[1]):
        if x[i, j] <= least:
            least = x[i, j]
            best = j
    o[i] = best


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("length", LENGTHS)
def test_programs(dtype, length):
    x = rows(length, dtype)

    @pk.jit
    def program(x):
        return x.argmax(axis=1), x.argmin(axis=1)

    most, least = program(x)
    np.testing.assert_array_equal(most, x.argmax(1))
    np.testing.assert_array_equal(least, x.argmin(1))
    if length >= 64:
        text = program.lower(x).as_text("kern-vectorize-reductions")
        assert text.count("vector.reduction") >= 4


@pytest.mark.parametrize("kernel", [first_greatest, branch, unless_smaller])
def test_they_run_in_lanes(kernel):
    x = np.zeros((8, 100), np.float32)
    o = np.zeros(8, np.float32 if kernel is branch else np.int64)
    text = kernel.lower(o, x, ndrange=8).as_text("kern-vectorize-reductions")
    assert "vector.reduction" in text
    assert "vector.shuffle" not in text


@pk.kernel
def needs_its_order(o, x):
    """What is compared depends on what was taken before: no lanes."""
    i = pk.index()
    m = x[i, 0]
    count = 0
    for j in range(1, x.shape[1]):
        v = x[i, j] + 0.5 * count
        if v > m:
            m = v
            count = count + 1
    o[i] = m


@pk.kernel
def counts_as_well(o, x):
    """Something else asks for the comparison."""
    i = pk.index()
    m = x[i, 0]
    records = pk.f32(0)
    for j in range(1, x.shape[1]):
        if x[i, j] > m:
            m = x[i, j]
            records = records + 1
    o[i] = records


@pytest.mark.parametrize("kernel", [needs_its_order, counts_as_well])
@pytest.mark.parametrize("length", [33, 100])
def test_what_needs_its_order(kernel, length):
    x = rows(length, "float32")
    assert_as_reference(kernel, [np.zeros(len(x), np.float32)], [x], len(x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_programs_over_short_rows_and_pairs(dtype, rng):
    """Rows of less than a vector, and places in arrays of pairs, whose work is that of neighbours."""

    @pk.jit
    def program(x, y):
        distances = ((x[:, None] - y[None]) ** 2).sum(axis=-1)
        return x.argmax(axis=1), distances.argmin(axis=1), distances.argmax(axis=1)

    for length, terms in [(67, 3), (200, 1), (33, 4), (5, 2)]:
        x, y = (rng.integers(-5, 5, (n, terms)).astype(dtype) for n in (length, 17))
        if dtype != "int32":
            x[3, terms // 2], y[2, 0], y[11, 0] = -0.0, np.nan, np.inf
        distances = ((x[:, None] - y[None]) ** 2).sum(axis=-1)
        wanted = x.argmax(1), distances.argmin(1), distances.argmax(1)
        for found, each in zip(program(x, y), wanted, strict=True):
            np.testing.assert_array_equal(found, each)

    @pk.jit
    def of_rows(x):
        return x.argmax(axis=1), x.argmin(axis=1)

    for length in (8, 9, 16, 50, 63):
        x = rng.integers(-4, 4, (37, length)).astype(dtype)
        if dtype != "int32":
            x[5, length // 2], x[6] = np.nan, -0.0
        np.testing.assert_array_equal(of_rows(x)[0], x.argmax(1))
        np.testing.assert_array_equal(of_rows(x)[1], x.argmin(1))
