"""Sums, maxima and products along rows in the forms in which people write them.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk


def _rows(o, *arrays):
    return o.shape[0]


total = Computation("row sum", lambda scale: (zeros(int(4096 * scale)), random(int(4096 * scale), 1024)))


@total.form(_rows)
@pk.kernel
def total_local(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
    o[i] = s


@total.form(_rows)
@pk.kernel
def total_first(o, x):
    i = pk.index()
    s = x[i, 0]
    for j in range(1, x.shape[1]):
        s = s + x[i, j]
    o[i] = s


@total.form(_rows)
@pk.kernel
def total_inplace(o, x):
    i = pk.index()
    o[i] = 0.0
    for j in range(x.shape[1]):
        o[i] += x[i, j]


@total.form(_rows)
@pk.kernel
def total_while(o, x):
    i = pk.index()
    s = pk.f32(0)
    j = 0
    while j < x.shape[1]:
        s += x[i, j]
        j += 1
    o[i] = s


largest = Computation(
    "row maximum", lambda scale: (zeros(int(4096 * scale)), random(int(4096 * scale), 1024))
)


@largest.form(_rows)
@pk.kernel
def largest_max(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        m = max(m, x[i, j])
    o[i] = m


@largest.form(_rows)
@pk.kernel
def largest_if(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        if x[i, j] > m:
            m = x[i, j]
    o[i] = m


@largest.form(_rows)
@pk.kernel
def largest_ternary(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        m = v if v > m else m
    o[i] = m


@largest.form(_rows)
@pk.kernel
def largest_inplace(o, x):
    i = pk.index()
    o[i] = x[i, 0]
    for j in range(1, x.shape[1]):
        o[i] = max(o[i], x[i, j])


arg = Computation(
    "argmax", lambda scale: (np.zeros(int(4096 * scale), np.int64), random(int(4096 * scale), 1024))
)


@arg.form(_rows)
@pk.kernel
def arg_value(o, x):
    i = pk.index()
    best = 0
    most = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        if v > most:
            most = v
            best = j
    o[i] = best


@arg.form(_rows)
@pk.kernel
def arg_index(o, x):
    i = pk.index()
    best = 0
    for j in range(1, x.shape[1]):
        if x[i, j] > x[i, best]:
            best = j
    o[i] = best


@arg.form(_rows)
@pk.kernel
def arg_ternary(o, x):
    i = pk.index()
    best = 0
    most = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        best = j if v > most else best
        most = max(most, v)
    o[i] = best


softmax = Computation(
    "softmax", lambda scale: (zeros(int(4096 * scale), 1024), random(int(4096 * scale), 1024))
)


@softmax.form(_rows)
@pk.kernel
def softmax_stored(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        m = max(m, x[i, j])
    s = pk.f32(0)
    for j in range(x.shape[1]):
        e = pk.exp(x[i, j] - m)
        o[i, j] = e
        s += e
    for j in range(x.shape[1]):
        o[i, j] = o[i, j] / s


@softmax.form(_rows)
@pk.kernel
def softmax_computed(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        m = max(m, x[i, j])
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += pk.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        o[i, j] = pk.exp(x[i, j] - m) / s


@softmax.form(_rows)
@pk.kernel
def softmax_if(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        if x[i, j] > m:
            m = x[i, j]
    s = pk.f32(0)
    for j in range(x.shape[1]):
        o[i, j] = pk.exp(x[i, j] - m)
        s += o[i, j]
    for j in range(x.shape[1]):
        o[i, j] /= s


columns = Computation("column sum", lambda scale: (zeros(1024), random(int(4096 * scale), 1024)))


@columns.form(_rows)
@pk.kernel
def columns_local(o, x):
    j = pk.index()
    s = pk.f32(0)
    for i in range(x.shape[0]):
        s += x[i, j]
    o[j] = s


@columns.form(_rows)
@pk.kernel
def columns_inplace(o, x):
    j = pk.index()
    o[j] = 0.0
    for i in range(x.shape[0]):
        o[j] += x[i, j]


@columns.form(lambda o, x: 1)
@pk.kernel
def columns_rows(o, x):
    k = pk.index()
    for j in range(x.shape[1]):
        o[j + k] = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            o[j + k] += x[i, j]


def _product(scale: float):
    n = int(384 * scale)
    return zeros(n, n), random(n, n), random(n, n)


product = Computation("product", _product)


@product.form(lambda c, a, b: c.shape)
@pk.kernel
def product_items(c, a, b):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@product.form(lambda c, a, b: c.size)
@pk.kernel
def product_flat(c, a, b):
    q = pk.index()
    i, j = q // c.shape[1], q % c.shape[1]
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@product.form(lambda c, a, b: c.shape)
@pk.kernel
def product_inplace(c, a, b):
    i, j = pk.index()
    c[i, j] = 0.0
    for k in range(a.shape[1]):
        c[i, j] += a[i, k] * b[k, j]


@product.form(lambda c, a, b: c.shape[0])
@pk.kernel
def product_rows(c, a, b):
    i = pk.index()
    for j in range(c.shape[1]):
        s = pk.f32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@product.form(lambda c, a, b: (range(c.shape[0]), range(c.shape[1])))
@pk.kernel
def product_ranges(c, a, b):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(b.shape[0]):
        s = s + b[k, j] * a[i, k]
    c[i, j] = s


ROWS = (total, largest, arg, softmax, columns, product)
