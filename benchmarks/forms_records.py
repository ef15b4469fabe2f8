"""Records, sparse rows and recurrences in the forms in which people write them.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Arrays, Computation, random, zeros

import pykern as pk


def _padded(scale: float) -> Arrays:
    """Twelve numbers a row and where they stand, of which some stand nowhere."""
    n = int(16384 * scale)
    rng = np.random.default_rng(3)
    c = rng.integers(0, n, (n, 12)).astype(np.int32)
    c[rng.random((n, 12)) < 0.2] = -1
    return zeros(n), random(n, 12), c, random(n)


# -- nearest -----------------------------------------------------------------------------------------

nearest = Computation(
    "nearest",
    lambda scale: (np.zeros(int(1024 * scale), np.int32), random(int(1024 * scale), 3), random(1000, 3)),
    may_differ=1e-2,
)


@nearest.form(lambda o, x, y: o.shape[0])
@pk.kernel
def nearest_if(o, x, y):
    i = pk.index()
    best = pk.f32(1e30)
    at = 0
    for j in range(y.shape[0]):
        a, b, c = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
        d = a * a + b * b + c * c
        if d < best:
            best = d
            at = j
    o[i] = at


@nearest.form(lambda o, x, y: o.shape[0])
@pk.kernel
def nearest_loop(o, x, y):
    i = pk.index()
    best = pk.f32(1e30)
    at = 0
    for j in range(y.shape[0]):
        d = pk.f32(0)
        for k in range(3):
            d += (x[i, k] - y[j, k]) ** 2
        if d < best:
            best = d
            at = j
    o[i] = at


@nearest.form(lambda o, x, y: o.shape[0])
@pk.kernel
def nearest_shape(o, x, y):
    i = pk.index()
    best = pk.f32(1e30)
    at = 0
    for j in range(y.shape[0]):
        d = pk.f32(0)
        for k in range(x.shape[1]):
            t = x[i, k] - y[j, k]
            d += t * t
        if d < best:
            best, at = d, j
    o[i] = at


@nearest.form(lambda o, x, y: o.shape[0])
@pk.kernel
def nearest_ternary(o, x, y):
    i = pk.index()
    best = pk.f32(1e30)
    at = 0
    for j in range(y.shape[0]):
        a, b, c = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
        d = a * a + b * b + c * c
        at = j if d < best else at
        best = min(best, d)
    o[i] = at


@nearest.form(
    lambda o, x, y: o.shape[0], lambda o, x, y: tuple(np.ascontiguousarray(y[:, k]) for k in range(3))
)
@pk.kernel
def nearest_soa(o, x, y, y0, y1, y2):
    i = pk.index()
    best = pk.f32(1e30)
    at = 0
    for j in range(y0.shape[0]):
        a, b, c = x[i, 0] - y0[j], x[i, 1] - y1[j], x[i, 2] - y2[j]
        d = a * a + b * b + c * c
        if d < best:
            best = d
            at = j
    o[i] = at


# -- sparse rows, padded -----------------------------------------------------------------------------

padded = Computation("sparse rows, padded", _padded)


@padded.form(lambda y, v, c, x: y.shape[0])
@pk.kernel
def padded_if(y, v, c, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(c.shape[1]):
        if c[i, k] >= 0:
            s += v[i, k] * x[c[i, k]]
    y[i] = s


@padded.form(lambda y, v, c, x: y.shape[0])
@pk.kernel
def padded_continue(y, v, c, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(c.shape[1]):
        q = c[i, k]
        if q < 0:
            continue
        s += v[i, k] * x[q]
    y[i] = s


@padded.form(lambda y, v, c, x: y.shape[0])
@pk.kernel
def padded_max(y, v, c, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(c.shape[1]):
        q = c[i, k]
        s += (v[i, k] if q >= 0 else 0) * x[max(q, 0)]
    y[i] = s


@padded.form(lambda y, v, c, x: y.shape[0])
@pk.kernel
def padded_constant(y, v, c, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(12):
        q = c[i, k]
        if q >= 0:
            s += v[i, k] * x[q]
    y[i] = s


@padded.form(lambda y, v, c, x: y.shape[0])
@pk.kernel
def padded_cell(y, v, c, x):
    i = pk.index()
    y[i] = 0
    for k in range(c.shape[1]):
        if c[i, k] >= 0:
            y[i] += v[i, k] * x[c[i, k]]


# -- running maximum ---------------------------------------------------------------------------------

highest = Computation(
    "running maximum", lambda scale: (zeros(int(1024 * scale), 1000), random(int(1024 * scale), 1000))
)


@highest.form(lambda o, x: o.shape[0])
@pk.kernel
def highest_max(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = max(m, x[i, j])
        o[i, j] = m


@highest.form(lambda o, x: o.shape[0])
@pk.kernel
def highest_if(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(x.shape[1]):
        if x[i, j] > m:
            m = x[i, j]
        o[i, j] = m


@highest.form(lambda o, x: o.shape[0])
@pk.kernel
def highest_memory(o, x):
    i = pk.index()
    o[i, 0] = x[i, 0]
    for j in range(1, x.shape[1]):
        o[i, j] = max(o[i, j - 1], x[i, j])


@highest.form(lambda o, x: o.shape[0])
@pk.kernel
def highest_ternary(o, x):
    i = pk.index()
    m = pk.f32(-1e30)
    for j in range(x.shape[1]):
        v = x[i, j]
        m = v if v > m else m
        o[i, j] = m


@highest.form(lambda o, x: o.shape[0])
@pk.kernel
def highest_while(o, x):
    i = pk.index()
    m = x[i, 0]
    j = 0
    while j < x.shape[1]:
        m = max(m, x[i, j])
        o[i, j] = m
        j += 1


# -- complex product ---------------------------------------------------------------------------------

product = Computation(
    "complex product",
    lambda scale: (zeros(int((1 << 18) * scale), 2), *2 * (random(int((1 << 18) * scale), 2),)),
)


@product.form(lambda o, x, y: o.shape[0])
@pk.kernel
def product_pairs(o, x, y):
    i = pk.index()
    o[i, 0] = x[i, 0] * y[i, 0] - x[i, 1] * y[i, 1]
    o[i, 1] = x[i, 0] * y[i, 1] + x[i, 1] * y[i, 0]


@product.form(lambda o, x, y: o.shape[0])
@pk.kernel
def product_local(o, x, y):
    i = pk.index()
    a, b = x[i, 0], x[i, 1]
    c, d = y[i, 0], y[i, 1]
    o[i, 0], o[i, 1] = a * c - b * d, a * d + b * c


@product.form(lambda o, x, y: o.shape)
@pk.kernel
def product_parts(o, x, y):
    i, k = pk.index()
    if k == 0:
        o[i, k] = x[i, 0] * y[i, 0] - x[i, 1] * y[i, 1]
    else:
        o[i, k] = x[i, 0] * y[i, 1] + x[i, 1] * y[i, 0]


@product.form(lambda o, x, y: o.shape[0], lambda o, x, y: (x[:, 0], x[:, 1], y[:, 0], y[:, 1]))
@pk.kernel
def product_views(o, x, y, a, b, c, d):
    i = pk.index()
    o[i, 0] = a[i] * c[i] - b[i] * d[i]
    o[i, 1] = a[i] * d[i] + b[i] * c[i]


# -- polynomial --------------------------------------------------------------------------------------

polynomial = Computation(
    "polynomial", lambda scale: (zeros(int((1 << 16) * scale)), random(int((1 << 16) * scale)), random(12))
)


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_back(o, x, c):
    i = pk.index()
    s = pk.f32(0)
    for k in range(c.shape[0] - 1, -1, -1):
        s = s * x[i] + c[k]
    o[i] = s


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_from(o, x, c):
    i = pk.index()
    n = c.shape[0]
    s = c[n - 1]
    for k in range(1, n):
        s = s * x[i] + c[n - 1 - k]
    o[i] = s


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_while(o, x, c):
    i = pk.index()
    k = c.shape[0] - 1
    s = c[k]
    while k > 0:
        k -= 1
        s = s * x[i] + c[k]
    o[i] = s


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_powers(o, x, c):
    i = pk.index()
    s = pk.f32(0)
    p = pk.f32(1)
    for k in range(c.shape[0]):
        s += c[k] * p
        p *= x[i]
    o[i] = s


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_exponents(o, x, c):
    i = pk.index()
    s = pk.f32(0)
    for k in range(c.shape[0]):
        s += c[k] * x[i] ** k
    o[i] = s


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_constant(o, x, c):
    i = pk.index()
    s = c[11]
    for k in range(10, -1, -1):
        s = c[k] + s * x[i]
    o[i] = s


@polynomial.form(lambda o, x, c: o.shape[0])
@pk.kernel
def polynomial_inplace(o, x, c):
    i = pk.index()
    o[i] = 0
    for k in range(c.shape[0]):
        o[i] = o[i] * x[i] + c[c.shape[0] - 1 - k]


RECORDS = (nearest, padded, highest, product, polynomial)
