"""Branches, counts, statistics of rows and other layouts in the forms in which people write them.

Each kernel is named `<computation>_<form>`; forms without an index space are array programs.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk


def _signed(*shape: int) -> np.ndarray:
    return random(*shape) - np.float32(0.5)


# -- a choice for each element ---------------------------------------------------------------------

leaky = Computation(
    "leaky relu", lambda scale: (zeros(int(1024 * scale), 1021), _signed(int(1024 * scale), 1021))
)


@leaky.form(lambda o, x: o.shape)
@pk.kernel
def leaky_if(o, x):
    i, j = pk.index()
    if x[i, j] > 0:
        o[i, j] = x[i, j]
    else:
        o[i, j] = 0.1 * x[i, j]


@leaky.form(lambda o, x: o.shape)
@pk.kernel
def leaky_ternary(o, x):
    i, j = pk.index()
    v = x[i, j]
    o[i, j] = v if v > 0 else 0.1 * v


@leaky.form(lambda o, x: o.shape)
@pk.kernel
def leaky_max(o, x):
    i, j = pk.index()
    o[i, j] = max(x[i, j], 0.1 * x[i, j])


@leaky.form(lambda o, x: o.shape)
@pk.kernel
def leaky_return(o, x):
    i, j = pk.index()
    if x[i, j] <= 0:
        o[i, j] = 0.1 * x[i, j]
        return
    o[i, j] = x[i, j]


@leaky.form(lambda o, x: o.size)
@pk.kernel
def leaky_flat(o, x):
    k = pk.index()
    i, j = k // o.shape[1], k % o.shape[1]
    v = x[i, j]
    if v <= 0:
        v *= 0.1
    o[i, j] = v


@leaky.form(None)
@pk.jit
def leaky_program(x):
    return pk.where(x > 0, x, 0.1 * x)


# -- a choice with functions -----------------------------------------------------------------------

elu = Computation("elu", lambda scale: (zeros(int(1024 * scale), 1024), _signed(int(1024 * scale), 1024)))


@elu.form(lambda o, x: o.shape)
@pk.kernel
def elu_if(o, x):
    i, j = pk.index()
    if x[i, j] > 0:
        o[i, j] = x[i, j]
    else:
        o[i, j] = pk.exp(x[i, j]) - 1


@elu.form(lambda o, x: o.shape)
@pk.kernel
def elu_ternary(o, x):
    i, j = pk.index()
    v = x[i, j]
    o[i, j] = v if v > 0 else pk.exp(v) - 1


@elu.form(lambda o, x: o.shape)
@pk.kernel
def elu_nested(o, x):
    i, j = pk.index()
    v = x[i, j]
    if v <= 0:
        if v < -80:
            v = pk.f32(-1)
        else:
            v = pk.exp(v) - 1
    o[i, j] = v


@elu.form(lambda o, x: o.shape[0])
@pk.kernel
def elu_rows(o, x):
    i = pk.index()
    for j in range(x.shape[1]):
        v = x[i, j]
        if v > 0:
            o[i, j] = v
            continue
        o[i, j] = pk.exp(v) - 1


@elu.form(None)
@pk.jit
def elu_program(x):
    return pk.where(x > 0, x, pk.exp(x) - 1)


# -- how many of a row -----------------------------------------------------------------------------

above = Computation(
    "count above", lambda scale: (np.zeros(int(4096 * scale), np.int32), random(int(4096 * scale), 1000))
)


@above.form(lambda o, x: o.shape[0])
@pk.kernel
def above_if(o, x):
    i = pk.index()
    n = 0
    for j in range(x.shape[1]):
        if x[i, j] > 0.75:
            n += 1
    o[i] = n


@above.form(lambda o, x: o.shape[0])
@pk.kernel
def above_ternary(o, x):
    i = pk.index()
    n = pk.i32(0)
    for j in range(x.shape[1]):
        n += 1 if x[i, j] > 0.75 else 0
    o[i] = n


@above.form(lambda o, x: o.shape[0])
@pk.kernel
def above_continue(o, x):
    i = pk.index()
    n = 0
    for j in range(x.shape[1]):
        if x[i, j] <= 0.75:
            continue
        n += 1
    o[i] = n


@above.form(lambda o, x: o.shape[0])
@pk.kernel
def above_inplace(o, x):
    i = pk.index()
    o[i] = 0
    for j in range(x.shape[1]):
        if x[i, j] > 0.75:
            o[i] += 1


@above.form(lambda o, x: o.shape[0])
@pk.kernel
def above_while(o, x):
    i = pk.index()
    n, j = 0, 0
    while j < x.shape[1]:
        if x[i, j] > 0.75:
            n += 1
        j += 1
    o[i] = n


@above.form(None)
@pk.jit
def above_program(x):
    return (x > 0.75).astype(pk.i32).sum(axis=1)


# -- sums of some ----------------------------------------------------------------------------------

some = Computation(
    "sum of positive", lambda scale: (zeros(int(4096 * scale)), _signed(int(4096 * scale), 1000))
)


@some.form(lambda o, x: o.shape[0])
@pk.kernel
def some_if(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        if x[i, j] > 0:
            s += x[i, j]
    o[i] = s


@some.form(lambda o, x: o.shape[0])
@pk.kernel
def some_ternary(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        v = x[i, j]
        s += v if v > 0 else pk.f32(0)
    o[i] = s


@some.form(lambda o, x: o.shape[0])
@pk.kernel
def some_max(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += max(x[i, j], pk.f32(0))
    o[i] = s


@some.form(lambda o, x: o.shape[0])
@pk.kernel
def some_inplace(o, x):
    i = pk.index()
    o[i] = 0.0
    for j in range(x.shape[1]):
        if x[i, j] > 0:
            o[i] += x[i, j]


# -- the variance of rows --------------------------------------------------------------------------

spread = Computation("variance", lambda scale: (zeros(int(2048 * scale)), random(int(2048 * scale), 1000)))


@spread.form(lambda o, x: o.shape[0])
@pk.kernel
def spread_two(o, x):
    i = pk.index()
    m = pk.f32(0)
    for j in range(x.shape[1]):
        m += x[i, j]
    m /= x.shape[1]
    s = pk.f32(0)
    for j in range(x.shape[1]):
        d = x[i, j] - m
        s += d * d
    o[i] = s / x.shape[1]


@spread.form(lambda o, x: o.shape[0])
@pk.kernel
def spread_one(o, x):
    i = pk.index()
    s, q = pk.f32(0), pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
        q += x[i, j] * x[i, j]
    n = pk.f32(x.shape[1])
    o[i] = q / n - (s / n) * (s / n)


@spread.form(lambda o, x: o.shape[0])
@pk.kernel
def spread_inplace(o, x):
    i = pk.index()
    m = pk.f32(0)
    for j in range(x.shape[1]):
        m += x[i, j]
    m = m / pk.f32(x.shape[1])
    o[i] = 0.0
    for j in range(x.shape[1]):
        o[i] += (x[i, j] - m) ** 2
    o[i] /= x.shape[1]


@spread.form(None)
@pk.jit
def spread_program(x):
    d = x - x.mean(axis=1)[:, None]
    return (d * d).mean(axis=1)


# -- layer norm ------------------------------------------------------------------------------------

norm = Computation(
    "layer norm", lambda scale: (zeros(int(2048 * scale), 512), random(int(2048 * scale), 512))
)


@norm.form(lambda o, x: o.shape[0])
@pk.kernel
def norm_computed(o, x):
    i = pk.index()
    n = pk.f32(x.shape[1])
    m = pk.f32(0)
    for j in range(x.shape[1]):
        m += x[i, j]
    m /= n
    v = pk.f32(0)
    for j in range(x.shape[1]):
        d = x[i, j] - m
        v += d * d
    r = 1 / pk.sqrt(v / n + 1e-5)
    for j in range(x.shape[1]):
        o[i, j] = (x[i, j] - m) * r


@norm.form(lambda o, x: o.shape[0])
@pk.kernel
def norm_stored(o, x):
    i = pk.index()
    n = pk.f32(x.shape[1])
    m = pk.f32(0)
    for j in range(x.shape[1]):
        m += x[i, j]
    m = m / n
    v = pk.f32(0)
    for j in range(x.shape[1]):
        o[i, j] = x[i, j] - m
        v += o[i, j] * o[i, j]
    r = pk.sqrt(v / n + 1e-5)
    for j in range(x.shape[1]):
        o[i, j] /= r


@norm.form(lambda o, x: o.shape[0])
@pk.kernel
def norm_squares(o, x):
    i = pk.index()
    n = pk.f32(x.shape[1])
    m, q = pk.f32(0), pk.f32(0)
    for j in range(x.shape[1]):
        m += x[i, j]
        q += x[i, j] * x[i, j]
    m /= n
    r = 1 / pk.sqrt(q / n - m * m + 1e-5)
    for j in range(x.shape[1]):
        o[i, j] = (x[i, j] - m) * r


@norm.form(None)
@pk.jit
def norm_program(x):
    d = x - x.mean(axis=1)[:, None]
    return d / pk.sqrt((d * d).mean(axis=1)[:, None] + 1e-5)


# -- points of the Mandelbrot set ------------------------------------------------------------------

escape = Computation(
    "mandelbrot", lambda scale: (np.zeros((int(256 * scale), 256), np.int32),), may_differ=0.02
)


@escape.form(lambda o: o.shape)
@pk.kernel
def escape_while(o):
    i, j = pk.index()
    a, b = pk.f32(j) * pk.f32(0.01) - pk.f32(2), pk.f32(i) * pk.f32(0.01) - pk.f32(1.2)
    x, y, n = pk.f32(0), pk.f32(0), 0
    while x * x + y * y < 4 and n < 50:
        x, y = x * x - y * y + a, x * y + x * y + b
        n += 1
    o[i, j] = n


@escape.form(lambda o: o.shape)
@pk.kernel
def escape_break(o):
    i, j = pk.index()
    a, b = pk.f32(j) * pk.f32(0.01) - pk.f32(2), pk.f32(i) * pk.f32(0.01) - pk.f32(1.2)
    x, y, n = pk.f32(0), pk.f32(0), 0
    for _ in range(50):
        if x * x + y * y >= 4:
            break
        x, y = x * x - y * y + a, x * y + x * y + b
        n += 1
    o[i, j] = n


@escape.form(lambda o: o.shape)
@pk.kernel
def escape_masked(o):
    i, j = pk.index()
    a, b = pk.f32(j) * pk.f32(0.01) - pk.f32(2), pk.f32(i) * pk.f32(0.01) - pk.f32(1.2)
    x, y, n = pk.f32(0), pk.f32(0), 0
    for _ in range(50):
        if x * x + y * y < 4:
            x, y = x * x - y * y + a, x * y + x * y + b
            n += 1
    o[i, j] = n


@escape.form(lambda o: o.size)
@pk.kernel
def escape_flat(o):
    k = pk.index()
    i, j = k // o.shape[1], k % o.shape[1]
    a, b = pk.f32(j) * pk.f32(0.01) - pk.f32(2), pk.f32(i) * pk.f32(0.01) - pk.f32(1.2)
    x, y, n = pk.f32(0), pk.f32(0), 0
    while n < 50 and x * x + y * y < 4:
        t = x * x - y * y + a
        y = x * y + x * y + b
        x = t
        n += 1
    o[i, j] = n


# -- the other way round ---------------------------------------------------------------------------

swapped = Computation(
    "transposition", lambda scale: (zeros(1000, int(1000 * scale)), random(int(1000 * scale), 1000))
)


@swapped.form(lambda o, x: o.shape)
@pk.kernel
def swapped_read(o, x):
    i, j = pk.index()
    o[i, j] = x[j, i]


@swapped.form(lambda o, x: x.shape)
@pk.kernel
def swapped_written(o, x):
    i, j = pk.index()
    o[j, i] = x[i, j]


@swapped.form(lambda o, x: o.size)
@pk.kernel
def swapped_flat(o, x):
    k = pk.index()
    w = o.shape[1]
    o[k // w, k % w] = x[k % w, k // w]


@swapped.form(lambda o, x: o.shape[0])
@pk.kernel
def swapped_rows(o, x):
    i = pk.index()
    for j in range(o.shape[1]):
        o[i, j] = x[j, i]


@swapped.form(None)
@pk.jit
def swapped_program(x):
    return x.T + 0.0


BRANCHES = (leaky, elu, above, some, spread, norm, escape, swapped)
