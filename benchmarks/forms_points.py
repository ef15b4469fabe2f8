"""Elements, distances and short vectors in the forms in which people write them. Each kernel is named
`<computation>_<form>`."""

from __future__ import annotations

from forms_setting import Computation, random, zeros

import pykern as pk

axpy = Computation(
    "axpy", lambda scale: (zeros(int(2048 * scale), 2048), *2 * (random(int(2048 * scale), 2048),))
)


@axpy.form(lambda o, x, y: o.shape)
@pk.kernel
def axpy_two(o, x, y):
    i, j = pk.index()
    o[i, j] = 2.5 * x[i, j] + y[i, j]


@axpy.form(lambda o, x, y: o.size)
@pk.kernel
def axpy_flat(o, x, y):
    k = pk.index()
    w = o.shape[1]
    o[k // w, k % w] = 2.5 * x[k // w, k % w] + y[k // w, k % w]


@axpy.form(lambda o, x, y: o.size, lambda o, x, y: (o.shape[1],))
@pk.kernel
def axpy_rest(o, x, y, w):
    k = pk.index()
    i = k // w
    j = k - i * w
    o[i, j] = 2.5 * x[i, j] + y[i, j]


@axpy.form(lambda o, x, y: o.shape[0])
@pk.kernel
def axpy_rows(o, x, y):
    i = pk.index()
    for j in range(o.shape[1]):
        o[i, j] = 2.5 * x[i, j] + y[i, j]


@axpy.form(lambda o, x, y: (range(o.shape[0]), range(o.shape[1])))
@pk.kernel
def axpy_guard(o, x, y):
    i, j = pk.index()
    if i < o.shape[0] and j < o.shape[1]:
        o[i, j] = 2.5 * x[i, j] + y[i, j]


volume = Computation(
    "volume", lambda scale: (zeros(int(128 * scale), 128, 128), random(int(128 * scale), 128, 128))
)


@volume.form(lambda o, t: o.shape)
@pk.kernel
def volume_three(o, t):
    i, j, k = pk.index()
    o[i, j, k] = 2 * t[i, j, k] + 1.0


@volume.form(lambda o, t: o.size)
@pk.kernel
def volume_flat(o, t):
    k = pk.index()
    _, h, w = t.shape
    o[k // (h * w), (k // w) % h, k % w] = 2 * t[k // (h * w), (k // w) % h, k % w] + 1.0


@volume.form(lambda o, t: o.size)
@pk.kernel
def volume_planes(o, t):
    k = pk.index()
    _, h, w = t.shape
    p, r = k // (h * w), k % (h * w)
    o[p, r // w, r % w] = 2 * t[p, r // w, r % w] + 1.0


@volume.form(lambda o, t: o.shape[:2])
@pk.kernel
def volume_loop(o, t):
    i, j = pk.index()
    for k in range(o.shape[2]):
        o[i, j, k] = 2 * t[i, j, k] + 1.0


distance = Computation(
    "distances", lambda scale: (zeros(int(1024 * scale), 1024), random(int(1024 * scale), 3), random(1024, 3))
)


@distance.form(lambda o, x, y: o.shape)
@pk.kernel
def distance_written(o, x, y):
    i, j = pk.index()
    a, b, c = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
    o[i, j] = pk.sqrt(a * a + b * b + c * c)


@distance.form(lambda o, x, y: o.shape)
@pk.kernel
def distance_three(o, x, y):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(3):
        s += (x[i, k] - y[j, k]) * (x[i, k] - y[j, k])
    o[i, j] = pk.sqrt(s)


@distance.form(lambda o, x, y: o.shape)
@pk.kernel
def distance_shape(o, x, y):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        d = x[i, k] - y[j, k]
        s += d * d
    o[i, j] = pk.sqrt(s)


@distance.form(lambda o, x, y: o.size)
@pk.kernel
def distance_flat(o, x, y):
    q = pk.index()
    i, j = q // o.shape[1], q % o.shape[1]
    s = pk.f32(0)
    for k in range(x.shape[1]):
        d = x[i, k] - y[j, k]
        s += d * d
    o[i, j] = pk.sqrt(s)


gravity = Computation(
    "gravity", lambda scale: (zeros(int(2048 * scale)), random(int(2048 * scale)), random(int(2048 * scale)))
)


@gravity.form(lambda o, x, m: o.shape[0])
@pk.kernel
def gravity_softened(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        d = x[j] - x[i]
        s += m[j] * d / (d * d + 1e-4)
    o[i] = s


@gravity.form(lambda o, x, m: o.shape[0])
@pk.kernel
def gravity_if(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[0]):
        if j != i:
            d = x[j] - x[i]
            s += m[j] * d / (d * d + 1e-4)
    o[i] = s


@gravity.form(lambda o, x, m: o.shape[0])
@pk.kernel
def gravity_two_loops(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    for j in range(i):
        d = x[j] - x[i]
        s += m[j] * d / (d * d + 1e-4)
    for j in range(i + 1, x.shape[0]):
        d = x[j] - x[i]
        s += m[j] * d / (d * d + 1e-4)
    o[i] = s


POINTS = (axpy, volume, distance, gravity)
