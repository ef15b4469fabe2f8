"""kern-version-short-rows: colours, points and small matrices, in rows as long as expected and in longer ones."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def gray(out, image):
    i, j = pk.index()
    r, g, b = pk.i32(image[i, j, 0]), pk.i32(image[i, j, 1]), pk.i32(image[i, j, 2])
    out[i, j] = pk.u8((77 * r + 150 * g + 29 * b) >> 8)


@pk.kernel
def move(p, v, dt):
    i = pk.index()
    p[i, 0] += dt * v[i, 0]
    p[i, 1] += dt * v[i, 1]


@pk.kernel
def turned(out, matrices, points):
    i = pk.index()
    x, y = points[i, 0], points[i, 1]
    out[i, 0] = matrices[i, 0, 0] * x + matrices[i, 0, 1] * y
    out[i, 1] = matrices[i, 1, 0] * x + matrices[i, 1, 1] * y


@pk.kernel
def centre(total, points):
    """One work-item walks over all points: the loop carries sums."""
    pk.index()
    x = y = z = pk.f64(0)
    for i in range(points.shape[0]):
        x += points[i, 0]
        y += points[i, 1]
        z += points[i, 2]
    total[0], total[1], total[2] = x, y, z


@pk.kernel
def picked(out, points, n):
    """The second index is no constant."""
    i = pk.index()
    out[i] = points[i, 0] + points[i, n]


@pk.kernel
def weighted(out, p):
    """Rows of five."""
    i = pk.index()
    out[i] = p[i, 0] + 2 * p[i, 1] + 3 * p[i, 2] + 4 * p[i, 3] + 5 * p[i, 4]


def versions(kernel, *arguments, ndrange) -> bool:
    """Whether the pass made any."""
    stages = {s.name: s.text for s in kernel.lower(*arguments, ndrange=ndrange).stages}
    return "memref.cast" in stages["kern-version-short-rows"]


@pytest.mark.parametrize("colours", [3, 4, 5])
@pytest.mark.parametrize("shape", [(0, 7), (1, 1), (3, 63), (5, 130), (17, 1000)])
def test_pixels(rng, shape, colours):
    image = rng.integers(0, 256, (*shape, colours)).astype(np.uint8)
    out = np.zeros(shape, np.uint8)
    gray(out, image, ndrange=shape)
    wide = image.astype(int)
    expected = (wide[..., 0] * 77 + wide[..., 1] * 150 + wide[..., 2] * 29) >> 8
    np.testing.assert_array_equal(out, expected)
    assert versions(gray, out, image, ndrange=shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("widths", [(2, 2), (3, 2), (2, 3), (4, 8)])
def test_points_in_place(rng, widths, dtype):
    """Of both arrays the rows have to be as long; columns beyond keep what they have."""
    p, v = (rng.standard_normal((1013, n)).astype(dtype) for n in widths)
    expected = p.copy()
    expected[:, :2] = p[:, :2] + np.dtype(dtype).type(0.25) * v[:, :2]
    move(p, v, 0.25, ndrange=1013)
    np.testing.assert_array_equal(p, expected)


@pytest.mark.parametrize("strides", [(2, 1), (1, 2), (-1, 1)])
def test_points_that_do_not_lie_side_by_side(rng, strides):
    whole = rng.standard_normal((600, 6)).astype(np.float32)
    p = whole[:: strides[0], : 2 * strides[1] : strides[1]]
    v = rng.standard_normal((len(p), 2)).astype(np.float32)
    expected = whole.copy()
    view = expected[:: strides[0], : 2 * strides[1] : strides[1]]
    view[:] = view + np.float32(0.5) * v
    move(p, v, 0.5, ndrange=len(p))
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2)])
def test_small_matrices(rng, rows, columns):
    matrices = rng.standard_normal((777, rows, columns))
    points, out = rng.standard_normal((777, 2)), np.zeros((777, 2))
    turned(out, matrices, points, ndrange=777)
    expected = np.einsum("nrc,nc->nr", matrices[:, :2, :2], points)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)
    assert versions(turned, out, matrices, points, ndrange=777)


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("columns", [5, 6, 8])
def test_rows_padded_to_a_power_of_two(rng, columns, dtype):
    """Rows of five, as long as that, longer, and padded; those of more than half a cache line have no version."""
    p, out = rng.integers(-9, 9, (1003, columns)).astype(dtype), np.zeros(1003, dtype)
    weighted(out, p, ndrange=1003)
    np.testing.assert_array_equal(out, p[:, :5] @ np.arange(1, 6).astype(dtype))
    assert versions(weighted, out, p, ndrange=1003) is (dtype != "float64")


@pytest.mark.parametrize("columns", [3, 4])
@pytest.mark.parametrize("count", [0, 1, 1001])
def test_sums_that_the_loop_carries(rng, count, columns):
    points, total = rng.integers(-99, 99, (count, columns)).astype(np.float64), np.zeros(3)
    centre(total, points, ndrange=1)
    np.testing.assert_array_equal(total, points[:, :3].sum(0))
    assert versions(centre, total, points, ndrange=1)


def test_an_index_that_is_no_constant_is_left_alone(rng):
    points, out = rng.standard_normal((50, 3)), np.zeros(50)
    picked(out, points, 2, ndrange=50)
    np.testing.assert_array_equal(out, points[:, 0] + points[:, 2])
    assert not versions(picked, out, points, 2, ndrange=50)
