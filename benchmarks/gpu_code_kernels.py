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


@pk.kernel
def bias_relu(y, x, bias):
    i, j = pk.index()
    y[i, j] = max(x[i, j] + bias[j], np.float32(0))


@pk.kernel
def scatter_add(out, x, index):
    i = pk.index()
    pk.atomic_add(out, index[i], x[i])


@pk.kernel(workgroup=ROW)
def dot(total, x, y):
    """Each group multiplies `ROW * 16` pairs and adds once."""
    here = pk.local_index()
    first = pk.group_index() * (ROW * 16) + here
    mine = np.float32(0)
    for k in range(16):
        p = first + k * ROW
        if p < x.shape[0]:
            mine += x[p] * y[p]
    whole = pk.group_reduce(mine, "add")
    if here == 0:
        pk.atomic_add(total, 0, whole)


@pk.kernel(workgroup=ROW)
def matvec(y, a, x):
    row, here = pk.group_index(), pk.local_index()
    total = np.float32(0)
    for k in range(here, a.shape[1], ROW):
        total += a[row, k] * x[k]  # loop: products
    total = pk.group_reduce(total, "add")
    if here == 0:
        y[row] = total


@pk.kernel(fastmath=True)
def adam(weight, moment, square, gradient, rate):
    i = pk.index()
    g = gradient[i]
    m = np.float32(0.9) * moment[i] + np.float32(0.1) * g
    v = np.float32(0.999) * square[i] + np.float32(0.001) * g * g
    moment[i], square[i] = m, v
    weight[i] -= rate * m / (pk.sqrt(v) + np.float32(1e-8))


@pk.kernel
def convolution(y, x, w):
    i = pk.index()
    if 1 < i < x.shape[0] - 2:
        total = np.float32(0)
        for k in range(5):
            total += x[i + k - 2] * w[k]
        y[i] = total


@pk.kernel
def grey(y, x):
    """Bytes of red, green and blue, one behind the other."""
    i = pk.index()
    red, green, blue = pk.f32(x[3 * i]), pk.f32(x[3 * i + 1]), pk.f32(x[3 * i + 2])
    y[i] = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue


@pk.kernel
def lower_bound(out, ordered, wanted):
    i = pk.index()
    value = wanted[i]
    low, high = 0, ordered.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:  # loop: halves
            low = middle + 1
        else:
            high = middle
    out[i] = low


@pk.kernel(fastmath=True)
def black_scholes(call, price, strike, years):
    """Rate 2 %, volatility 30 %; the normal distribution as a polynomial (Abramowitz and Stegun 26.2.17)."""
    i = pk.index()
    p, s, t = price[i], strike[i], years[i]
    root = pk.sqrt(t)
    d = (pk.log(p / s) + np.float32(0.065) * t) / (np.float32(0.3) * root)
    call[i] = p * normal(d) - s * pk.exp(np.float32(-0.02) * t) * normal(d - np.float32(0.3) * root)


@pk.func
def normal(d):
    k = np.float32(1) / (np.float32(1) + np.float32(0.2316419) * abs(d))
    tail = k * (
        np.float32(0.31938153)
        + k * (np.float32(-0.356563782) + k * (np.float32(1.781477937)
        + k * (np.float32(-1.821255978) + k * np.float32(1.330274429))))
    )  # fmt: skip
    tail = np.float32(0.39894228) * pk.exp(np.float32(-0.5) * d * d) * tail
    return np.float32(1) - tail if d > 0 else tail


@pk.kernel
def axpy_f64(y, x, a):
    i = pk.index()
    y[i] = a * x[i] + y[i]
