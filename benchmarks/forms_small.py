"""Small matrices and formulas with branches, many at a time, in the forms in which people write them.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import math

import numpy as np
from forms_setting import Arrays, Computation, random, zeros

import pykern as pk

# -- batch of 4x4 ------------------------------------------------------------------------------------

batch = Computation(
    "batch of 4x4", lambda scale: (zeros(int(16384 * scale), 4, 4), *2 * (random(int(16384 * scale), 4, 4),))
)


@batch.form(lambda c, a, b: c.shape[0])
@pk.kernel
def batch_loops(c, a, b):
    n = pk.index()
    for i in range(4):
        for j in range(4):
            s = pk.f32(0)
            for k in range(4):
                s += a[n, i, k] * b[n, k, j]
            c[n, i, j] = s


@batch.form(lambda c, a, b: c.shape)
@pk.kernel
def batch_cells(c, a, b):
    n, i, j = pk.index()
    s = pk.f32(0)
    for k in range(a.shape[2]):
        s += a[n, i, k] * b[n, k, j]
    c[n, i, j] = s


@batch.form(lambda c, a, b: c.shape[0])
@pk.kernel
def batch_shape(c, a, b):
    n = pk.index()
    for i in range(c.shape[1]):
        for j in range(c.shape[2]):
            c[n, i, j] = 0
            for k in range(a.shape[2]):
                c[n, i, j] += a[n, i, k] * b[n, k, j]


@batch.form(lambda c, a, b: c.shape[:2])
@pk.kernel
def batch_rows(c, a, b):
    n, i = pk.index()
    for j in range(4):
        c[n, i, j] = (
            a[n, i, 0] * b[n, 0, j]
            + a[n, i, 1] * b[n, 1, j]
            + a[n, i, 2] * b[n, 2, j]
            + a[n, i, 3] * b[n, 3, j]
        )


@batch.form(lambda c, a, b: c.shape)
@pk.kernel
def batch_written(c, a, b):
    n, i, j = pk.index()
    c[n, i, j] = (
        a[n, i, 0] * b[n, 0, j] + a[n, i, 1] * b[n, 1, j] + a[n, i, 2] * b[n, 2, j] + a[n, i, 3] * b[n, 3, j]
    )


# -- turned by quaternions ---------------------------------------------------------------------------


def _quaternions(scale: float) -> Arrays:
    n = int((1 << 16) * scale)
    q = random(n, 4) - np.float32(0.5)
    return zeros(n, 3), q / np.linalg.norm(q, axis=1, keepdims=True), random(n, 3)


quaternion = Computation("quaternions", _quaternions)


@quaternion.form(lambda o, q, v: o.shape[0])
@pk.kernel
def quaternion_written(o, q, v):
    i = pk.index()
    w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
    a, b, c = v[i, 0], v[i, 1], v[i, 2]
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    o[i, 0] = a + w * tx + y * tz - z * ty
    o[i, 1] = b + w * ty + z * tx - x * tz
    o[i, 2] = c + w * tz + x * ty - y * tx


@quaternion.form(
    lambda o, q, v: o.shape[0],
    lambda o, q, v: (
        *(np.ascontiguousarray(q[:, k]) for k in range(4)),
        *(np.ascontiguousarray(v[:, k]) for k in range(3)),
    ),
)
@pk.kernel
def quaternion_arrays(o, q, v, qw, qx, qy, qz, va, vb, vc):
    i = pk.index()
    w, x, y, z = qw[i], qx[i], qy[i], qz[i]
    a, b, c = va[i], vb[i], vc[i]
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    o[i, 0] = a + w * tx + y * tz - z * ty
    o[i, 1] = b + w * ty + z * tx - x * tz
    o[i, 2] = c + w * tz + x * ty - y * tx


@quaternion.form(lambda o, q, v: o.shape[0])
@pk.kernel
def quaternion_loop(o, q, v):
    i = pk.index()
    w = q[i, 0]
    for k in range(3):
        m, n = (k + 1) % 3, (k + 2) % 3
        tk = 2 * (q[i, 1 + m] * v[i, n] - q[i, 1 + n] * v[i, m])
        tm = 2 * (q[i, 1 + n] * v[i, k] - q[i, 1 + k] * v[i, n])
        tn = 2 * (q[i, 1 + k] * v[i, m] - q[i, 1 + m] * v[i, k])
        o[i, k] = v[i, k] + w * tk + q[i, 1 + m] * tn - q[i, 1 + n] * tm


@quaternion.form(lambda o, q, v: o.shape[0], peer=False)
@pk.kernel
def quaternion_matrix(o, q, v):
    i = pk.index()
    w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
    m = pk.private((3, 3), pk.f32)
    m[0, 0] = 1 - 2 * (y * y + z * z)
    m[0, 1] = 2 * (x * y - w * z)
    m[0, 2] = 2 * (x * z + w * y)
    m[1, 0] = 2 * (x * y + w * z)
    m[1, 1] = 1 - 2 * (x * x + z * z)
    m[1, 2] = 2 * (y * z - w * x)
    m[2, 0] = 2 * (x * z - w * y)
    m[2, 1] = 2 * (y * z + w * x)
    m[2, 2] = 1 - 2 * (x * x + y * y)
    for r in range(3):
        s = pk.f32(0)
        for c in range(3):
            s += m[r, c] * v[i, c]
        o[i, r] = s


# -- rays and spheres --------------------------------------------------------------------------------


def _rays(scale: float) -> Arrays:
    n = int(8192 * scale)
    d = random(n, 3) - np.float32(0.5)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    spheres = np.concatenate([4 * random(60, 3) - 2, 0.2 + 0.3 * random(60, 1)], axis=1).astype(np.float32)
    return zeros(n), np.ascontiguousarray(d), spheres


rays = Computation("rays and spheres", _rays, may_differ=2e-3)


@rays.form(lambda o, d, s: o.shape[0])
@pk.kernel
def rays_if(o, d, s):
    i = pk.index()
    best = pk.f32(1e30)
    for k in range(s.shape[0]):
        b = d[i, 0] * s[k, 0] + d[i, 1] * s[k, 1] + d[i, 2] * s[k, 2]
        c = s[k, 0] * s[k, 0] + s[k, 1] * s[k, 1] + s[k, 2] * s[k, 2] - s[k, 3] * s[k, 3]
        h = b * b - c
        if h > 0:
            t = b - pk.sqrt(h)
            if t > 0 and t < best:
                best = t
    o[i] = best


@rays.form(lambda o, d, s: o.shape[0])
@pk.kernel
def rays_continue(o, d, s):
    i = pk.index()
    best = pk.f32(1e30)
    x, y, z = d[i, 0], d[i, 1], d[i, 2]
    for k in range(s.shape[0]):
        b = x * s[k, 0] + y * s[k, 1] + z * s[k, 2]
        c = s[k, 0] ** 2 + s[k, 1] ** 2 + s[k, 2] ** 2 - s[k, 3] ** 2
        h = b * b - c
        if h <= 0:
            continue
        t = b - pk.sqrt(h)
        if t <= 0:
            continue
        best = min(best, t)
    o[i] = best


@rays.form(lambda o, d, s: o.shape[0])
@pk.kernel
def rays_ternary(o, d, s):
    i = pk.index()
    best = pk.f32(1e30)
    for k in range(s.shape[0]):
        b = d[i, 0] * s[k, 0] + d[i, 1] * s[k, 1] + d[i, 2] * s[k, 2]
        c = s[k, 0] * s[k, 0] + s[k, 1] * s[k, 1] + s[k, 2] * s[k, 2] - s[k, 3] * s[k, 3]
        h = b * b - c
        t = b - pk.sqrt(max(h, 0)) if h > 0 else 1e30
        best = t if t > 0 and t < best else best
    o[i] = best


@rays.form(lambda o, d, s: o.shape[0])
@pk.kernel
def rays_loop(o, d, s):
    i = pk.index()
    best = pk.f32(1e30)
    for k in range(s.shape[0]):
        b = pk.f32(0)
        c = -s[k, 3] * s[k, 3]
        for a in range(3):
            b += d[i, a] * s[k, a]
            c += s[k, a] * s[k, a]
        h = b * b - c
        if h > 0:
            t = b - pk.sqrt(h)
            if t > 0 and best > t:
                best = t
    o[i] = best


@rays.form(lambda o, d, s: o.shape[0])
@pk.kernel
def rays_flag(o, d, s):
    i = pk.index()
    hit = False
    best = pk.f32(0)
    for k in range(s.shape[0]):
        b = d[i, 0] * s[k, 0] + d[i, 1] * s[k, 1] + d[i, 2] * s[k, 2]
        c = s[k, 0] * s[k, 0] + s[k, 1] * s[k, 1] + s[k, 2] * s[k, 2] - s[k, 3] * s[k, 3]
        h = b * b - c
        if h > 0:
            t = b - pk.sqrt(h)
            if t > 0 and (not hit or t < best):
                best = t
                hit = True
    o[i] = best if hit else 1e30


# -- options -----------------------------------------------------------------------------------------


def _options(scale: float) -> Arrays:
    n = int((1 << 16) * scale)
    return zeros(n), 50 + 50 * random(n), 50 + 50 * random(n)[::-1].copy(), 0.2 + random(n)


option = Computation("options", _options)


@option.form(lambda o, s, k, t: o.shape[0])
@pk.kernel
def option_erf(o, s, k, t):
    i = pk.index()
    v = 0.3 * pk.sqrt(t[i])
    d1 = (pk.log(s[i] / k[i]) + (0.02 + 0.045) * t[i]) / v
    d2 = d1 - v
    n1 = 0.5 * (1 + pk.erf(d1 * 0.70710678))
    n2 = 0.5 * (1 + pk.erf(d2 * 0.70710678))
    o[i] = s[i] * n1 - k[i] * pk.exp(-0.02 * t[i]) * n2


@option.form(lambda o, s, k, t: o.shape[0])
@pk.kernel
def option_loop(o, s, k, t):
    i = pk.index()
    v = 0.3 * pk.sqrt(t[i])
    d = (pk.log(s[i] / k[i]) + (0.02 + 0.045) * t[i]) / v
    r = pk.f32(0)
    for side in range(2):
        n = 0.5 * (1 + pk.erf(d * 0.70710678))
        if side == 0:
            r = s[i] * n
        else:
            r -= k[i] * pk.exp(-0.02 * t[i]) * n
        d -= v
    o[i] = r


@pk.func
def _normal(x):
    return 0.5 * (1 + pk.erf(x / pk.sqrt(pk.f32(2))))


@option.form(lambda o, s, k, t: o.shape[0], peer=False)
@pk.kernel
def option_function(o, s, k, t):
    i = pk.index()
    v = 0.3 * t[i] ** 0.5
    d1 = (pk.log(s[i] / k[i]) + (0.02 + 0.3 * 0.3 / 2) * t[i]) / v
    o[i] = s[i] * _normal(d1) - k[i] * pk.exp(-0.02 * t[i]) * _normal(d1 - v)


@option.form(None)
@pk.jit
def option_program(s, k, t):
    v = 0.3 * pk.sqrt(t)
    d1 = (pk.log(s / k) + (0.02 + 0.045) * t) / v
    n1 = 0.5 * (1 + pk.erf(d1 * 0.70710678))
    n2 = 0.5 * (1 + pk.erf((d1 - v) * 0.70710678))
    return s * n1 - k * pk.exp(-0.02 * t) * n2


# -- inverses of 3x3 ---------------------------------------------------------------------------------


def _matrices(scale: float) -> Arrays:
    n = int(32768 * scale)
    return zeros(n, 3, 3), random(n, 3, 3) + 2 * np.eye(3, dtype=np.float32)


inverse = Computation("inverses of 3x3", _matrices)


@inverse.form(lambda o, a: o.shape[0])
@pk.kernel
def inverse_written(o, a):
    n = pk.index()
    c0 = a[n, 1, 1] * a[n, 2, 2] - a[n, 1, 2] * a[n, 2, 1]
    c1 = a[n, 1, 2] * a[n, 2, 0] - a[n, 1, 0] * a[n, 2, 2]
    c2 = a[n, 1, 0] * a[n, 2, 1] - a[n, 1, 1] * a[n, 2, 0]
    d = 1 / (a[n, 0, 0] * c0 + a[n, 0, 1] * c1 + a[n, 0, 2] * c2)
    o[n, 0, 0] = c0 * d
    o[n, 1, 0] = c1 * d
    o[n, 2, 0] = c2 * d
    o[n, 0, 1] = (a[n, 0, 2] * a[n, 2, 1] - a[n, 0, 1] * a[n, 2, 2]) * d
    o[n, 1, 1] = (a[n, 0, 0] * a[n, 2, 2] - a[n, 0, 2] * a[n, 2, 0]) * d
    o[n, 2, 1] = (a[n, 0, 1] * a[n, 2, 0] - a[n, 0, 0] * a[n, 2, 1]) * d
    o[n, 0, 2] = (a[n, 0, 1] * a[n, 1, 2] - a[n, 0, 2] * a[n, 1, 1]) * d
    o[n, 1, 2] = (a[n, 0, 2] * a[n, 1, 0] - a[n, 0, 0] * a[n, 1, 2]) * d
    o[n, 2, 2] = (a[n, 0, 0] * a[n, 1, 1] - a[n, 0, 1] * a[n, 1, 0]) * d


@inverse.form(lambda o, a: o.shape[0])
@pk.kernel
def inverse_loops(o, a):
    n = pk.index()
    d = pk.f32(0)
    for i in range(3):
        d += a[n, 0, i] * (
            a[n, 1, (i + 1) % 3] * a[n, 2, (i + 2) % 3] - a[n, 1, (i + 2) % 3] * a[n, 2, (i + 1) % 3]
        )
    for i in range(3):
        for j in range(3):
            y, z = (j + 1) % 3, (j + 2) % 3
            u, v = (i + 1) % 3, (i + 2) % 3
            o[n, i, j] = (a[n, y, u] * a[n, z, v] - a[n, y, v] * a[n, z, u]) / d


@inverse.form(lambda o, a: o.shape)
@pk.kernel
def inverse_cells(o, a):
    n, i, j = pk.index()
    d = pk.f32(0)
    for k in range(3):
        d += a[n, 0, k] * (
            a[n, 1, (k + 1) % 3] * a[n, 2, (k + 2) % 3] - a[n, 1, (k + 2) % 3] * a[n, 2, (k + 1) % 3]
        )
    y, z = (j + 1) % 3, (j + 2) % 3
    u, v = (i + 1) % 3, (i + 2) % 3
    o[n, i, j] = (a[n, y, u] * a[n, z, v] - a[n, y, v] * a[n, z, u]) / d


@inverse.form(lambda o, a: o.shape[0], peer=False)
@pk.kernel
def inverse_gauss(o, a):
    n = pk.index()
    m = pk.private((3, 6), pk.f32)
    for i in range(3):
        for j in range(3):
            m[i, j] = a[n, i, j]
            m[i, j + 3] = 1 if i == j else 0
    for k in range(3):
        p = 1 / m[k, k]
        for j in range(6):
            m[k, j] *= p
        for i in range(3):
            if i != k:
                f = m[i, k]
                for j in range(6):
                    m[i, j] -= f * m[k, j]
    for i in range(3):
        for j in range(3):
            o[n, i, j] = m[i, j + 3]


# -- references --------------------------------------------------------------------------------------


def _turn(o: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    t = 2 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * t + np.cross(q[:, 1:], t)


def _hits(o: np.ndarray, d: np.ndarray, s: np.ndarray) -> np.ndarray:
    b = d.astype(np.float64) @ s[:, :3].T
    h = b * b - ((s[:, :3].astype(np.float64) ** 2).sum(1) - s[:, 3].astype(np.float64) ** 2)
    t = b - np.sqrt(np.maximum(h, 0))
    return np.where((h > 0) & (t > 0), t, 1e30).min(1)


def _prices(o: np.ndarray, s: np.ndarray, k: np.ndarray, t: np.ndarray) -> np.ndarray:
    v = 0.3 * np.sqrt(t.astype(np.float64))
    d = (np.log(s / k) + 0.065 * t) / v
    erf = np.vectorize(math.erf)
    return s * (0.5 + 0.5 * erf(d / 2**0.5)) - k * np.exp(-0.02 * t) * (0.5 + 0.5 * erf((d - v) / 2**0.5))


SMALL = (batch, quaternion, rays, option, inverse)
SMALL_REFERENCES = {
    "batch of 4x4": lambda c, a, b: a @ b,
    "quaternions": _turn,
    "rays and spheres": _hits,
    "options": _prices,
    "inverses of 3x3": lambda o, a: np.linalg.inv(a.astype(np.float64)),
}
