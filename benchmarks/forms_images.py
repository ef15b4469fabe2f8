"""Filters of images and their pixels in the forms in which people write them.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk

_SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
_YUV = np.array([[0.299, 0.587, 0.114], [-0.147, -0.289, 0.436], [0.615, -0.515, -0.1]], np.float32)

# -- bilateral ---------------------------------------------------------------------------------------

bilateral = Computation(
    "bilateral", lambda scale: (zeros(int(512 * scale), 510), random(int(512 * scale), 510))
)


@bilateral.form(lambda o, t: o.shape)
@pk.kernel
def bilateral_if(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    n = pk.f32(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            y, x = i + a, j + b
            if y >= 0 and y < t.shape[0] and x >= 0 and x < t.shape[1]:
                d = t[y, x] - t[i, j]
                e = pk.exp(-4 * d * d)
                s += e * t[y, x]
                n += e
    o[i, j] = s / n


@bilateral.form(lambda o, t: o.shape)
@pk.kernel
def bilateral_bounds(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    n = pk.f32(0)
    for y in range(max(i - 1, 0), min(i + 2, t.shape[0])):
        for x in range(max(j - 1, 0), min(j + 2, t.shape[1])):
            d = t[y, x] - t[i, j]
            e = pk.exp(-4 * d * d)
            s += e * t[y, x]
            n += e
    o[i, j] = s / n


@bilateral.form(lambda o, t: o.shape)
@pk.kernel
def bilateral_continue(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    n = pk.f32(0)
    for a in range(3):
        for b in range(3):
            y, x = i + a - 1, j + b - 1
            if y < 0 or y >= t.shape[0] or x < 0 or x >= t.shape[1]:
                continue
            d = t[y, x] - t[i, j]
            e = pk.exp(-4 * d * d)
            s += e * t[y, x]
            n += e
    o[i, j] = s / n


@bilateral.form(lambda o, t: o.size)
@pk.kernel
def bilateral_flat(o, t):
    k = pk.index()
    h, w = t.shape
    i, j = k // w, k % w
    s = pk.f32(0)
    n = pk.f32(0)
    for q in range(9):
        y, x = i + q // 3 - 1, j + q % 3 - 1
        if y >= 0 and y < h and x >= 0 and x < w:
            d = t[y, x] - t[i, j]
            e = pk.exp(-4 * d * d)
            s += e * t[y, x]
            n += e
    o[i, j] = s / n


@bilateral.form(lambda o, t: o.shape, lambda o, t: (1,))
@pk.kernel
def bilateral_radius(o, t, r):
    i, j = pk.index()
    s = pk.f32(0)
    n = pk.f32(0)
    for a in range(-r, r + 1):
        for b in range(-r, r + 1):
            y, x = i + a, j + b
            if y >= 0 and y < t.shape[0] and x >= 0 and x < t.shape[1]:
                d = t[y, x] - t[i, j]
                e = pk.exp(-4 * d * d)
                s += e * t[y, x]
                n += e
    o[i, j] = s / n


# -- sobel -------------------------------------------------------------------------------------------

sobel = Computation(
    "sobel",
    lambda scale: (np.zeros((int(1024 * scale), 1022), np.uint8), random(int(1024 * scale), 1022)),
    may_differ=1e-4,
)


@sobel.form(lambda o, t: o.shape)
@pk.kernel
def sobel_guard(o, t):
    i, j = pk.index()
    if i > 0 and j > 0 and i < t.shape[0] - 1 and j < t.shape[1] - 1:
        gx = (
            t[i - 1, j + 1]
            + 2 * t[i, j + 1]
            + t[i + 1, j + 1]
            - t[i - 1, j - 1]
            - 2 * t[i, j - 1]
            - t[i + 1, j - 1]
        )
        gy = (
            t[i + 1, j - 1]
            + 2 * t[i + 1, j]
            + t[i + 1, j + 1]
            - t[i - 1, j - 1]
            - 2 * t[i - 1, j]
            - t[i - 1, j + 1]
        )
        if gx * gx + gy * gy > 1:
            o[i, j] = 255
        else:
            o[i, j] = 0


@sobel.form(lambda o, t: o.shape)
@pk.kernel
def sobel_return(o, t):
    i, j = pk.index()
    if i == 0 or j == 0 or i == t.shape[0] - 1 or j == t.shape[1] - 1:
        o[i, j] = 0
        return
    gx = (
        t[i - 1, j + 1]
        + 2 * t[i, j + 1]
        + t[i + 1, j + 1]
        - t[i - 1, j - 1]
        - 2 * t[i, j - 1]
        - t[i + 1, j - 1]
    )
    gy = (
        t[i + 1, j - 1]
        + 2 * t[i + 1, j]
        + t[i + 1, j + 1]
        - t[i - 1, j - 1]
        - 2 * t[i - 1, j]
        - t[i - 1, j + 1]
    )
    o[i, j] = 255 if gx * gx + gy * gy > 1 else 0


@sobel.form(lambda o, t: (range(1, o.shape[0] - 1), range(1, o.shape[1] - 1)), lambda o, t: (_SOBEL,))
@pk.kernel
def sobel_filter(o, t, w):
    i, j = pk.index()
    gx = pk.f32(0)
    gy = pk.f32(0)
    for a in range(3):
        for b in range(3):
            v = t[i + a - 1, j + b - 1]
            gx += w[a, b] * v
            gy += w[b, a] * v
    o[i, j] = 255 if gx * gx + gy * gy > 1 else 0


@sobel.form(lambda o, t: o.size)
@pk.kernel
def sobel_flat(o, t):
    k = pk.index()
    w = t.shape[1]
    i, j = k // w, k % w
    if i > 0 and i < t.shape[0] - 1 and j > 0 and j < w - 1:
        gx = (
            t[i - 1, j + 1]
            + 2 * t[i, j + 1]
            + t[i + 1, j + 1]
            - t[i - 1, j - 1]
            - 2 * t[i, j - 1]
            - t[i + 1, j - 1]
        )
        gy = (
            t[i + 1, j - 1]
            + 2 * t[i + 1, j]
            + t[i + 1, j + 1]
            - t[i - 1, j - 1]
            - 2 * t[i - 1, j]
            - t[i - 1, j + 1]
        )
        if gx * gx + gy * gy > 1:
            o[i, j] = 255
        else:
            o[i, j] = 0


@sobel.form(lambda o, t: o.shape[0] - 2)
@pk.kernel
def sobel_rows(o, t):
    i0 = pk.index()
    i = i0 + 1
    for j in range(1, t.shape[1] - 1):
        gx = (
            t[i - 1, j + 1]
            + 2 * t[i, j + 1]
            + t[i + 1, j + 1]
            - t[i - 1, j - 1]
            - 2 * t[i, j - 1]
            - t[i + 1, j - 1]
        )
        gy = (
            t[i + 1, j - 1]
            + 2 * t[i + 1, j]
            + t[i + 1, j + 1]
            - t[i - 1, j - 1]
            - 2 * t[i - 1, j]
            - t[i - 1, j + 1]
        )
        m = pk.sqrt(gx * gx + gy * gy)
        o[i, j] = 255 if m > 1 else 0


# -- yuv ---------------------------------------------------------------------------------------------

yuv = Computation("yuv", lambda scale: (zeros(int(512 * scale), 512, 3), random(int(512 * scale), 512, 3)))


@yuv.form(lambda o, x: o.shape[:2])
@pk.kernel
def yuv_written(o, x):
    i, j = pk.index()
    r, g, b = x[i, j, 0], x[i, j, 1], x[i, j, 2]
    o[i, j, 0] = 0.299 * r + 0.587 * g + 0.114 * b
    o[i, j, 1] = -0.147 * r - 0.289 * g + 0.436 * b
    o[i, j, 2] = 0.615 * r - 0.515 * g - 0.1 * b


@yuv.form(lambda o, x: o.shape[:2], lambda o, x: (_YUV,))
@pk.kernel
def yuv_matrix(o, x, m):
    i, j = pk.index()
    for c in range(3):
        s = pk.f32(0)
        for d in range(3):
            s += m[c, d] * x[i, j, d]
        o[i, j, c] = s


@yuv.form(lambda o, x: o.shape, lambda o, x: (_YUV,))
@pk.kernel
def yuv_channel(o, x, m):
    i, j, c = pk.index()
    o[i, j, c] = m[c, 0] * x[i, j, 0] + m[c, 1] * x[i, j, 1] + m[c, 2] * x[i, j, 2]


@yuv.form(lambda o, x: o.size // 3)
@pk.kernel
def yuv_flat(o, x):
    k = pk.index()
    i, j = k // x.shape[1], k % x.shape[1]
    r, g, b = x[i, j, 0], x[i, j, 1], x[i, j, 2]
    o[i, j, 0] = 0.299 * r + 0.587 * g + 0.114 * b
    o[i, j, 1] = -0.147 * r - 0.289 * g + 0.436 * b
    o[i, j, 2] = 0.615 * r - 0.515 * g - 0.1 * b


@yuv.form(lambda o, x: o.shape[0], lambda o, x: (_YUV,))
@pk.kernel
def yuv_rows(o, x, m):
    i = pk.index()
    for j in range(x.shape[1]):
        for c in range(x.shape[2]):
            o[i, j, c] = m[c, 0] * x[i, j, 0] + m[c, 1] * x[i, j, 1] + m[c, 2] * x[i, j, 2]


# -- pooling -----------------------------------------------------------------------------------------

pooling = Computation(
    "pooling", lambda scale: (zeros(int(32 * scale), 64, 63), random(int(32 * scale), 129, 127))
)


@pooling.form(lambda o, x: o.shape)
@pk.kernel
def pooling_loops(o, x):
    c, i, j = pk.index()
    m = x[c, 2 * i, 2 * j]
    for a in range(3):
        for b in range(3):
            m = max(m, x[c, 2 * i + a, 2 * j + b])
    o[c, i, j] = m


@pooling.form(lambda o, x: o.shape)
@pk.kernel
def pooling_if(o, x):
    c, i, j = pk.index()
    m = pk.f32(-1e30)
    for a in range(3):
        for b in range(3):
            v = x[c, 2 * i + a, 2 * j + b]
            if v > m:
                m = v
    o[c, i, j] = m


@pooling.form(lambda o, x: o.shape, lambda o, x: (3, 2))
@pk.kernel
def pooling_sizes(o, x, k, s):
    c, i, j = pk.index()
    m = pk.f32(-1e30)
    for a in range(k):
        for b in range(k):
            m = max(m, x[c, s * i + a, s * j + b])
    o[c, i, j] = m


@pooling.form(lambda o, x: o.shape)
@pk.kernel
def pooling_written(o, x):
    c, i, j = pk.index()
    y, z = 2 * i, 2 * j
    a = max(x[c, y, z], x[c, y, z + 1], x[c, y, z + 2])
    b = max(x[c, y + 1, z], x[c, y + 1, z + 1], x[c, y + 1, z + 2])
    d = max(x[c, y + 2, z], x[c, y + 2, z + 1], x[c, y + 2, z + 2])
    o[c, i, j] = max(a, b, d)


@pooling.form(lambda o, x: o.size)
@pk.kernel
def pooling_flat(o, x):
    q = pk.index()
    h, w = o.shape[1], o.shape[2]
    c, i, j = q // (h * w), q // w % h, q % w
    m = pk.f32(-1e30)
    for a in range(3):
        for b in range(3):
            m = max(m, x[c, 2 * i + a, 2 * j + b])
    o[c, i, j] = m


@pooling.form(lambda o, x: o.shape)
@pk.kernel
def pooling_ranges(o, x):
    c, i, j = pk.index()
    m = pk.f32(-1e30)
    for y in range(2 * i, min(2 * i + 3, x.shape[1])):
        for z in range(2 * j, min(2 * j + 3, x.shape[2])):
            m = max(m, x[c, y, z])
    o[c, i, j] = m


# -- median ------------------------------------------------------------------------------------------

median = Computation("median", lambda scale: (zeros(int(512 * scale), 500), random(int(512 * scale), 500)))


@median.form(lambda o, t: (range(1, o.shape[0] - 1), range(1, o.shape[1] - 1)), peer=False)
@pk.kernel
def median_bubble(o, t):
    i, j = pk.index()
    w = pk.private(9, pk.f32)
    for a in range(3):
        for b in range(3):
            w[3 * a + b] = t[i + a - 1, j + b - 1]
    for a in range(5):
        for b in range(8 - a):
            if w[b] > w[b + 1]:
                v = w[b]
                w[b] = w[b + 1]
                w[b + 1] = v
    o[i, j] = w[4]


@median.form(lambda o, t: o.shape, peer=False)
@pk.kernel
def median_guard(o, t):
    i, j = pk.index()
    if i > 0 and i < t.shape[0] - 1 and j > 0 and j < t.shape[1] - 1:
        w = pk.private(9, pk.f32)
        n = 0
        for a in range(-1, 2):
            for b in range(-1, 2):
                w[n] = t[i + a, j + b]
                n += 1
        for a in range(5):
            for b in range(a + 1, 9):
                lo, hi = min(w[a], w[b]), max(w[a], w[b])
                w[a] = lo
                w[b] = hi
        o[i, j] = w[4]


IMAGES = (bilateral, sobel, yuv, pooling, median)
