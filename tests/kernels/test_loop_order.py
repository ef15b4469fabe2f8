"""Index spaces whose first dimension lies along memory, as `x, y` of CUDA C++: the same results, in memory's order."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def image(out, source, width, height, factor):
    x, y = pk.index()
    if x < width and y < height:
        at = y * width + x
        out[at] = factor * source[at] + x - 3 * y


@pk.kernel
def columns_first(out, source):
    x, y = pk.index()
    out[y, x] = source[y, x] + x - 3 * y


@pk.kernel
def smooth(out, source, nx, ny):
    x, y = pk.index()
    if x < 1 or y < 1 or x >= nx - 1 or y >= ny - 1:
        return
    at = y * nx + x
    out[at] = 0.25 * (source[at - 1] + source[at + 1] + source[at - nx] + source[at + nx])


@pk.kernel
def volume(out, source):
    x, y, z = pk.index()
    out[z, y, x] = 2 * source[z, y, x] + x + 10 * y + 100 * z


@pk.kernel
def middle(out, source):
    i, j, k = pk.index()
    out[i, k, j] = 2 * source[i, k, j] + i + 10 * j + 100 * k


@pk.kernel
def swapped(out, source):
    """Along memory both ways: the order of the index space stays."""
    i, j = pk.index()
    out[i, j] = source[j, i]


@pk.kernel
def column_sums(out, source):
    """Each work-item of a column comes to the same cell."""
    x, y = pk.index()
    pk.atomic_add(out, x, source[y, x])


@pytest.fixture(params=[1, 2])
def threads(request):
    before = pk.get_num_threads()
    pk.set_num_threads(request.param)
    yield
    pk.set_num_threads(before)


@pytest.mark.parametrize(("width", "height"), [(67, 31), (1, 40), (40, 1), (512, 300), (0, 5), (5, 0)])
def test_flat_images(rng, threads, width, height):
    source = rng.standard_normal(width * height)
    x, y = np.arange(width * height) % max(width, 1), np.arange(width * height) // max(width, 1)
    out = np.zeros(width * height)
    blocks = (-(-width // 16) * 16, -(-height // 16) * 16)
    image(out, source, width, height, 2.5, ndrange=blocks)
    np.testing.assert_allclose(out, 2.5 * source + x - 3 * y)


@pytest.mark.parametrize(
    "ranges", [(range(41), range(29)), (range(3, 41, 2), range(28, 4, -3)), (41, range(0))]
)
def test_ranges(rng, threads, ranges):
    source = rng.standard_normal((29, 41))
    out = np.full((29, 41), 7.0)
    expected = out.copy()
    xs, ys = (np.arange(r) if isinstance(r, int) else np.array(r, int) for r in ranges)
    at = np.ix_(ys, xs)
    expected[at] = source[at] + xs - 3 * ys[:, None]
    columns_first(out, source, ndrange=ranges)
    np.testing.assert_array_equal(out, expected)


def test_a_stencil(rng, threads):
    ny, nx = 300, 401
    source = rng.standard_normal((ny, nx))
    out = np.zeros((ny, nx))
    smooth(out.ravel(), source.ravel(), nx, ny, ndrange=(nx, ny))
    expected = np.zeros((ny, nx))
    around = source[1:-1, :-2] + source[1:-1, 2:] + source[:-2, 1:-1] + source[2:, 1:-1]
    expected[1:-1, 1:-1] = 0.25 * around
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kernel", [volume, middle])
@pytest.mark.parametrize("shape", [(13, 17, 19), (60, 1, 70), (1, 65, 64), (3, 0, 4)])
def test_three_dimensions(rng, threads, kernel, shape):
    a, b, c = shape  # of the index space
    lies = (c, b, a) if kernel is volume else (a, c, b)
    source, out = rng.standard_normal(lies), np.zeros(lies)
    kernel(out, source, ndrange=shape)
    i, j, k = np.ogrid[:a, :b, :c]
    along = (2, 1, 0) if kernel is volume else (0, 2, 1)
    np.testing.assert_allclose(out, 2 * source + (i + 10 * j + 100 * k).transpose(along))


def test_a_transposition(rng, threads):
    source = rng.standard_normal((120, 77))
    swapped(out := np.zeros((77, 120)), source, ndrange=out.shape)
    np.testing.assert_array_equal(out, source.T)


def test_atomics(rng, threads):
    source = rng.integers(-9, 9, (300, 200))
    column_sums(out := np.zeros(200, int), source, ndrange=(200, 300))
    np.testing.assert_array_equal(out, source.sum(0))


@pk.jit
def launched(out_, source):
    columns_first(out_, source, ndrange=(400, 200))
    return out_


def test_launched_by_a_program(rng, threads):
    source = rng.standard_normal((200, 400))
    found = launched(np.zeros((200, 400)), source)
    np.testing.assert_array_equal(found, source + np.arange(400) - 3 * np.arange(200)[:, None])
