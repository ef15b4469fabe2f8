"""Products of which a kernel computes the cells that a mask of indices asks for: bands, trapezoids, boxes.

The other cells keep what they held. Against NumPy in f64; triangles are in `test_triangles`.
"""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def two_sided(c, a, b):
    i, j = pk.index()
    if j - i <= 9 and i - j <= 4:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@pk.kernel
def near(c, a, b):
    i, j = pk.index()
    if abs(i - j) < 12:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@pk.kernel
def wedge(c, a, b):
    i, j = pk.index()
    if i <= j and j <= 2 * i + 3:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@pk.kernel
def corner(c, a, b):
    i, j = pk.index()
    if i + j < c.shape[0] - 2 and j > 10:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@pk.kernel
def diagonal(c, a, b):
    i, j = pk.index()
    if i == j:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@pk.kernel
def either(c, a, b):
    i, j = pk.index()
    if j <= i or j % 7 == 0:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


MASKS = {
    two_sided: lambda i, j, n: (j - i <= 9) & (i - j <= 4),
    near: lambda i, j, n: abs(i - j) < 12,
    wedge: lambda i, j, n: (i <= j) & (j <= 2 * i + 3),
    corner: lambda i, j, n: (i + j < n - 2) & (j > 10),
    diagonal: lambda i, j, n: i == j,
    either: lambda i, j, n: (j <= i) | (j % 7 == 0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("size", [1, 23, 150])
@pytest.mark.parametrize("kernel", list(MASKS), ids=lambda kernel: kernel.__name__)
def test_cells_of_the_mask(kernel, size, dtype):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 8, shape).astype(dtype) for shape in ((size, 70), (70, size)))
    c = rng.integers(-8, 8, (size, size)).astype(dtype)
    i, j = np.ogrid[:size, :size]
    exact = np.where(MASKS[kernel](i, j, size), a.astype(np.float64) @ b.astype(np.float64), c)

    @pk.jit
    def run(c, a, b):
        kernel(c, a, b, ndrange=c.shape)

    run(c, a, b)
    assert np.array_equal(c, exact.astype(dtype))
