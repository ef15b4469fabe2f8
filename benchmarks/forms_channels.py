"""Images, channels and points in the forms in which people write them. Each kernel is named `<computation>_<form>`."""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk


def _bytes(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)


# -- a convolution, channels last ------------------------------------------------------------------

nhwc = Computation(
    "convolution NHWC",
    lambda scale: (zeros(int(64 * scale), 64, 32), random(int(64 * scale) + 2, 66, 16), random(3, 3, 16, 32)),
)


@nhwc.form(lambda o, x, w: o.shape)
@pk.kernel
def nhwc_items(o, x, w):
    i, j, c = pk.index()
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            for d in range(x.shape[2]):
                s += x[i + a, j + b, d] * w[a, b, d, c]
    o[i, j, c] = s


@nhwc.form(lambda o, x, w: o.shape)
@pk.kernel
def nhwc_shape(o, x, w):
    i, j, c = pk.index()
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            for d in range(w.shape[2]):
                s += x[i + a, j + b, d] * w[a, b, d, c]
    o[i, j, c] = s


@nhwc.form(lambda o, x, w: o.shape[:2])
@pk.kernel
def nhwc_pixels(o, x, w):
    i, j = pk.index()
    for c in range(o.shape[2]):
        s = pk.f32(0)
        for a in range(3):
            for b in range(3):
                for d in range(x.shape[2]):
                    s += x[i + a, j + b, d] * w[a, b, d, c]
        o[i, j, c] = s


@nhwc.form(lambda o, x, w: o.shape[:2])
@pk.kernel
def nhwc_inplace(o, x, w):
    i, j = pk.index()
    for c in range(o.shape[2]):
        o[i, j, c] = 0.0
    for a in range(3):
        for b in range(3):
            for d in range(x.shape[2]):
                for c in range(o.shape[2]):
                    o[i, j, c] += x[i + a, j + b, d] * w[a, b, d, c]


# -- a convolution, channels first -----------------------------------------------------------------

nchw = Computation(
    "convolution NCHW",
    lambda scale: (zeros(32, int(64 * scale), 64), random(16, int(64 * scale) + 2, 66), random(32, 16, 3, 3)),
)


@nchw.form(lambda o, x, w: o.shape)
@pk.kernel
def nchw_items(o, x, w):
    c, i, j = pk.index()
    s = pk.f32(0)
    for d in range(x.shape[0]):
        for a in range(3):
            for b in range(3):
                s += x[d, i + a, j + b] * w[c, d, a, b]
    o[c, i, j] = s


@nchw.form(lambda o, x, w: o.shape)
@pk.kernel
def nchw_written(o, x, w):
    c, i, j = pk.index()
    s = pk.f32(0)
    for d in range(x.shape[0]):
        s += x[d, i, j] * w[c, d, 0, 0]
        s += x[d, i, j + 1] * w[c, d, 0, 1]
        s += x[d, i, j + 2] * w[c, d, 0, 2]
        s += x[d, i + 1, j] * w[c, d, 1, 0]
        s += x[d, i + 1, j + 1] * w[c, d, 1, 1]
        s += x[d, i + 1, j + 2] * w[c, d, 1, 2]
        s += x[d, i + 2, j] * w[c, d, 2, 0]
        s += x[d, i + 2, j + 1] * w[c, d, 2, 1]
        s += x[d, i + 2, j + 2] * w[c, d, 2, 2]
    o[c, i, j] = s


@nchw.form(lambda o, x, w: o.shape[0])
@pk.kernel
def nchw_channel(o, x, w):
    c = pk.index()
    for i in range(o.shape[1]):
        for j in range(o.shape[2]):
            s = pk.f32(0)
            for d in range(x.shape[0]):
                for a in range(3):
                    for b in range(3):
                        s += x[d, i + a, j + b] * w[c, d, a, b]
            o[c, i, j] = s


@nchw.form(lambda o, x, w: o.size)
@pk.kernel
def nchw_flat(o, x, w):
    k = pk.index()
    _, h, v = o.shape
    c, i, j = k // (h * v), k // v % h, k % v
    s = pk.f32(0)
    for d in range(x.shape[0]):
        for a in range(3):
            for b in range(3):
                s += x[d, i + a, j + b] * w[c, d, a, b]
    o[c, i, j] = s


# -- bytes -----------------------------------------------------------------------------------------

blur = Computation(
    "blur of bytes",
    lambda scale: (np.zeros((int(1024 * scale), 1024), np.uint8), _bytes(int(1024 * scale), 1024)),
)


@blur.form(lambda o, t: o.shape)
@pk.kernel
def blur_clamped(o, t):
    i, j = pk.index()
    n, m = t.shape
    s = pk.i32(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            s += pk.i32(t[min(max(i + a, 0), n - 1), min(max(j + b, 0), m - 1)])
    o[i, j] = pk.u8(s // 9)


@blur.form(lambda o, t: o.shape)
@pk.kernel
def blur_written(o, t):
    i, j = pk.index()
    n, m = t.shape
    a, b, c, d = max(i - 1, 0), min(i + 1, n - 1), max(j - 1, 0), min(j + 1, m - 1)
    s = pk.i32(t[a, c]) + pk.i32(t[a, j]) + pk.i32(t[a, d])
    s += pk.i32(t[i, c]) + pk.i32(t[i, j]) + pk.i32(t[i, d])
    s += pk.i32(t[b, c]) + pk.i32(t[b, j]) + pk.i32(t[b, d])
    o[i, j] = pk.u8(s // 9)


@blur.form(lambda o, t: o.size)
@pk.kernel
def blur_flat(o, t):
    k = pk.index()
    n, m = t.shape
    i, j = k // m, k % m
    s = pk.i32(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            s += pk.i32(t[min(max(i + a, 0), n - 1), min(max(j + b, 0), m - 1)])
    o[i, j] = pk.u8(s // 9)


grey = Computation(
    "grey of bytes",
    lambda scale: (zeros(int(1024 * scale), 1024), _bytes(int(1024 * scale), 1024, 3), random(3)),
)


@grey.form(lambda o, t, w: o.shape)
@pk.kernel
def grey_written(o, t, w):
    i, j = pk.index()
    o[i, j] = w[0] * pk.f32(t[i, j, 0]) + w[1] * pk.f32(t[i, j, 1]) + w[2] * pk.f32(t[i, j, 2])


@grey.form(lambda o, t, w: o.shape)
@pk.kernel
def grey_three(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for c in range(3):
        s += w[c] * pk.f32(t[i, j, c])
    o[i, j] = s


@grey.form(lambda o, t, w: o.shape)
@pk.kernel
def grey_shape(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for c in range(t.shape[2]):
        s += w[c] * pk.f32(t[i, j, c])
    o[i, j] = s


@grey.form(lambda o, t, w: o.shape)
@pk.kernel
def grey_inplace(o, t, w):
    i, j = pk.index()
    o[i, j] = 0.0
    for c in range(3):
        o[i, j] += w[c] * pk.f32(t[i, j, c])


table = Computation(
    "table", lambda scale: (zeros(int(1024 * scale), 1024), _bytes(int(1024 * scale), 1024), random(256))
)


@table.form(lambda o, t, w: o.shape)
@pk.kernel
def table_two(o, t, w):
    i, j = pk.index()
    o[i, j] = w[t[i, j]]


@table.form(lambda o, t, w: o.size)
@pk.kernel
def table_flat(o, t, w):
    k = pk.index()
    o[k // o.shape[1], k % o.shape[1]] = w[t[k // o.shape[1], k % o.shape[1]]]


@table.form(lambda o, t, w: o.shape[0])
@pk.kernel
def table_rows(o, t, w):
    i = pk.index()
    for j in range(o.shape[1]):
        o[i, j] = w[t[i, j]]


@table.form(lambda o, t, w: o.shape)
@pk.kernel
def table_converted(o, t, w):
    i, j = pk.index()
    v = pk.i32(t[i, j])
    o[i, j] = w[v]


# -- points ----------------------------------------------------------------------------------------

unit = Computation(
    "unit vectors", lambda scale: (zeros(int(262144 * scale), 3), random(int(262144 * scale), 3))
)


@unit.form(lambda o, x: o.shape[0])
@pk.kernel
def unit_written(o, x):
    i = pk.index()
    a, b, c = x[i, 0], x[i, 1], x[i, 2]
    r = pk.sqrt(a * a + b * b + c * c)
    o[i, 0] = a / r
    o[i, 1] = b / r
    o[i, 2] = c / r


@unit.form(lambda o, x: o.shape[0])
@pk.kernel
def unit_three(o, x):
    i = pk.index()
    s = pk.f32(0)
    for d in range(3):
        s += x[i, d] * x[i, d]
    r = pk.sqrt(s)
    for d in range(3):
        o[i, d] = x[i, d] / r


@unit.form(lambda o, x: o.shape[0])
@pk.kernel
def unit_shape(o, x):
    i = pk.index()
    s = pk.f32(0)
    for d in range(x.shape[1]):
        s += x[i, d] * x[i, d]
    r = pk.sqrt(s)
    for d in range(x.shape[1]):
        o[i, d] = x[i, d] / r


@unit.form(lambda o, x: o.shape)
@pk.kernel
def unit_cells(o, x):
    i, d = pk.index()
    s = pk.f32(0)
    for e in range(3):
        s += x[i, e] * x[i, e]
    o[i, d] = x[i, d] / pk.sqrt(s)


middle = Computation(
    "sums of groups", lambda scale: (zeros(int(65536 * scale), 3), random(int(65536 * scale), 8, 3))
)


@middle.form(lambda o, x: o.shape)
@pk.kernel
def middle_items(o, x):
    i, c = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += x[i, k, c]
    o[i, c] = s


@middle.form(lambda o, x: o.shape[0])
@pk.kernel
def middle_inplace(o, x):
    i = pk.index()
    for c in range(3):
        o[i, c] = 0.0
    for k in range(x.shape[1]):
        for c in range(3):
            o[i, c] += x[i, k, c]


@middle.form(lambda o, x: o.shape[0])
@pk.kernel
def middle_written(o, x):
    i = pk.index()
    a, b, d = pk.f32(0), pk.f32(0), pk.f32(0)
    for k in range(x.shape[1]):
        a += x[i, k, 0]
        b += x[i, k, 1]
        d += x[i, k, 2]
    o[i, 0] = a
    o[i, 1] = b
    o[i, 2] = d


@middle.form(lambda o, x: o.shape[0])
@pk.kernel
def middle_outer(o, x):
    i = pk.index()
    for c in range(o.shape[1]):
        s = pk.f32(0)
        for k in range(x.shape[1]):
            s += x[i, k, c]
        o[i, c] = s


CHANNELS = (nhwc, nchw, blur, grey, table, unit, middle)
