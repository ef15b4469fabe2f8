"""Products, filters and programs with long loops in the forms in which people write them.

Each kernel is named `<computation>_<form>`; forms without an index space are array programs.
"""

from __future__ import annotations

from forms_setting import Computation, random, zeros

import pykern as pk

# -- few rows by a large matrix --------------------------------------------------------------------

skinny = Computation(
    "skinny product",
    lambda scale: (zeros(8, 1000), random(8, int(10000 * scale)), random(int(10000 * scale), 1000)),
)


@skinny.form(lambda c, a, b: c.shape)
@pk.kernel
def skinny_items(c, a, b):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@skinny.form(lambda c, a, b: c.size)
@pk.kernel
def skinny_flat(c, a, b):
    q = pk.index()
    i, j = q // c.shape[1], q % c.shape[1]
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@skinny.form(lambda c, a, b: c.shape[0])
@pk.kernel
def skinny_rows(c, a, b):
    i = pk.index()
    for j in range(c.shape[1]):
        c[i, j] = 0.0
    for k in range(a.shape[1]):
        for j in range(c.shape[1]):
            c[i, j] += a[i, k] * b[k, j]


@skinny.form(lambda c, a, b: c.shape[1])
@pk.kernel
def skinny_columns(c, a, b):
    j = pk.index()
    for i in range(c.shape[0]):
        s = pk.f32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@skinny.form(None)
@pk.jit
def skinny_program(a, b):
    return a @ b


# -- a factor that is a transposed view ------------------------------------------------------------


def _view(scale: float):
    n = int(384 * scale)
    return zeros(n, n), random(n, n), random(n, n).T


view = Computation("product with a view", _view)


@view.form(lambda c, a, b: c.shape)
@pk.kernel
def view_items(c, a, b):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@view.form(lambda c, a, b: c.size)
@pk.kernel
def view_flat(c, a, b):
    q = pk.index()
    i, j = divmod(q, c.shape[1])
    s = pk.f32(0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@view.form(lambda c, a, b: c.shape[0])
@pk.kernel
def view_rows(c, a, b):
    i = pk.index()
    for j in range(c.shape[1]):
        s = pk.f32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@view.form(None)
@pk.jit
def view_program(a, b):
    return a @ b


# -- each channel by itself ------------------------------------------------------------------------

depth = Computation(
    "depthwise filter",
    lambda scale: (zeros(int(128 * scale), 128, 24), random(int(128 * scale) + 2, 130, 24), random(3, 3, 24)),
)


@depth.form(lambda o, x, w: o.shape)
@pk.kernel
def depth_items(o, x, w):
    i, j, c = pk.index()
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            s += x[i + a, j + b, c] * w[a, b, c]
    o[i, j, c] = s


@depth.form(lambda o, x, w: o.shape[:2])
@pk.kernel
def depth_pixels(o, x, w):
    i, j = pk.index()
    for c in range(o.shape[2]):
        s = pk.f32(0)
        for a in range(3):
            for b in range(3):
                s += x[i + a, j + b, c] * w[a, b, c]
        o[i, j, c] = s


@depth.form(lambda o, x, w: o.shape[:2])
@pk.kernel
def depth_inplace(o, x, w):
    i, j = pk.index()
    for c in range(o.shape[2]):
        o[i, j, c] = 0.0
    for a in range(3):
        for b in range(3):
            for c in range(o.shape[2]):
                o[i, j, c] += x[i + a, j + b, c] * w[a, b, c]


@depth.form(lambda o, x, w: o.size)
@pk.kernel
def depth_flat(o, x, w):
    k = pk.index()
    _, m, d = o.shape
    i, j, c = k // (m * d), k // d % m, k % d
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            s += x[i + a, j + b, c] * w[a, b, c]
    o[i, j, c] = s


# -- a filter along a line -------------------------------------------------------------------------

line = Computation(
    "filter of a line", lambda scale: (zeros(int(1048576 * scale)), random(int(1048576 * scale)), random(5))
)


@line.form(lambda o, x, w: o.shape)
@pk.kernel
def line_guard(o, x, w):
    i = pk.index()
    if i >= 2 and i < x.shape[0] - 2:
        s = pk.f32(0)
        for k in range(5):
            s += w[k] * x[i + k - 2]
        o[i] = s


@line.form(lambda o, x, w: range(2, x.shape[0] - 2))
@pk.kernel
def line_range(o, x, w):
    i = pk.index()
    s = pk.f32(0)
    for k in range(w.shape[0]):
        s += w[k] * x[i + k - 2]
    o[i] = s


@line.form(lambda o, x, w: x.shape[0] - 4)
@pk.kernel
def line_written(o, x, w):
    i = pk.index()
    s = w[0] * x[i] + w[1] * x[i + 1]
    s += w[2] * x[i + 2]
    s += w[3] * x[i + 3]
    s += w[4] * x[i + 4]
    o[i + 2] = s


@line.form(lambda o, x, w: x.shape[0] - 4)
@pk.kernel
def line_inplace(o, x, w):
    i = pk.index()
    o[i + 2] = 0.0
    for k in range(len(w)):
        o[i + 2] += w[k] * x[i + k]


@line.form(lambda o, x, w: o.shape)
@pk.kernel
def line_while(o, x, w):
    i = pk.index()
    if i < 2 or i >= x.shape[0] - 2:
        return
    s = pk.f32(0)
    k = -2
    while k <= 2:
        s += w[k + 2] * x[i + k]
        k += 1
    o[i] = s


# -- a filter of seven points in a volume ----------------------------------------------------------

seven = Computation(
    "seven points", lambda scale: (zeros(int(128 * scale), 128, 128), random(int(128 * scale), 128, 128))
)


@seven.form(lambda o, t: o.shape)
@pk.kernel
def seven_guard(o, t):
    i, j, k = pk.index()
    n, m, d = t.shape
    if 0 < i < n - 1 and 0 < j < m - 1 and 0 < k < d - 1:
        o[i, j, k] = (
            t[i - 1, j, k]
            + t[i + 1, j, k]
            + t[i, j - 1, k]
            + t[i, j + 1, k]
            + t[i, j, k - 1]
            + t[i, j, k + 1]
            - 6 * t[i, j, k]
        )


@seven.form(lambda o, t: tuple(range(1, n - 1) for n in t.shape))
@pk.kernel
def seven_ranges(o, t):
    i, j, k = pk.index()
    o[i, j, k] = (
        t[i - 1, j, k]
        + t[i + 1, j, k]
        + t[i, j - 1, k]
        + t[i, j + 1, k]
        + t[i, j, k - 1]
        + t[i, j, k + 1]
        - 6 * t[i, j, k]
    )


@seven.form(lambda o, t: o.shape)
@pk.kernel
def seven_return(o, t):
    i, j, k = pk.index()
    if i == 0 or i == t.shape[0] - 1:
        return
    if j == 0 or j == t.shape[1] - 1:
        return
    if k == 0 or k == t.shape[2] - 1:
        return
    o[i, j, k] = (
        t[i - 1, j, k]
        + t[i + 1, j, k]
        + t[i, j - 1, k]
        + t[i, j + 1, k]
        + t[i, j, k - 1]
        + t[i, j, k + 1]
        - 6 * t[i, j, k]
    )


@seven.form(lambda o, t: o.size)
@pk.kernel
def seven_flat(o, t):
    q = pk.index()
    n, m, d = t.shape
    i, j, k = q // (m * d), q // d % m, q % d
    if 0 < i < n - 1 and 0 < j < m - 1 and 0 < k < d - 1:
        o[i, j, k] = (
            t[i - 1, j, k]
            + t[i + 1, j, k]
            + t[i, j - 1, k]
            + t[i, j + 1, k]
            + t[i, j, k - 1]
            + t[i, j, k + 1]
            - 6 * t[i, j, k]
        )


@seven.form(lambda o, t: t.shape[:2])
@pk.kernel
def seven_columns(o, t):
    i, j = pk.index()
    if 0 < i < t.shape[0] - 1 and 0 < j < t.shape[1] - 1:
        for k in range(1, t.shape[2] - 1):
            o[i, j, k] = (
                t[i - 1, j, k]
                + t[i + 1, j, k]
                + t[i, j - 1, k]
                + t[i, j + 1, k]
                + t[i, j, k - 1]
                + t[i, j, k + 1]
                - 6 * t[i, j, k]
            )


# -- forces between bodies -------------------------------------------------------------------------

bodies = Computation(
    "bodies",
    lambda scale: (zeros(int(1024 * scale), 3), random(int(1024 * scale), 3), random(int(1024 * scale))),
)


@bodies.form(lambda o, x, m: o.shape[0])
@pk.kernel
def bodies_written(o, x, m):
    i = pk.index()
    a, b, c = pk.f32(0), pk.f32(0), pk.f32(0)
    for j in range(x.shape[0]):
        u, v, w = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        r = u * u + v * v + w * w + 1e-3
        f = m[j] / (r * pk.sqrt(r))
        a += f * u
        b += f * v
        c += f * w
    o[i, 0], o[i, 1], o[i, 2] = a, b, c


@bodies.form(lambda o, x, m: o.shape[0])
@pk.kernel
def bodies_inplace(o, x, m):
    i = pk.index()
    for d in range(3):
        o[i, d] = 0.0
    for j in range(x.shape[0]):
        r = pk.f32(1e-3)
        for d in range(3):
            r += (x[j, d] - x[i, d]) * (x[j, d] - x[i, d])
        f = m[j] / (r * pk.sqrt(r))
        for d in range(3):
            o[i, d] += f * (x[j, d] - x[i, d])


@bodies.form(lambda o, x, m: o.shape[0])
@pk.kernel
def bodies_if(o, x, m):
    i = pk.index()
    a, b, c = pk.f32(0), pk.f32(0), pk.f32(0)
    for j in range(x.shape[0]):
        if i == j:
            continue
        u, v, w = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        r = u * u + v * v + w * w + 1e-3
        f = m[j] / (r * pk.sqrt(r))
        a += f * u
        b += f * v
        c += f * w
    o[i, 0] = a
    o[i, 1] = b
    o[i, 2] = c


@bodies.form(None)
@pk.jit
def bodies_program(x, m):
    d = x[None] - x[:, None]
    r = (d * d).sum(axis=-1) + 1e-3
    f = m[None] / (r * pk.sqrt(r))
    return (f[:, :, None] * d).sum(axis=1)


# -- many steps in a program -----------------------------------------------------------------------

rod = Computation("steps of a rod", lambda scale: (zeros(int(4096 * scale)), random(int(4096 * scale))))


@rod.form(None)
@pk.jit
def rod_inplace(x):
    y = x + 0.0
    for _ in pk.range(500):
        y[1:-1] = y[1:-1] + 0.25 * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


@rod.form(None)
@pk.jit
def rod_range(x):
    y = x + 0.0
    for _ in range(500):
        y[1:-1] = y[1:-1] + 0.25 * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


@rod.form(None)
@pk.jit
def rod_joined(x):
    y = x
    for _ in pk.range(500):
        y = pk.concatenate([y[:1], y[1:-1] + 0.25 * (y[2:] - 2 * y[1:-1] + y[:-2]), y[-1:]])
    return y


@rod.form(None)
@pk.jit
def rod_added(x):
    y = x + 0.0
    for _ in pk.range(500):
        y[1:-1] += 0.25 * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


PRODUCTS = (skinny, view, depth, line, seven, bodies, rod)
