"""Kernels that are measured on devices: the same source everywhere."""

from __future__ import annotations

import numpy as np

import pykern as pk

TILE = 16
ROW = 256  # work-items of a row of softmax and layernorm, and of a reduction's group
BINS = 256
PER_ITEM = 16


@pk.kernel
def nothing(x):
    i = pk.index()
    if i < 0:
        x[i] = 0


@pk.kernel
def copy(y, x):
    i = pk.index()
    y[i] = x[i]


@pk.kernel
def triad(a, b, c, s):
    i = pk.index()
    a[i] = b[i] + s * c[i]


@pk.kernel
def saxpy(y, x, a):
    i = pk.index()
    y[i] = a * x[i] + y[i]


@pk.kernel
def heat(new, old, c):
    i, j = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = old[i, j] + c * (
            old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1] - 4.0 * old[i, j]
        )


@pk.kernel
def diffusion3(new, old, k, c):
    """Diffusivity `k` of each cell, as in the benchmark of stencils: three arrays move."""
    i, j, m = pk.index()
    nx, ny, nz = old.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1 and 0 < m < nz - 1:
        around = (
            old[i + 1, j, m] + old[i - 1, j, m] + old[i, j + 1, m] + old[i, j - 1, m]
            + old[i, j, m + 1] + old[i, j, m - 1]
        )  # fmt: skip
        new[i, j, m] = old[i, j, m] + c * k[i, j, m] * (around - 6.0 * old[i, j, m])


@pk.kernel
def transpose(out, a):
    i, j = pk.index()
    out[j, i] = a[i, j]


@pk.kernel(workgroup=(TILE, TILE))
def transpose_shared(out, a):
    """Reads and writes along rows; the tile is turned in shared memory."""
    i, j = pk.index()
    row, column = pk.local_index()
    tile = pk.shared((TILE, TILE + 1), pk.f32)
    if i < a.shape[0] and j < a.shape[1]:
        tile[row, column] = a[i, j]
    pk.barrier()
    above, left = pk.group_index(1) * TILE + row, pk.group_index(0) * TILE + column
    if above < out.shape[0] and left < out.shape[1]:
        out[above, left] = tile[column, row]


@pk.kernel(workgroup=ROW)
def reduction(total, x):
    """Each group sums `ROW * PER_ITEM` elements and adds once."""
    here = pk.local_index()
    first = pk.group_index() * (ROW * PER_ITEM) + here
    mine = np.float32(0)
    for k in range(PER_ITEM):
        p = first + k * ROW
        if p < x.shape[0]:
            mine += x[p]
    whole = pk.group_reduce(mine, "add")
    if here == 0:
        pk.atomic_add(total, 0, whole)


@pk.kernel(workgroup=ROW)
def histogram(counts, values):
    here = pk.local_index()
    first = pk.group_index() * (ROW * PER_ITEM) + here
    mine = pk.shared((BINS,), pk.i32)
    for b in range(here, BINS, ROW):
        mine[b] = 0
    pk.barrier()
    for k in range(PER_ITEM):
        p = first + k * ROW
        if p < values.shape[0]:
            pk.atomic_add(mine, values[p], 1)
    pk.barrier()
    for b in range(here, BINS, ROW):
        pk.atomic_add(counts, b, mine[b])


@pk.kernel
def matmul(c, a, b):
    i, j = pk.index()
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]  # loop: terms
    c[i, j] = total


@pk.kernel(workgroup=(TILE, TILE))
def matmul_shared(c, a, b):
    """Lengths are multiples of `TILE`."""
    i, j = pk.index()
    row, column = pk.local_index()
    left = pk.shared((TILE, TILE + 1), pk.f32)
    right = pk.shared((TILE, TILE + 1), pk.f32)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        left[row, column] = a[i, start + column]
        right[row, column] = b[start + row, j]
        pk.barrier()
        for k in range(TILE):
            total += left[row, k] * right[k, column]  # loop: tile
        pk.barrier()
    c[i, j] = total


@pk.kernel(workgroup=ROW, fastmath=True)
def softmax(y, x):
    """A row is one group's."""
    row, here = pk.group_index(), pk.local_index()
    n = x.shape[1]
    largest = np.float32(-np.inf)
    for k in range(here, n, ROW):
        largest = max(largest, x[row, k])  # loop: max
    largest = pk.group_reduce(largest, "max")
    total = np.float32(0)
    for k in range(here, n, ROW):
        total += pk.exp(x[row, k] - largest)  # loop: sum
    scale = np.float32(1) / pk.group_reduce(total, "add")
    for k in range(here, n, ROW):
        y[row, k] = pk.exp(x[row, k] - largest) * scale  # loop: write


@pk.kernel(workgroup=ROW, fastmath=True)
def layernorm(y, x, weight, bias, eps):
    """A row is one group's."""
    row, here = pk.group_index(), pk.local_index()
    n = x.shape[1]
    total, squares = np.float32(0), np.float32(0)
    for k in range(here, n, ROW):
        total += x[row, k]  # loop: sum
    mean = pk.group_reduce(total, "add") / n
    for k in range(here, n, ROW):
        d = x[row, k] - mean  # loop: squares
        squares += d * d
    scale = np.float32(1) / pk.sqrt(pk.group_reduce(squares, "add") / n + eps)
    for k in range(here, n, ROW):
        y[row, k] = (x[row, k] - mean) * scale * weight[k] + bias[k]  # loop: write


@pk.kernel
def tile_product(c, a, b):
    """Tensor cores multiply 16-bit factors."""
    i, j = pk.tile()
    total = pk.zeros((i, j), c.dtype)
    for k in pk.tiles(a.shape[1]):
        total += a[i, k] @ b[k, j]
    c[i, j] = total


@pk.kernel
def tile_attention(o, q, k, v, scale):
    """Powers are rounded to the type of the values: of 16-bit ones tensor cores compute both products."""
    h, i = pk.tile(1, None)
    top = pk.full((i, 1), -pk.inf, pk.f32)
    total = pk.zeros((i, 1), pk.f32)
    sums = pk.zeros((i, v.shape[2]), pk.f32)
    for j in pk.tiles(k.shape[1]):
        s = q[h, i] @ k[h, j].T * scale
        s = pk.where(pk.positions(i)[:, None] >= pk.positions(j), s, -pk.inf)
        new = pk.maximum(top, s.max(-1, keepdims=True))
        p = pk.exp(s - new)
        rest = pk.exp(top - new)
        total = total * rest + p.sum(-1, keepdims=True)
        sums = sums * rest + p.astype(v.dtype) @ v[h, j]
        top = new
    o[h, i] = sums / total
