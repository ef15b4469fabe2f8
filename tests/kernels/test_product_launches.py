"""Kernels that are products, launched by themselves: large launches run in tiles, and give what the loops give."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.program import product as product_launch


@pk.kernel
def product(c, a, b):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pk.kernel
def convolution(y, x, w):
    i, j, o = pk.index()
    total = y.dtype(0)
    for p in range(w.shape[0]):
        for q in range(w.shape[1]):
            for c in range(w.shape[2]):
                total += x[i + p, j + q, c] * w[p, q, c, o]
    y[i, j, o] = total


@pk.kernel
def lower_triangle(c, a, b):
    i, j = pk.index()
    if j <= i:
        for k in range(a.shape[1]):
            c[i, j] += a[i, k] * b[j, k]


@pk.kernel
def squares(y, x):
    i = pk.index()
    total = y.dtype(0)
    for k in range(x.shape[1]):
        total += x[i, k] * x[i, k]
    y[i] = total


@pk.kernel
def flat_product(c, a, b):
    q = pk.index()
    i, j = q // c.shape[1], q % c.shape[1]
    total = c.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pk.kernel
def flat_convolution(y, x, w):
    q = pk.index()
    _, columns, channels = y.shape
    i, j, o = q // (columns * channels), q // channels % columns, q % channels
    total = y.dtype(0)
    for p in range(w.shape[0]):
        for r in range(w.shape[1]):
            for c in range(w.shape[2]):
                total += x[i + p, j + r, c] * w[p, r, c, o]
    y[i, j, o] = total


@pk.kernel
def flat_rest(c, a, b):
    q = pk.index()
    i = q // c.shape[1]
    j = q - i * c.shape[1]
    for k in range(a.shape[1]):
        c[i, j] += a[i, k] * b[k, j]


@pytest.fixture
def tiles(monkeypatch):
    """Whether launches that may be tiles are, from the first one on."""
    monkeypatch.setattr(product_launch, "MOST_SHAPES", 1000)

    def choose(on: bool) -> None:
        for name in ("MANY_PRODUCTS", "LONG_LOOPS"):
            monkeypatch.setattr(product_launch, name, 1e-9 if on else 1e30)

    return choose


def plans(kernel) -> int:
    """Launches of other lengths that run in tiles."""
    found = kernel.launcher.cache.products
    return 0 if found is None else sum(plan is not None for plan in found._plans.values())


def both(tiles, kernel, out, *given, ndrange=None):
    """What loops and what tiles give, as new arrays."""
    found = []
    before = plans(kernel)
    for on in (False, True):
        tiles(on)
        mine = out.copy()
        kernel(mine, *given, ndrange=mine.shape if ndrange is None else ndrange)
        found.append(mine)
    assert plans(kernel) == before + 1
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "n", "k"), [(131, 127, 103), (67, 150, 1301), (900, 16, 300)])
def test_sums_keep_their_order(rng, tiles, m, n, k, dtype):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    loops, tiled = both(tiles, product, np.full((m, n), 3, dtype), a, b)
    np.testing.assert_array_equal(tiled, loops)
    wide = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.all(np.abs(tiled - exact) <= k * np.finfo(dtype).eps * wide)


def test_terms_that_cancel(rng, tiles):
    """A sum in another order is another number: large terms hide small ones between them."""
    m, n, k = 110, 120, 1500
    a, b = np.ones((m, k)), rng.standard_normal((k, n))
    b[::7] = 1e18
    b[3::7] = -1e18
    loops, tiled = both(tiles, product, np.zeros((m, n)), a, b)
    np.testing.assert_array_equal(tiled, loops)
    expected = np.zeros(n)
    for line in b:
        expected += line
    np.testing.assert_array_equal(tiled, np.broadcast_to(expected, (m, n)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_convolution(rng, tiles, dtype):
    x, w = rng.standard_normal((39, 41, 24)).astype(dtype), rng.standard_normal((3, 2, 24, 37)).astype(dtype)
    loops, tiled = both(tiles, convolution, np.zeros((37, 40, 37), dtype), x, w)
    np.testing.assert_array_equal(tiled, loops)


def test_a_triangle(rng, tiles):
    c, a, b = (
        rng.standard_normal((150, 150)),
        rng.standard_normal((150, 211)),
        rng.standard_normal((150, 211)),
    )
    loops, tiled = both(tiles, lower_triangle, c, a, b)
    np.testing.assert_allclose(
        tiled, loops, rtol=1e-12, atol=1e-12
    )  # loops round each product, tiles may not
    above = np.triu_indices(len(c), 1)
    np.testing.assert_array_equal(tiled[above], c[above])


def test_integers(rng, tiles):
    a, b = (rng.integers(-(2**31), 2**31, (130, 130)).astype(np.int32) for _ in range(2))
    loops, tiled = both(tiles, product, np.zeros((130, 130), np.int32), a, b)
    np.testing.assert_array_equal(tiled, loops)
    np.testing.assert_array_equal(tiled, (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32))


def test_what_stays_loops(rng, tiles):
    tiles(True)
    before = plans(product)
    a, b = rng.standard_normal((130, 130)), rng.standard_normal((130, 130))
    exact = a @ b
    product(a_result := a.copy(), a, np.eye(130), ndrange=(130, 130))
    np.testing.assert_array_equal(a_result, a)
    wide = np.zeros((130, 260))
    product(wide[:, ::2], a, b, ndrange=(130, 130))  # strides
    np.testing.assert_allclose(wide[:, ::2], exact, atol=1e-12)
    part = np.zeros((130, 130))
    product(part, a, b, ndrange=(range(0, 130, 2), 130))  # steps
    np.testing.assert_allclose(part[::2], exact[::2], atol=1e-12)
    both_ways = a.copy()
    product(
        both_ways, both_ways, np.eye(130), ndrange=(130, 130)
    )  # one array twice: each row reads what it wrote
    y = np.zeros(2000)
    squares(y, x := rng.standard_normal((2000, 2000)), ndrange=2000)
    np.testing.assert_allclose(y, (x * x).sum(1), rtol=1e-12)
    assert plans(product) == before + 1  # of the one that is none of these
    assert plans(squares) == 0


def test_what_is_wrong_is_said_of_the_kernel(rng, tiles):
    tiles(True)
    a, b, c = (rng.standard_normal((120, 120)) for _ in range(3))
    product(c, a, b, ndrange=c.shape)
    kept = c.copy()
    c.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="`product` writes it"):
        product(c, a, b, ndrange=c.shape)
    np.testing.assert_array_equal(c, kept)


def test_a_changed_array_is_read_again(rng, tiles):
    tiles(True)
    a, b, c = (rng.standard_normal((120, 120)) for _ in range(3))
    for _ in range(3):
        product(c, a, b, ndrange=c.shape)
        np.testing.assert_allclose(c, a @ b, atol=1e-12)
        a[:] = rng.standard_normal((120, 120))


@pytest.mark.parametrize("kernel", [flat_product, flat_rest])
@pytest.mark.parametrize(("m", "n", "k"), [(131, 127, 103), (16, 150, 1301)])
def test_a_flat_index(rng, tiles, kernel, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    loops, tiled = both(tiles, kernel, np.zeros((m, n)), a, b, ndrange=m * n)
    np.testing.assert_allclose(tiled, a @ b, atol=1e-11)
    np.testing.assert_array_equal(tiled, loops)


def test_a_flat_index_of_three_dimensions(rng, tiles):
    x, w = rng.standard_normal((39, 41, 24)), rng.standard_normal((3, 2, 24, 37))
    out = np.zeros((37, 40, 37))
    loops, tiled = both(tiles, flat_convolution, out, x, w, ndrange=out.size)
    np.testing.assert_array_equal(tiled, loops)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (0, 1))
    np.testing.assert_allclose(tiled, np.einsum("ijcpq,pqco->ijo", windows, w), atol=1e-11)


def test_a_flat_index_that_ends_within_a_row(rng, tiles):
    """It stays loops: what is behind the last work-item is not written."""
    tiles(True)
    a, b, c = (rng.standard_normal((120, 120)) for _ in range(3))
    before, kept = plans(flat_product), c.copy()
    flat_product(c, a, b, ndrange=c.size - 50)
    np.testing.assert_allclose(c.ravel()[:-50], (a @ b).ravel()[:-50], atol=1e-12)
    np.testing.assert_array_equal(c.ravel()[-50:], kept.ravel()[-50:])
    assert plans(flat_product) == before


@pytest.mark.parametrize("ndrange", [(range(130), range(120)), (133, range(120))])
def test_ranges_from_zero(rng, tiles, ndrange):
    m = len(ndrange[0]) if isinstance(ndrange[0], range) else ndrange[0]
    a, b = rng.standard_normal((m, 110)), rng.standard_normal((110, 120))
    loops, tiled = both(tiles, product, np.zeros((m, 120)), a, b, ndrange=ndrange)
    np.testing.assert_array_equal(tiled, loops)


@pytest.mark.parametrize("transposed", ["a", "b", "ab"])
def test_transposed_views(rng, tiles, transposed):
    a, b = rng.standard_normal((131, 103)), rng.standard_normal((103, 127))
    a = np.asfortranarray(a) if "a" in transposed else a
    b = np.asfortranarray(b) if "b" in transposed else b
    loops, tiled = both(tiles, product, np.zeros((131, 127)), a, b)
    np.testing.assert_array_equal(tiled, loops)
    np.testing.assert_allclose(tiled, a @ b, atol=1e-12)


def test_transposed_results_stay_loops(rng, tiles):
    tiles(True)
    a, b = rng.standard_normal((130, 131)), rng.standard_normal((131, 132))
    c = np.zeros((132, 130)).T
    before = plans(product)
    product(c, a, b, ndrange=c.shape)
    np.testing.assert_allclose(c, a @ b, atol=1e-12)
    assert plans(product) == before


@pk.kernel
def gram(c, a):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(a.shape[0]):
        total += a[k, i] * a[k, j]
    c[i, j] = total


def test_one_array_as_both_factors(rng, tiles):
    for terms, n in [(1501, 67), (300, 131)]:
        a = rng.standard_normal((terms, n))
        loops, tiled = both(tiles, gram, np.zeros((n, n)), a)
        np.testing.assert_array_equal(tiled, loops)
        np.testing.assert_allclose(tiled, a.T @ a, atol=1e-11)
    tiles(True)
    before, few = plans(gram), rng.standard_normal((40, 20))
    c = np.zeros((20, 20))
    gram(c, few, ndrange=c.shape)  # too small for tiles
    np.testing.assert_allclose(c, few.T @ few, atol=1e-12)
    assert plans(gram) == before


@pk.kernel
def scaled(c, a, b, alpha, beta):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = beta * c[i, j] + alpha * total


@pk.kernel
def scaled_as_annotated(c, a, b, alpha: pk.f32, beta: float):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = beta * c[i, j] + alpha * total


@pk.kernel
def as_many_terms_as_said(c, a, b, terms):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(terms):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [scaled, scaled_as_annotated])
@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_numbers_beside_matrices(rng, tiles, dtype, kernel, kind):
    c, a, b = (rng.standard_normal(shape).astype(dtype) for shape in [(131, 67), (131, 303), (303, 67)])
    for alpha, beta in [(1.5, -0.25), (np.inf, 0.0)]:  # known when launched, not when compiled
        tiles(False)
        kernel(loops := c.copy(), a, b, kind(alpha), kind(beta), ndrange=c.shape)
        tiles(True)
        for _ in range(2):
            kernel(tiled := c.copy(), a, b, kind(alpha), kind(beta), ndrange=c.shape)
            np.testing.assert_array_equal(tiled, loops)
        with np.errstate(invalid="ignore"):
            exact = beta * c.astype(float) + alpha * (a.astype(float) @ b.astype(float))
        near = 1e-4 if dtype is np.float32 else 1e-11
        np.testing.assert_allclose(tiled, exact, rtol=near, atol=near)
    assert plans(kernel) >= 1


def test_a_number_of_terms(rng, tiles):
    a, b = rng.standard_normal((130, 200)), rng.standard_normal((200, 110))
    for terms in (200, 37, 0, -1):
        for on in (False, True):
            tiles(on)
            as_many_terms_as_said(c := np.ones((130, 110)), a, b, terms, ndrange=c.shape)
            np.testing.assert_allclose(c, a[:, : max(terms, 0)] @ b[: max(terms, 0)], atol=1e-11)


def test_numbers_that_do_not_fit(rng, tiles):
    tiles(True)
    c, a, b = (rng.standard_normal((120, 120)) for _ in range(3))
    scaled_as_annotated(c, a, b, 1, 2, ndrange=c.shape)
    kept = c.copy()
    for wrong, text in [("1", "str"), (None, "None"), ([1.0], "list"), (10**30, "")]:
        if text:
            with pytest.raises(pk.KernelTypeError, match=text):
                scaled_as_annotated(c, a, b, wrong, 2, ndrange=c.shape)
            np.testing.assert_array_equal(c, kept)
        else:
            scaled_as_annotated(c, a, b, wrong, 0.0, ndrange=c.shape)
            np.testing.assert_allclose(c, np.float32(1e30) * (a @ b), rtol=1e-8)


@pk.kernel
def numbers_first(alpha, beta, a, b, c):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = alpha * total + beta * c[i, j]


def test_numbers_in_front_of_matrices(rng, tiles):
    """What is written is told among arrays: a result that lies column by column is no tile's."""
    a, b, kept = (rng.standard_normal((130, 130)) for _ in range(3))
    for on in (False, True):
        tiles(on)
        for c in (kept.copy(), np.asfortranarray(kept)):
            for factor in (a, np.asfortranarray(a)):
                before = c.copy()
                numbers_first(2.0, 0.5, factor, b, c, ndrange=c.shape)
                np.testing.assert_allclose(c, 2 * (a @ b) + 0.5 * before, atol=1e-11)
