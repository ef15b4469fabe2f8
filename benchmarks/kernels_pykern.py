"""Kernels that people bring along from Numba, Taichi and Warp, as kernels of pykern's: one work-item a result.

Comes in: a workload's arrays, results first. Goes out: the results. Constants are in the code, as they are in theirs.
"""

from __future__ import annotations

import pykern as pk

# -- images --------------------------------------------------------------------------------------


@pk.kernel
def median(out, image):
    """The middle of nine, by a sorting network in memory of the work-item's own."""
    i, j = pk.index()
    w = pk.private(9, pk.f32)
    for a in range(3):
        for b in range(3):
            w[3 * a + b] = image[i + a, j + b]
    for a in range(5):  # the five largest are at the end, in order
        for b in range(8 - a):
            if w[b] > w[b + 1]:
                w[b], w[b + 1] = w[b + 1], w[b]
    out[i, j] = w[4]


@pk.kernel(fastmath=True)
def bilateral(out, image, near, alike):
    i, j = pk.index()
    middle = image[i + 2, j + 2]
    total = weights = pk.f32(0)
    for a in range(5):
        for b in range(5):
            value = image[i + a, j + b]
            d = value - middle
            w = pk.exp(-alike * d * d - near * ((a - 2) * (a - 2) + (b - 2) * (b - 2)))
            total += w * value
            weights += w
    out[i, j] = total / weights


@pk.kernel
def gray(out, image):
    i, j = pk.index()
    r, g, b = pk.i32(image[i, j, 0]), pk.i32(image[i, j, 1]), pk.i32(image[i, j, 2])
    out[i, j] = pk.u8((77 * r + 150 * g + 29 * b) >> 8)


@pk.kernel
def life(new, old):
    i, j = pk.index()
    n = 0
    for a in range(3):
        for b in range(3):
            n += old[i + a, j + b]
    alive = old[i + 1, j + 1]
    n -= alive
    new[i, j] = 1 if n == 3 or (n == 2 and alive == 1) else 0


@pk.kernel
def histogram(bins, image):
    i, j = pk.index()
    pk.atomic_add(bins, image[i, j], 1)


# -- loops that end where each likes ----------------------------------------------------------------


@pk.kernel
def collatz(steps):
    i = pk.index()
    n, count = i + 1, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    steps[i] = count


@pk.kernel
def mandelbrot(count, most):
    i, j = pk.index()
    cx = -2.0 + 3.0 / count.shape[1] * pk.f32(j)
    cy = -1.25 + 2.5 / count.shape[0] * pk.f32(i)
    x = y = pk.f32(0)
    n = 0
    while x * x + y * y < 4.0 and n < most:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    count[i, j] = n


@pk.kernel
def search(place, sorted_values, wanted):
    i = pk.index()
    value = wanted[i]
    low, high = 0, len(sorted_values)
    while low < high:
        middle = (low + high) // 2
        if sorted_values[middle] < value:
            low = middle + 1
        else:
            high = middle
    place[i] = low


@pk.kernel
def matches(found, text, pattern):
    i = pk.index()
    same = True
    for k in range(len(pattern)):
        if text[i + k] != pattern[k]:
            same = False
            break
    found[i] = 1 if same else 0


# -- random numbers ----------------------------------------------------------------------------------


@pk.kernel
def darts(inside, samples):
    """Pi by xorshift32."""
    i = pk.index()
    state = pk.u32(i) * pk.u32(747796405) + pk.u32(2891336453)
    count = 0
    for _ in range(samples):
        state = state ^ (state << 13)
        state = state ^ (state >> 17)
        state = state ^ (state << 5)
        x = pk.f32(state >> 8) * pk.f32(2.0**-24)
        state = state ^ (state << 13)
        state = state ^ (state >> 17)
        state = state ^ (state << 5)
        y = pk.f32(state >> 8) * pk.f32(2.0**-24)
        if x * x + y * y < 1.0:
            count += 1
    inside[i] = count


@pk.kernel
def walk(place, steps):
    i = pk.index()
    state = pk.u32(i) * pk.u32(747796405) + pk.u32(2891336453)
    x = y = 0
    for _ in range(steps):
        state = state ^ (state << 13)
        state = state ^ (state >> 17)
        state = state ^ (state << 5)
        way = state >> 30
        if way == 0:
            x += 1
        elif way == 1:
            x -= 1
        elif way == 2:
            y += 1
        else:
            y -= 1
    place[i, 0] = x
    place[i, 1] = y


# -- particles and grids -----------------------------------------------------------------------------


@pk.kernel
def move(p, v, dt):
    i = pk.index()
    x, y = p[i, 0] + dt * v[i, 0], p[i, 1] + dt * v[i, 1]
    if x < 0.0 or x > 1.0:
        v[i, 0] = -v[i, 0]
    if y < 0.0 or y > 1.0:
        v[i, 1] = -v[i, 1]
    p[i, 0] = pk.clamp(x, 0.0, 1.0)
    p[i, 1] = pk.clamp(y, 0.0, 1.0)


@pk.kernel(fastmath=True)
def bodies(a, p, m):
    i = pk.index()
    ax = ay = az = pk.f32(0)
    for j in range(p.shape[0]):
        dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
        r = 1.0 / pk.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
        w = m[j] * r * r * r
        ax += w * dx
        ay += w * dy
        az += w * dz
    a[i, 0], a[i, 1], a[i, 2] = ax, ay, az


@pk.kernel
def heat3d(new, old, c):
    i, j, k = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1 and 0 < k < old.shape[2] - 1:
        new[i, j, k] = old[i, j, k] + c * (
            old[i + 1, j, k] + old[i - 1, j, k] + old[i, j + 1, k] + old[i, j - 1, k]
            + old[i, j, k + 1] + old[i, j, k - 1] - 6 * old[i, j, k]
        )  # fmt: skip


@pk.kernel
def box27(new, old):
    """The mean of 27 cells, by three loops."""
    i, j, k = pk.index()
    total = pk.f32(0)
    for a in range(3):
        for b in range(3):
            for c in range(3):
                total += old[i + a, j + b, k + c]
    new[i, j, k] = total / 27


@pk.kernel
def gather(y, x, index, w):
    i = pk.index()
    y[i] = w[i] * x[index[i]] + y[i] * pk.f32(index[i] & 7)


# -- rows, matrices, transforms -----------------------------------------------------------------------


@pk.kernel
def running(out, x):
    i = pk.index()
    total = pk.f32(0)
    for k in range(x.shape[1]):
        total += x[i, k]
        out[i, k] = total


@pk.kernel
def butterflies(re, im, wr, wi, half):
    """One stage of a transform in place: pairs `half` apart."""
    block, k = pk.index()
    a = block * 2 * half + k
    b = a + half
    xr, xi = re[b] * wr[k] - im[b] * wi[k], re[b] * wi[k] + im[b] * wr[k]
    re[b], im[b] = re[a] - xr, im[a] - xi
    re[a], im[a] = re[a] + xr, im[a] + xi


@pk.kernel(fastmath=True)
def black_scholes(call, put, price, strike, years, rate, volatility):
    i = pk.index()
    root = pk.sqrt(years[i])
    d1 = (pk.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (
        volatility * root
    )
    d2 = d1 - volatility * root
    n1 = 0.5 + 0.5 * pk.erf(d1 * pk.f32(0.7071067811865476))
    n2 = 0.5 + 0.5 * pk.erf(d2 * pk.f32(0.7071067811865476))
    discounted = strike[i] * pk.exp(-rate * years[i])
    call[i] = price[i] * n1 - discounted * n2
    put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)


@pk.kernel(fastmath=True)
def assign(cluster, x, centres):
    i = pk.index()
    best, where = pk.f32(1e30), 0
    for k in range(centres.shape[0]):
        d = pk.f32(0)
        for j in range(x.shape[1]):
            d += (x[i, j] - centres[k, j]) * (x[i, j] - centres[k, j])
        if d < best:
            best, where = d, k
    cluster[i] = where


@pk.kernel(fastmath=True)
def spmv(y, starts, columns, values, x):
    i = pk.index()
    total = pk.f32(0)
    for k in range(starts[i], starts[i + 1]):
        total += values[k] * x[columns[k]]
    y[i] = total


@pk.kernel
def solve(x, a, b):
    """6 equations a work-item, by Gauss in memory of its own."""
    n = pk.index()
    m, v = pk.private((6, 6), pk.f32), pk.private(6, pk.f32)
    for i in range(6):
        v[i] = b[n, i]
        for j in range(6):
            m[i, j] = a[n, i, j]
    for k in range(6):
        for i in range(k + 1, 6):
            f = m[i, k] / m[k, k]
            for j in range(k + 1, 6):
                m[i, j] -= f * m[k, j]
            v[i] -= f * v[k]
    for r in range(6):
        k = 5 - r
        s = v[k]
        for j in range(k + 1, 6):
            s -= m[k, j] * v[j]
        v[k] = s / m[k, k]
        x[n, k] = v[k]


@pk.kernel
def factor(a):
    """The same without pivots in place, in memory of all: lower and upper parts of 6 by 6."""
    n = pk.index()
    for k in range(6):
        for i in range(k + 1, 6):
            f = a[n, i, k] / a[n, k, k]
            a[n, i, k] = f
            for j in range(k + 1, 6):
                a[n, i, j] -= f * a[n, k, j]
