"""Large products of matrices, whose factors are copied into tiles and panels first: against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.cpu_table import get_num_threads, set_num_threads

SIZES = [(128, 1024, 1030), (97, 1400, 757), (130, 1027, 1030), (101, 1200, 881)]
"""Right factors of more than 4 MiB in f32: they are packed where the second cache has up to 2 MiB."""


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def transposed(a, b):
    return (a @ b).T


def functions_in(program, *arguments) -> int:
    text = next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")
    return text.count("kern.nest,")


def close(found, expected, k):
    assert found.shape == expected.shape
    limit = 40 * np.finfo(found.dtype).eps * np.sqrt(k)
    np.testing.assert_allclose(found, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_products_and_what_flows_back(rng, m, k, n, dtype):
    """The gradients are `c @ b.T` and `a.T @ c`, read where they lie."""
    a, b, c = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n), (m, n)))
    a64, b64, c64 = (x.astype(np.float64) for x in (a, b, c))
    close(product(a, b), a64 @ b64, k)
    # two that pack, one that multiplies, and one in which threads share both copies where they are large
    assert functions_in(product, a, b) in (3, 4)
    _, pull = pk.vjp(product, a, b)
    for found, expected, terms in zip(pull(c), (c64 @ b64.T, a64.T @ c64), (n, m), strict=True):
        close(found, expected, terms)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("m", "k", "n"), [(103, 1031, 109), (7, 1100, 1023), (1021, 521, 17), (102, 1025, 160)]
)
def test_tiles_that_reach_too_far(rng, m, k, n, dtype, threads):
    """The last row tile, panel and slice are computed like whole ones: nothing is written beside the result, and what
    padding holds (here an infinity is repeated in it) reaches no cell."""
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    a[-1, 3], b[5, -1] = np.inf, np.nan
    around = np.full(m * n + 256, 7, dtype)
    out = around[128:-128].reshape(m, n)
    count = get_num_threads()
    set_num_threads(threads)
    try:
        for left, right in ((a, b), (np.asfortranarray(a), np.ascontiguousarray(b.T).T)):
            out[:] = 3
            product(left, right, out=out)
            assert (around[:128] == 7).all() and (around[-128:] == 7).all()
            a64, b64 = a[:-1].astype(np.float64), b[:, :-1].astype(np.float64)
            wrong = np.abs(out[:-1, :-1] - a64 @ b64) / (np.abs(a64) @ np.abs(b64))
            assert wrong.max() < 8 * np.finfo(dtype).eps
            np.testing.assert_array_equal(out[-1, :-1], np.where(b[3, :-1] > 0, np.inf, -np.inf))
            assert np.isnan(out[:, -1]).all()
    finally:
        set_num_threads(count)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_layouts(rng, layout):
    a, b = rng.standard_normal((70, 300)), rng.standard_normal((300, 90))
    if layout == "F":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    if layout == "strided":
        a, b = np.repeat(a, 2, axis=1)[:, ::2], np.repeat(b, 2, axis=0)[::2]
    close(product(a, b), a @ b, 300)
    close(transposed(a, b), (a @ b).T, 300)


def test_a_slice_of_a_larger_array(rng):
    @pk.jit
    def inner(a, b):
        return a[1:, 2:-1] @ b[:, 3:]

    a, b = rng.standard_normal((81, 103)), rng.standard_normal((100, 78))
    close(inner(a, b), a[1:, 2:-1] @ b[:, 3:], 100)


def test_products_in_a_loop_over_time(rng):
    @pk.jit
    def power(a, x):
        for _ in pk.range(4):
            x = a @ x
        return x

    a, x = rng.standard_normal((80, 80)) / 9, rng.standard_normal((80, 70))
    close(power(a, x), a @ (a @ (a @ (a @ x))), 400)


def test_not_a_number_stays_in_its_row_and_column(rng):
    a, b = rng.random((67, 300)), rng.random((300, 67))
    a[66, 299], b[5, 66] = np.nan, np.inf
    found, expected = product(a, b), a @ b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(("m", "k", "n"), [(203, 203, 203), (1, 709, 307), (3, 300, 900)])
def test_the_number_of_threads_changes_no_bit(rng, m, k, n):
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
    before = get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 5):
            set_num_threads(threads)
            results.append(product(a, b).tobytes())
    finally:
        set_num_threads(before)
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_copies_of_few_rows_write_nothing_beside(rng, rows, dtype):
    """A vector of a factor that is turned has more elements than the copy has rows: what is too much went into what
    lay behind the copy, a value that is still needed."""

    @pk.jit
    def both(a, b, x):
        kept = pk.exp(x)
        p = a @ b.T
        return p, kept[1:] - kept[:-1]

    for k, n in ((512, 16), (1024, 40), (1536, 100)):
        a, b = (rng.integers(1, 4, shape).astype(dtype) for shape in ((rows, k), (n, k)))
        x = rng.random(64 * n).astype(dtype)
        p, differences = both(a, b, x)
        np.testing.assert_array_equal(p, a @ b.T)
        np.testing.assert_allclose(differences, np.diff(np.exp(x)), atol=1e-6)
