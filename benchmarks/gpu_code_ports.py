"""Kernels as ports from CUDA C++ are written: flat arrays with lengths as integers, x as the first dimension, loops in
steps of the launch, tiles, and reductions by a tree in shared memory. In CUDA C++ they stand in `peers/kernels.cu`.
"""

from __future__ import annotations

import numpy as np

import pykern as pk

SIDE, LINE = 16, 256


@pk.kernel(workgroup=LINE)
def ported_steps(y, x, a, n):
    first = pk.group_index() * pk.group_size() + pk.local_index()
    for i in range(first, n, pk.num_groups() * pk.group_size()):
        y[i] = a * x[i] + y[i]  # loop: elements


@pk.kernel(workgroup=LINE)
def ported_while(y, x, a, n):
    i = pk.group_index() * pk.group_size() + pk.local_index()
    while i < n:
        y[i] = a * x[i] + y[i]  # loop: elements
        i += pk.num_groups() * pk.group_size()


@pk.kernel(workgroup=(SIDE, SIDE))
def ported_heat(to, fro, c, nx, ny):
    x = pk.group_index(0) * SIDE + pk.local_index(0)
    y = pk.group_index(1) * SIDE + pk.local_index(1)
    if x > 0 and x < nx - 1 and y > 0 and y < ny - 1:
        k = y * nx + x
        to[k] = fro[k] + c * (fro[k + nx] + fro[k - nx] + fro[k + 1] + fro[k - 1] - np.float32(4) * fro[k])


@pk.kernel(workgroup=(32, 8))
def ported_blend(out, a, b, c, width, height):
    x, y = pk.index()
    if x >= width or y >= height:
        return
    k = y * width + x
    out[k] = a[k] + c * (b[k] - a[k])


@pk.kernel(workgroup=(32, 4, 2))
def ported_volume(out, a, c, nx, ny, nz):
    x, y, z = pk.index()
    if x < nx and y < ny and z < nz:
        k = (z * ny + y) * nx + x
        out[k] = c * a[k]


@pk.kernel(workgroup=(SIDE, SIDE))
def ported_transpose(out, a, width, height):
    tile = pk.shared((SIDE, SIDE + 1), pk.f32)
    tx, ty = pk.local_index()
    x, y = pk.group_index(0) * SIDE + tx, pk.group_index(1) * SIDE + ty
    if x < width and y < height:
        tile[ty, tx] = a[y * width + x]
    pk.barrier()
    left, above = pk.group_index(1) * SIDE + tx, pk.group_index(0) * SIDE + ty
    if left < height and above < width:
        out[above * height + left] = tile[tx, ty]


@pk.kernel(workgroup=(SIDE, SIDE))
def ported_matmul(c, a, b, m, n, k):
    left, right = pk.shared((SIDE, SIDE), pk.f32), pk.shared((SIDE, SIDE), pk.f32)
    tx, ty = pk.local_index()
    column, row = pk.group_index(0) * SIDE + tx, pk.group_index(1) * SIDE + ty
    total = np.float32(0)
    for start in range(0, k, SIDE):
        left[ty, tx] = a[row * k + start + tx] if row < m and start + tx < k else np.float32(0)
        right[ty, tx] = b[(start + ty) * n + column] if start + ty < k and column < n else np.float32(0)
        pk.barrier()
        for e in range(SIDE):
            total += left[ty, e] * right[e, tx]  # loop: tile
        pk.barrier()
    if row < m and column < n:
        c[row * n + column] = total


@pk.kernel(workgroup=(SIDE, SIDE))
def ported_convolution(out, image, weights, width, height):
    x, y = pk.index()
    if x < 2 or y < 2 or x >= width - 2 or y >= height - 2:
        return
    total = np.float32(0)
    for i in range(5):
        for j in range(5):
            total += image[(y + i - 2) * width + x + j - 2] * weights[i * 5 + j]
    out[y * width + x] = total


@pk.kernel(workgroup=LINE)
def ported_sum(out, x, n):
    """A loop in steps of the launch, a tree in shared memory, one atomic a group."""
    part = pk.shared(LINE, pk.f32)
    here = pk.local_index()
    mine = np.float32(0)
    for i in range(pk.group_index() * LINE + here, n, pk.num_groups() * LINE):
        mine += x[i]  # loop: elements
    part[here] = mine
    pk.barrier()
    half = LINE // 2
    while half > 0:
        if here < half:
            part[here] += part[here + half]
        pk.barrier()
        half //= 2
    if here == 0:
        pk.atomic_add(out, 0, part[0])


@pk.kernel(workgroup=LINE)
def ported_tree(out, x, n):
    """The tree alone: 512 elements a group."""
    part = pk.shared(LINE, pk.f32)
    here = pk.local_index()
    i = pk.group_index() * (2 * LINE) + here
    mine = x[i] if i < n else np.float32(0)
    if i + LINE < n:
        mine += x[i + LINE]
    part[here] = mine
    pk.barrier()
    half = LINE // 2
    while half > 0:
        if here < half:
            part[here] += part[here + half]
        pk.barrier()
        half //= 2
    if here == 0:
        out[pk.group_index()] = part[0]


@pk.kernel(workgroup=LINE)
def ported_matvec(y, a, x, m, n):
    """A row of a flat matrix is a work-item's."""
    i = pk.group_index() * LINE + pk.local_index()
    if i < m:
        total = np.float32(0)
        for k in range(n):
            total += a[i * n + k] * x[k]  # loop: products
        y[i] = total


@pk.kernel(workgroup=LINE)
def ported_histogram(counts, values, n):
    bins = pk.shared(LINE, pk.i32)
    here = pk.local_index()
    bins[here] = 0
    pk.barrier()
    for i in range(pk.group_index() * LINE + here, n, pk.num_groups() * LINE):
        pk.atomic_add(bins, values[i], 1)  # loop: elements
    pk.barrier()
    pk.atomic_add(counts, here, bins[here])
