"""Kernels of `peers/kernels.cu` in pykern. ``# loop: name`` marks the line in which a loop does its work.

Those of `device_kernels`, which are measured on devices, are counted, too; loops are marked there in the same way.
"""

from __future__ import annotations

import numpy as np

import pykern as pk

ROW = 256


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
