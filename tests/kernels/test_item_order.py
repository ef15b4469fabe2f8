"""Kernels whose first dimension lies along memory, on devices: a group's work-items are numbered along it."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

TILE = 8


@pk.kernel
def image(out, source, nx, ny, factor):
    x, y = pk.index()
    if x < nx and y < ny:
        at = y * nx + x
        out[at] = factor * source[at] + pk.f32(x - 3 * y)


@pk.kernel
def ranges(out, source):
    x, y = pk.index()
    out[y, x] = source[y, x] + pk.f32(x - 3 * y)


@pk.kernel
def volume(out, source):
    x, y, z = pk.index()
    out[z, y, x] = source[z, y, x] + pk.f32(x + 10 * y + 100 * z)


@pk.kernel
def middle(out, source):
    i, j, k = pk.index()
    out[i, k, j] = source[i, k, j] + pk.f32(i + 10 * j + 100 * k)


@pk.kernel
def four(out, source):
    """Two dimensions share an axis of the grid."""
    w, x, y, z = pk.index()
    out[z, y, w, x] = source[z, y, w, x] + pk.f32(w + 10 * x + 100 * y + 1000 * z)


@pk.kernel(workgroup=(16, 4))
def strided(out, source, nx, ny):
    """Loops in steps of the launch, as CUDA C++ has them."""
    first_x = pk.group_index(0) * pk.group_size(0) + pk.local_index(0)
    first_y = pk.group_index(1) * pk.group_size(1) + pk.local_index(1)
    for y in range(first_y, ny, pk.num_groups(1) * pk.group_size(1)):
        for x in range(first_x, nx, pk.num_groups(0) * pk.group_size(0)):
            out[y * nx + x] = source[y * nx + x] + pk.f32(x - 3 * y)


@pk.kernel(workgroup=(TILE, TILE))
def product(c, a, b, n):
    x, y = pk.index()
    tx, ty = pk.local_index()
    left, right = pk.shared((TILE, TILE), pk.f32), pk.shared((TILE, TILE), pk.f32)
    total = np.float32(0)
    for first in range(0, n, TILE):
        left[ty, tx] = a[y * n + first + tx] if y < n and first + tx < n else np.float32(0)
        right[ty, tx] = b[(first + ty) * n + x] if first + ty < n and x < n else np.float32(0)
        pk.barrier()
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        pk.barrier()
    if x < n and y < n:
        c[y * n + x] = total


@pk.kernel(workgroup=(TILE, 2, 4))
def reversed_tiles(out, source):
    """A group writes what it has read, the last row first."""
    x, y, z = pk.index()
    lx, ly, lz = pk.local_index()
    tile = pk.shared((4, 2, TILE), pk.f32)
    tile[lz, ly, lx] = source[z, y, x]
    pk.barrier()
    out[z, y, x] = tile[3 - lz, 1 - ly, TILE - 1 - lx]


@pk.kernel(workgroup=(24, 4))
def total(out, source):
    """Rows of 24: the first lane of a subgroup may be outside of the launch while others are inside."""
    x, y = pk.index()
    pk.atomic_add(out, 0, source[y, x])


@pk.kernel(workgroup=(16, 4))
def numbers(out, source):
    """The kernel sees how work-items are numbered: that of the index space."""
    x, y = pk.index()
    number = pk.subgroup_index() * pk.subgroup_size() + pk.lane_index()
    out[y, x] = source[y, x] + pk.i32(number)


@pk.kernel
def smooth(out, source):
    x, y = pk.index()
    if 0 < x < source.shape[1] - 1 and y < source.shape[0]:
        out[y, x] = source[y, x - 1] * source[y, x + 1]


def on(device, *arrays):
    return [pk.array(each, device=device) for each in arrays]


@pytest.mark.parametrize(("nx", "ny"), [(67, 31), (1, 40), (40, 1), (0, 5)])
def test_flat_images(device, rng, nx, ny):
    source = rng.standard_normal((ny, nx)).astype("f")
    out, there = on(device, np.zeros(ny * nx, "f"), source.ravel())
    image(out, there, nx, ny, np.float32(2.5), ndrange=(-(-nx // 16) * 16, -(-ny // 16) * 16))
    expected = np.float32(2.5) * source + (np.arange(nx) - 3 * np.arange(ny)[:, None])
    np.testing.assert_allclose(out.numpy().reshape(ny, nx), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("group", [None, (16, 16), (32, 4), (3, 5)])
def test_ranges_and_groups(device, rng, group):
    source = rng.standard_normal((29, 41)).astype("f")
    out, there = on(device, np.full((29, 41), 7, "f"), source)
    xs, ys = range(3, 41, 2), range(28, 4, -3)
    ranges(out, there, ndrange=(xs, ys), **({} if group is None else {"workgroup": group}))
    expected = np.full((29, 41), 7, "f")
    at = np.ix_(np.array(ys), np.array(xs))
    expected[at] = source[at] + (np.array(xs) - 3 * np.array(ys)[:, None])
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("group", [None, (16, 2, 4)])
@pytest.mark.parametrize(
    ("kernel", "order"), [(volume, (2, 1, 0)), (middle, (0, 2, 1)), (four, (3, 2, 0, 1))]
)
def test_several_dimensions(device, rng, kernel, order, group):
    shape = (19, 5, 18, 3)[: len(order)]
    source = rng.standard_normal([shape[dim] for dim in order]).astype("f")
    out, there = on(device, np.zeros_like(source), source)
    group = None if group is None else (*group, 1)[: len(order)]
    kernel(out, there, ndrange=shape, **({} if group is None else {"workgroup": group}))
    places = np.einsum("d...,d->...", np.indices(shape), 10 ** np.arange(len(shape)))
    np.testing.assert_allclose(out.numpy(), source + places.transpose(order), rtol=1e-6)


def test_loops_in_steps_of_the_launch(device, rng):
    ny, nx = 21, 75
    source = rng.standard_normal((ny, nx)).astype("f")
    out, there = on(device, np.zeros(ny * nx, "f"), source.ravel())
    strided(out, there, nx, ny, ndrange=(32, 8))
    expected = source + (np.arange(nx) - 3 * np.arange(ny)[:, None])
    np.testing.assert_allclose(out.numpy().reshape(ny, nx), expected, rtol=1e-6)


def test_a_product_by_tiles(device, rng):
    n = 21
    a, b = rng.standard_normal((2, n, n)).astype("f")
    c, there, right = on(device, np.zeros(n * n, "f"), a.ravel(), b.ravel())
    product(c, there, right, n, ndrange=(24, 24))
    np.testing.assert_allclose(c.numpy().reshape(n, n), a @ b, rtol=1e-4, atol=1e-4)


def test_tiles_of_unequal_sides(device, rng):
    source = rng.standard_normal((8, 6, 16)).astype("f")
    out, there = on(device, np.zeros_like(source), source)
    reversed_tiles(out, there, ndrange=(16, 6, 8))
    tiles = source.reshape(2, 4, 3, 2, 2, TILE)[:, ::-1, :, ::-1, :, ::-1]
    np.testing.assert_array_equal(out.numpy(), tiles.reshape(source.shape))


def test_atomics_on_one_cell(device, rng):
    source = rng.integers(-9, 9, (13, 29)).astype(np.int32)
    out, there = on(device, np.zeros(1, np.int32), source)
    total(out, there, ndrange=(29, 13))
    assert out.numpy()[0] == source.sum()


def test_numbers_of_work_items_stay(device, rng):
    source = rng.integers(-9, 9, (8, 32)).astype(np.int32)
    out, there = on(device, np.zeros_like(source), source)
    numbers(out, there, ndrange=(32, 8))
    x, y = np.arange(32), np.arange(8)[:, None]
    np.testing.assert_array_equal(out.numpy(), source + (x % 16 * 4 + y % 4))


def test_a_gradient(device, rng):
    source, seed = rng.standard_normal((2, 17, 23)).astype("f")
    out, there, d_out, d_source = on(device, np.zeros_like(source), source, seed, np.zeros_like(source))
    pk.autodiff(smooth)(pk.Dup(out, d_out), pk.Dup(there, d_source), ndrange=(23, 17))
    expected = np.zeros_like(source)
    expected[:, :-2] += seed[:, 1:-1] * source[:, 2:]
    expected[:, 2:] += seed[:, 1:-1] * source[:, :-2]
    np.testing.assert_allclose(d_source.numpy(), expected, rtol=1e-5, atol=1e-6)
