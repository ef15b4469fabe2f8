"""Places that data gives, bytes and short vectors, in the forms in which people write them.

Each kernel is named `<computation>_<form>`; forms without an index space are array programs.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk


def _bytes(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)


# -- how often each byte occurs --------------------------------------------------------------------

counted = Computation("histogram", lambda scale: (np.zeros(256, np.int32), _bytes(int(1024 * scale), 1024)))


@counted.form(lambda c, x: x.shape)
@pk.kernel
def counted_two(c, x):
    i, j = pk.index()
    pk.atomic_add(c, x[i, j], 1)


@counted.form(lambda c, x: x.size)
@pk.kernel
def counted_flat(c, x):
    k = pk.index()
    b = pk.i32(x[k // x.shape[1], k % x.shape[1]])
    pk.atomic_add(c, b, 1)


@counted.form(lambda c, x: x.shape[0])
@pk.kernel
def counted_rows(c, x):
    i = pk.index()
    for j in range(x.shape[1]):
        pk.atomic_add(c, x[i, j], 1)


@counted.form(lambda c, x: 1)
@pk.kernel
def counted_one(c, x):
    k = pk.index()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            c[pk.i32(x[i, j]) + k] += 1


@counted.form(lambda c, x: 64 * 256, peer=False)
@pk.kernel(workgroup=256)
def counted_shared(c, x):
    lane = pk.local_index()
    own = pk.shared(256, pk.i32)
    own[lane] = 0
    pk.barrier()
    w = x.shape[1]
    k = pk.index()
    while k < x.shape[0] * w:
        pk.atomic_add(own, x[k // w, k % w], 1)
        k += pk.ndrange()
    pk.barrier()
    pk.atomic_add(c, lane, own[lane])


# -- weights by a bin that is computed -------------------------------------------------------------

binned = Computation(
    "weights in bins",
    lambda scale: (zeros(64), random(int(262144 * scale)), random(int(262144 * scale))[::-1].copy()),
)


@binned.form(lambda c, x, w: x.size)
@pk.kernel
def binned_atomic(c, x, w):
    i = pk.index()
    pk.atomic_add(c, int(x[i] * 64), w[i])


@binned.form(lambda c, x, w: x.size)
@pk.kernel
def binned_guard(c, x, w):
    i = pk.index()
    b = pk.i32(x[i] * 64)
    if 0 <= b < c.shape[0]:
        pk.atomic_add(c, b, w[i])


@binned.form(lambda c, x, w: 64)
@pk.kernel
def binned_chunks(c, x, w):
    k = pk.index()
    n = x.shape[0] // 64
    for i in range(k * n, (k + 1) * n):
        pk.atomic_add(c, min(int(x[i] * 64), 63), w[i])


# -- a permutation ---------------------------------------------------------------------------------


def _permuted(scale: float):
    n = int(262144 * scale)
    places = np.random.default_rng(7).permutation(n)
    return zeros(n), random(n), places, np.argsort(places)


permuted = Computation("permutation", _permuted)


@permuted.form(lambda o, x, p, q: o.size)
@pk.kernel
def permuted_gather(o, x, p, q):
    i = pk.index()
    o[i] = x[p[i]]


@permuted.form(lambda o, x, p, q: o.size)
@pk.kernel
def permuted_scatter(o, x, p, q):
    i = pk.index()
    o[q[i]] = x[i]


@permuted.form(lambda o, x, p, q: o.size)
@pk.kernel
def permuted_guard(o, x, p, q):
    i = pk.index()
    j = p[i]
    if 0 <= j < x.shape[0]:
        o[i] = x[j]


@permuted.form(lambda o, x, p, q: 1)
@pk.kernel
def permuted_loop(o, x, p, q):
    k = pk.index()
    for i in range(x.shape[0]):
        o[i] = x[p[i + k]]


@permuted.form(None)
@pk.jit
def permuted_program(x, p, q):
    return x[p]


# -- a table that is interpolated ------------------------------------------------------------------

curve = Computation(
    "curve", lambda scale: (zeros(int(1024 * scale), 1024), random(int(1024 * scale), 1024), random(257))
)


@curve.form(lambda o, x, w: o.shape)
@pk.kernel
def curve_two(o, x, w):
    i, j = pk.index()
    t = x[i, j] * 256
    k = int(t)
    f = t - k
    o[i, j] = w[k] * (1 - f) + w[k + 1] * f


@curve.form(lambda o, x, w: o.shape)
@pk.kernel
def curve_clamped(o, x, w):
    i, j = pk.index()
    t = x[i, j] * pk.f32(w.shape[0] - 1)
    k = min(max(pk.i32(t), 0), w.shape[0] - 2)
    f = t - pk.f32(k)
    o[i, j] = w[k] * (1 - f) + w[k + 1] * f


@curve.form(lambda o, x, w: o.size)
@pk.kernel
def curve_flat(o, x, w):
    q = pk.index()
    i, j = q // o.shape[1], q % o.shape[1]
    t = x[i, j] * 256
    k = int(t)
    f = t - k
    o[i, j] = w[k] * (1 - f) + w[k + 1] * f


@curve.form(lambda o, x, w: o.shape)
@pk.kernel
def curve_ifs(o, x, w):
    i, j = pk.index()
    t = x[i, j] * 256
    k = pk.i32(t)
    if k < 0:
        k = 0
    if k > 255:
        k = 255
    f = t - k
    o[i, j] = w[k] + (w[k + 1] - w[k]) * f


# -- a filter of floats over bytes -----------------------------------------------------------------

sharp = Computation(
    "filter of bytes",
    lambda scale: (
        np.zeros((int(1024 * scale), 1024), np.uint8),
        _bytes(int(1024 * scale), 1024),
        np.floor(8 * random(3, 3)) / 64,  # sums are exact: what is cut off is the same in any order
    ),
)


def _inside(o, t, w):
    return range(1, t.shape[0] - 1), range(1, t.shape[1] - 1)


@sharp.form(_inside)
@pk.kernel
def sharp_loops(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            s += pk.f32(t[i + a - 1, j + b - 1]) * w[a, b]
    o[i, j] = pk.u8(min(max(s, 0), 255))


@sharp.form(_inside)
@pk.kernel
def sharp_shape(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            s += t[i + a - 1, j + b - 1] * w[a, b]
    o[i, j] = pk.u8(max(min(s, 255.0), 0.0))


@sharp.form(lambda o, t, w: t.shape)
@pk.kernel
def sharp_guard(o, t, w):
    i, j = pk.index()
    if 0 < i < t.shape[0] - 1 and 0 < j < t.shape[1] - 1:
        s = pk.f32(0)
        for a in range(-1, 2):
            for b in range(-1, 2):
                s += pk.f32(t[i + a, j + b]) * w[a + 1, b + 1]
        if s < 0:
            s = pk.f32(0)
        if s > 255:
            s = pk.f32(255)
        o[i, j] = pk.u8(s)


@sharp.form(lambda o, t, w: t.size)
@pk.kernel
def sharp_flat(o, t, w):
    k = pk.index()
    n, m = t.shape
    i, j = k // m, k % m
    if i == 0 or j == 0 or i == n - 1 or j == m - 1:
        return
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            s += pk.f32(t[i + a - 1, j + b - 1]) * w[a, b]
    o[i, j] = pk.u8(min(max(s, 0.0), 255.0))


@sharp.form(lambda o, t, w: range(1, t.shape[0] - 1))
@pk.kernel
def sharp_rows(o, t, w):
    i = pk.index()
    for j in range(1, t.shape[1] - 1):
        s = pk.f32(0)
        for a in range(3):
            for b in range(3):
                s += pk.f32(t[i + a - 1, j + b - 1]) * w[a, b]
        o[i, j] = pk.u8(min(max(s, 0.0), 255.0))


# -- points that are rotated -----------------------------------------------------------------------

rotated = Computation(
    "rotated points",
    lambda scale: (zeros(int(262144 * scale), 3), random(int(262144 * scale), 3), random(3, 3)),
)


@rotated.form(lambda o, x, m: o.shape[0])
@pk.kernel
def rotated_written(o, x, m):
    i = pk.index()
    a, b, c = x[i, 0], x[i, 1], x[i, 2]
    o[i, 0] = m[0, 0] * a + m[0, 1] * b + m[0, 2] * c
    o[i, 1] = m[1, 0] * a + m[1, 1] * b + m[1, 2] * c
    o[i, 2] = m[2, 0] * a + m[2, 1] * b + m[2, 2] * c


@rotated.form(lambda o, x, m: o.shape[0])
@pk.kernel
def rotated_loops(o, x, m):
    i = pk.index()
    for c in range(3):
        s = pk.f32(0)
        for d in range(3):
            s += m[c, d] * x[i, d]
        o[i, c] = s


@rotated.form(lambda o, x, m: o.shape[0])
@pk.kernel
def rotated_inplace(o, x, m):
    i = pk.index()
    for c in range(3):
        o[i, c] = 0.0
        for d in range(3):
            o[i, c] += m[c, d] * x[i, d]


@rotated.form(lambda o, x, m: o.shape)
@pk.kernel
def rotated_items(o, x, m):
    i, c = pk.index()
    s = pk.f32(0)
    for d in range(x.shape[1]):
        s += m[c, d] * x[i, d]
    o[i, c] = s


@rotated.form(lambda o, x, m: o.size)
@pk.kernel
def rotated_flat(o, x, m):
    k = pk.index()
    i, c = k // 3, k % 3
    o[i, c] = m[c, 0] * x[i, 0] + m[c, 1] * x[i, 1] + m[c, 2] * x[i, 2]


@rotated.form(None)
@pk.jit
def rotated_program(x, m):
    return x @ m.T


# -- two by two pixels become one ------------------------------------------------------------------

halved = Computation(
    "mean of two by two", lambda scale: (zeros(int(1024 * scale), 512), random(2 * int(1024 * scale), 1024))
)


@halved.form(lambda o, x: o.shape)
@pk.kernel
def halved_written(o, x):
    i, j = pk.index()
    o[i, j] = (x[2 * i, 2 * j] + x[2 * i, 2 * j + 1] + x[2 * i + 1, 2 * j] + x[2 * i + 1, 2 * j + 1]) * 0.25


@halved.form(lambda o, x: o.shape)
@pk.kernel
def halved_loops(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(2):
        for b in range(2):
            s += x[2 * i + a, 2 * j + b]
    o[i, j] = s / 4


@halved.form(lambda o, x: o.size)
@pk.kernel
def halved_flat(o, x):
    k = pk.index()
    i, j = k // o.shape[1], k % o.shape[1]
    s = pk.f32(0)
    for a in range(2):
        for b in range(2):
            s += x[2 * i + a, 2 * j + b]
    o[i, j] = s / 4


@halved.form(lambda o, x: o.shape)
@pk.kernel
def halved_inplace(o, x):
    i, j = pk.index()
    o[i, j] = 0.0
    for a in range(2):
        for b in range(2):
            o[i, j] += x[2 * i + a, 2 * j + b]
    o[i, j] *= 0.25


@halved.form(None)
@pk.jit
def halved_program(x):
    return (x[::2, ::2] + x[::2, 1::2] + x[1::2, ::2] + x[1::2, 1::2]) * 0.25


TABLES = (counted, binned, permuted, curve, sharp, rotated, halved)
