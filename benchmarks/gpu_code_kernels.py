"""Kernels of `peers/kernels.cu` in pykern. ``# loop: name`` marks the line in which a loop does its work.

Those of `device_kernels`, which are measured on devices, are counted from there.
"""

from __future__ import annotations

import numpy as np

import pykern as pk

ROW = 256


@pk.kernel(workgroup=ROW, fastmath=True)
def softmax(y, x):
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


@pk.kernel(workgroup=ROW, fastmath=True)
def rmsnorm(y, x, weight, eps):
    row, here = pk.group_index(), pk.local_index()
    n = x.shape[1]
    squares = np.float32(0)
    for k in range(here, n, ROW):
        squares += x[row, k] * x[row, k]  # loop: squares
    scale = np.float32(1) / pk.sqrt(pk.group_reduce(squares, "add") / n + eps)
    for k in range(here, n, ROW):
        y[row, k] = x[row, k] * scale * weight[k]  # loop: write


@pk.kernel(fastmath=True)
def nbody(a, p):
    i = pk.index()
    n = p.shape[1]
    x, y, z = p[0, i], p[1, i], p[2, i]
    ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
    for j in range(n):
        dx, dy, dz = p[0, j] - x, p[1, j] - y, p[2, j] - z
        r = np.float32(1) / pk.sqrt(dx * dx + dy * dy + dz * dz + np.float32(1e-3))  # loop: pairs
        s = r * r * r
        ax += dx * s
        ay += dy * s
        az += dz * s
    a[0, i], a[1, i], a[2, i] = ax, ay, az


@pk.kernel
def matmul(c, a, b):
    i, j = pk.index()
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]  # loop: terms
    c[i, j] = total


@pk.kernel(workgroup=(16, 16))
def matmul_shared(c, a, b):
    i, j = pk.index()
    row, column = pk.local_index()
    left = pk.shared((16, 17), pk.f32)
    right = pk.shared((16, 17), pk.f32)
    total = np.float32(0)
    for start in range(0, a.shape[1], 16):
        left[row, column] = a[i, start + column]
        right[row, column] = b[start + row, j]
        pk.barrier()
        for k in range(16):
            total += left[row, k] * right[k, column]  # loop: tile
        pk.barrier()
    c[i, j] = total


@pk.kernel(fastmath=True)
def gelu(y, x):
    i = pk.index()
    v = x[i]
    u = np.float32(0.7978845608) * (v + np.float32(0.044715) * v * v * v)
    y[i] = v / (np.float32(1) + pk.exp(np.float32(-2) * u))


@pk.kernel
def mandelbrot(counts, scale, limit):
    i, j = pk.index()
    cx, cy = pk.f32(j) * scale - np.float32(2), pk.f32(i) * scale - np.float32(1.5)
    x, y = np.float32(0), np.float32(0)
    n = 0
    while n < limit:
        xx, yy = x * x, y * y
        if xx + yy > np.float32(4):
            break
        y = np.float32(2) * x * y + cy  # loop: steps
        x = xx - yy + cx
        n += 1
    counts[i, j] = n


@pk.kernel
def spmv(y, values, columns, starts, x):
    i = pk.index()
    total = np.float32(0)
    for k in range(starts[i], starts[i + 1]):
        total += values[k] * x[columns[k]]  # loop: entries
    y[i] = total


@pk.kernel
def filter3(out, image, weights):
    i, j = pk.index()
    if 0 < i < image.shape[0] - 1 and 0 < j < image.shape[1] - 1:
        total = np.float32(0)
        for a in range(3):
            for b in range(3):
                total += image[i + a - 1, j + b - 1] * weights[a, b]
        out[i, j] = total


@pk.kernel
def gather(y, x, index):
    i = pk.index()
    y[i] = x[index[i]]


@pk.kernel
def life(to, fro):
    i, j = pk.index()
    if 0 < i < fro.shape[0] - 1 and 0 < j < fro.shape[1] - 1:
        n = 0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di != 0 or dj != 0:
                    n += fro[i + di, j + dj]
        to[i, j] = n == 3 or (n == 2 and fro[i, j] == 1)


@pk.kernel
def axpy_bf16(y, x, a):
    i = pk.index()
    y[i] = a * pk.f32(x[i]) + pk.f32(y[i])
