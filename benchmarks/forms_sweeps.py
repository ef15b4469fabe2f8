"""Loops down the columns, running sums, products of other layouts, and the same as array programs.

Each kernel is named `<computation>_<form>`; forms without an index space are array programs.
"""

from __future__ import annotations

from forms_setting import Computation, random, zeros

import pykern as pk

# -- sums that run -----------------------------------------------------------------------------------

running = Computation(
    "running sum", lambda scale: (zeros(int(1024 * scale), 1024), random(int(1024 * scale), 1024))
)


@running.form(lambda o, x: o.shape[0])
@pk.kernel
def running_local(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j]
        o[i, j] = s


@running.form(lambda o, x: o.shape[0])
@pk.kernel
def running_before(o, x):
    i = pk.index()
    o[i, 0] = x[i, 0]
    for j in range(1, x.shape[1]):
        o[i, j] = o[i, j - 1] + x[i, j]


down = Computation(
    "running sum, down", lambda scale: (zeros(int(1024 * scale), 1024), random(int(1024 * scale), 1024))
)


@down.form(lambda o, x: o.shape[1])
@pk.kernel
def down_local(o, x):
    j = pk.index()
    s = pk.f32(0)
    for i in range(x.shape[0]):
        s += x[i, j]
        o[i, j] = s


@down.form(lambda o, x: o.shape[1])
@pk.kernel
def down_before(o, x):
    j = pk.index()
    o[0, j] = x[0, j]
    for i in range(1, x.shape[0]):
        o[i, j] = o[i - 1, j] + x[i, j]


@down.form(None)
@pk.jit
def down_program(x):
    o = x + 0.0
    for i in pk.range(1, x.shape[0]):
        o[i] = o[i - 1] + x[i]
    return o


sweep = Computation(
    "sweep of layers", lambda scale: (zeros(int(64 * scale), 64, 64), random(int(64 * scale), 64, 64))
)


@sweep.form(lambda o, x: o.shape[:2])
@pk.kernel
def sweep_local(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[2]):
        s = 0.5 * s + x[i, j, k]
        o[i, j, k] = s


@sweep.form(lambda o, x: o.shape[:2])
@pk.kernel
def sweep_before(o, x):
    i, j = pk.index()
    o[i, j, 0] = x[i, j, 0]
    for k in range(1, x.shape[2]):
        o[i, j, k] = 0.5 * o[i, j, k - 1] + x[i, j, k]


@sweep.form(lambda o, x: o.shape[0])
@pk.kernel
def sweep_planes(o, x):
    i = pk.index()
    for j in range(x.shape[1]):
        o[i, j, 0] = x[i, j, 0]
    for k in range(1, x.shape[2]):
        for j in range(x.shape[1]):
            o[i, j, k] = 0.5 * o[i, j, k - 1] + x[i, j, k]


# -- products of other layouts -------------------------------------------------------------------------


def _product(scale: float):
    n = int(384 * scale)
    return zeros(n, n), random(n, n), random(n, n)


transposed = Computation("product by b.T", _product)


@transposed.form(lambda c, a, b: c.shape)
@pk.kernel
def transposed_items(c, a, b):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[j, k]
    c[i, j] = s


@transposed.form(lambda c, a, b: c.size)
@pk.kernel
def transposed_flat(c, a, b):
    q = pk.index()
    i, j = q // c.shape[1], q % c.shape[1]
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[j, k]
    c[i, j] = s


@transposed.form(lambda c, a, b: c.shape[0])
@pk.kernel
def transposed_rows(c, a, b):
    i = pk.index()
    for j in range(c.shape[1]):
        s = pk.f32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[j, k]
        c[i, j] = s


@transposed.form(lambda c, a, b: c.shape)
@pk.kernel
def transposed_inplace(c, a, b):
    i, j = pk.index()
    c[i, j] = 0.0
    for k in range(a.shape[1]):
        c[i, j] += a[i, k] * b[j, k]


vector = Computation(
    "matrix times vector",
    lambda scale: (zeros(int(2048 * scale)), random(int(2048 * scale), 2048), random(2048)),
)


@vector.form(lambda y, a, x: y.shape[0])
@pk.kernel
def vector_items(y, a, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * x[k]
    y[i] = s


@vector.form(lambda y, a, x: y.shape[0])
@pk.kernel
def vector_inplace(y, a, x):
    i = pk.index()
    y[i] = 0.0
    for k in range(a.shape[1]):
        y[i] += a[i, k] * x[k]


@vector.form(lambda y, a, x: y.shape[0])
@pk.kernel
def vector_while(y, a, x):
    i = pk.index()
    s = pk.f32(0)
    k = 0
    while k < a.shape[1]:
        s = s + x[k] * a[i, k]
        k = k + 1
    y[i] = s


@vector.form(None)
@pk.jit
def vector_program(a, x):
    return a @ x


# -- programs -------------------------------------------------------------------------------------------

spread = Computation("spread of values", lambda scale: (zeros(int(2048 * scale)), random(int(2048 * scale))))


@spread.form(lambda o, x: o.shape[0])
@pk.kernel
def spread_items(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        d = x[i] - x[j]
        s += d * d
    o[i] = s


@spread.form(None)
@pk.jit
def spread_program(x):
    d = x[:, None] - x[None]
    return (d * d).sum(axis=1)


@spread.form(None)
@pk.jit
def spread_power(x):
    return ((x[:, None] - x[None, :]) ** 2).sum(axis=1)


steps = Computation(
    "differences", lambda scale: (zeros(int(1024 * scale), 1023), random(int(1024 * scale), 1024))
)


@steps.form(lambda o, x: o.shape)
@pk.kernel
def steps_items(o, x):
    i, j = pk.index()
    o[i, j] = x[i, j + 1] - x[i, j]


@steps.form(None)
@pk.jit
def steps_program(x):
    return x[:, 1:] - x[:, :-1]


@steps.form(None)
@pk.jit
def steps_doubled(x):
    y = x.astype(pk.f64)
    return (y[:, 1:] - y[:, :-1]).astype(pk.f32)


counts = Computation(
    "sum of cast", lambda scale: (zeros(int(1024 * scale)), 100 * random(int(1024 * scale), 1024))
)


@counts.form(lambda o, x: o.shape[0])
@pk.kernel
def counts_items(o, x):
    i = pk.index()
    s = pk.i32(0)
    for j in range(x.shape[1]):
        s += pk.i32(x[i, j])
    o[i] = pk.f32(s)


@counts.form(None)
@pk.jit
def counts_program(x):
    return x.astype(pk.i32).sum(axis=1).astype(pk.f32)


@counts.form(None)
@pk.jit
def counts_sliced(x):
    y = x.astype(pk.i32)
    return (y[:, ::2].sum(axis=1) + y[:, 1::2].sum(axis=1)).astype(pk.f32)


SWEEPS = (running, down, sweep, transposed, vector, spread, steps, counts)
