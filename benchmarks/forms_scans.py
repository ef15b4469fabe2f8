"""Loops in one work-item, scans of programs, branches of `and` and `or`, and padded arrays, as people write them.

Each kernel or program is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Arrays, Computation, random, zeros

import pykern as pk


def _paths(scale: float) -> Arrays:
    n = int(160 * scale)
    return zeros(int(60 * scale), n), random(int(60 * scale), n), random(n, n)


def _lower(scale: float) -> Arrays:
    n = int(120 * scale)
    low = np.tril(random(n, n)) / n + np.eye(n, dtype=np.float32)
    return zeros(n, int(64 * scale)), low.astype(np.float32), random(n, int(64 * scale))


before = Computation(
    "exclusive sums", lambda scale: (zeros(int(2000 * scale), 255), random(int(2000 * scale), 255))
)


@before.form(lambda o, x: len(o))
@pk.kernel
def before_local(o, x):
    i = pk.index()
    s = pk.f32(0)
    for j in range(x.shape[1]):
        o[i, j] = s
        s += x[i, j]


@before.form(lambda o, x: len(o))
@pk.kernel
def before_memory(o, x):
    i = pk.index()
    o[i, 0] = 0
    for j in range(1, x.shape[1]):
        o[i, j] = o[i, j - 1] + x[i, j - 1]


@before.form(None)
@pk.jit
def before_minus(x):
    c = np.cumsum(x, axis=1)
    o = np.zeros_like(x)
    o[:, 1:] = c[:, :-1]
    return o


@before.form(None)
@pk.jit
def before_concat(x):
    return np.concatenate([np.zeros_like(x[:, :1]), np.cumsum(x[:, :-1], axis=1)], axis=1)


@before.form(None)
@pk.jit
def before_loop(x):
    o = np.zeros_like(x)
    for j in range(1, x.shape[1]):
        o[:, j] = o[:, j - 1] + x[:, j - 1]
    return o


paths = Computation("best paths", _paths)


@paths.form(lambda o, e, t: 1)
@pk.kernel
def paths_one(o, e, t):
    _ = pk.index()
    n = t.shape[0]
    for j in range(n):
        o[0, j] = e[0, j]
    for k in range(1, e.shape[0]):
        for j in range(n):
            best = pk.f32(-1e30)
            for i in range(n):
                v = o[k - 1, i] + t[i, j]
                if v > best:
                    best = v
            o[k, j] = best + e[k, j]


@pk.kernel
def step(o, e, t, k):
    j = pk.index()
    best = o[k - 1, 0] + t[0, j]
    for i in range(1, t.shape[0]):
        best = max(best, o[k - 1, i] + t[i, j])
    o[k, j] = best + e[k, j]


@paths.form(None)
@pk.jit
def paths_launches(e, t):
    o = np.empty_like(e)
    o[0] = e[0]
    for k in range(1, e.shape[0]):
        step(o, e, t, k, ndrange=e.shape[1])
    return o


@paths.form(None)
@pk.jit
def paths_broadcast(e, t):
    o = np.empty_like(e)
    o[0] = e[0]
    for k in range(1, e.shape[0]):
        o[k] = (o[k - 1][:, None] + t).max(axis=0) + e[k]
    return o


@paths.form(None)
@pk.jit
def paths_turned(e, t):
    o = np.empty_like(e)
    o[0] = e[0]
    for k in range(1, len(e)):
        o[k] = np.max(t.T + o[k - 1], axis=1) + e[k]
    return o


signs = Computation(
    "sign changes", lambda scale: (zeros(int(1500 * scale)), random(int(1500 * scale), 333) - np.float32(0.5))
)


@signs.form(lambda o, x: len(o))
@pk.kernel
def signs_if(o, x):
    i = pk.index()
    n = 0
    for j in range(x.shape[1] - 1):
        if x[i, j] * x[i, j + 1] < 0:
            n += 1
    o[i] = n


@signs.form(lambda o, x: len(o))
@pk.kernel
def signs_carried(o, x):
    i = pk.index()
    n = pk.i32(0)
    last = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        if (v > 0) != (last > 0):
            n += 1
        last = v
    o[i] = n


@signs.form(lambda o, x: len(o))
@pk.kernel
def signs_float(o, x):
    i = pk.index()
    o[i] = 0
    for j in range(1, x.shape[1]):
        if (x[i, j - 1] > 0 and x[i, j] <= 0) or (x[i, j - 1] <= 0 and x[i, j] > 0):
            o[i] += 1


@signs.form(lambda o, x: len(o))
@pk.kernel
def signs_bool(o, x):
    i = pk.index()
    n = 0
    for j in range(1, x.shape[1]):
        n += (x[i, j] > 0) != (x[i, j - 1] > 0)
    o[i] = n


@signs.form(None)
@pk.jit
def signs_program(x):
    return (x[:, 1:] * x[:, :-1] < 0).sum(axis=1).astype(np.float32)


@signs.form(None)
@pk.jit
def signs_sign(x):
    s = x > 0
    return np.count_nonzero(s[:, 1:] != s[:, :-1], axis=1).astype(np.float32)


@signs.form(None)
@pk.jit
def signs_diff(x):
    return (np.abs(np.diff(np.sign(x), axis=1)) > 0).sum(axis=1).astype(np.float32)


slopes = Computation(
    "periodic slopes",
    lambda scale: (zeros(int(511 * scale), int(515 * scale)), random(int(511 * scale), int(515 * scale))),
)


@slopes.form(lambda o, t: o.shape)
@pk.kernel
def slopes_mod(o, t):
    i, j = pk.index()
    h, w = t.shape
    a = t[(i + 1) % h, j] - t[(i - 1) % h, j]
    b = t[i, (j + 1) % w] - t[i, (j - 1) % w]
    o[i, j] = pk.sqrt(a * a + b * b)


@slopes.form(lambda o, t: o.shape)
@pk.kernel
def slopes_ternary(o, t):
    i, j = pk.index()
    u = i - 1 if i > 0 else t.shape[0] - 1
    d = i + 1 if i < t.shape[0] - 1 else 0
    left = j - 1 if j > 0 else t.shape[1] - 1
    r = j + 1 if j < t.shape[1] - 1 else 0
    o[i, j] = pk.sqrt((t[d, j] - t[u, j]) ** 2 + (t[i, r] - t[i, left]) ** 2)


@slopes.form(lambda o, t: o.size, lambda o, t: (t.reshape(-1), t.shape[0], t.shape[1]))
@pk.kernel
def slopes_flat(o, t, tf, h, w):
    k = pk.index()
    i = k // w
    j = k - i * w
    u, d = (i + h - 1) % h, (i + 1) % h
    left, r = (j + w - 1) % w, (j + 1) % w
    a = tf[d * w + j] - tf[u * w + j]
    b = tf[i * w + r] - tf[i * w + left]
    o[i, j] = pk.sqrt(a * a + b * b)


@slopes.form(lambda o, t: o.shape[0])
@pk.kernel
def slopes_rows(o, t):
    i = pk.index()
    h = t.shape[0]
    for j in range(t.shape[1]):
        left = j - 1
        r = j + 1
        if left < 0:
            left = t.shape[1] - 1
        if r == t.shape[1]:
            r = 0
        a = t[(i + 1) % h, j] - t[(i + h - 1) % h, j]
        b = t[i, r] - t[i, left]
        o[i, j] = pk.sqrt(a * a + b * b)


@slopes.form(None)
@pk.jit
def slopes_roll(t):
    a = np.roll(t, -1, 0) - np.roll(t, 1, 0)
    b = np.roll(t, -1, 1) - np.roll(t, 1, 1)
    return np.sqrt(a * a + b * b)


@slopes.form(None)
@pk.jit
def slopes_pad(t):
    p = np.pad(t, 1, "wrap")
    return np.hypot(p[2:, 1:-1] - p[:-2, 1:-1], p[1:-1, 2:] - p[1:-1, :-2])


@slopes.form(None)
@pk.jit
def slopes_concat(t):
    a = np.concatenate([t[1:], t[:1]]) - np.concatenate([t[-1:], t[:-1]])
    b = np.concatenate([t[:, 1:], t[:, :1]], axis=1) - np.concatenate([t[:, -1:], t[:, :-1]], axis=1)
    return np.sqrt(a**2 + b**2)


bins = Computation(
    "bins of points",
    lambda scale: (zeros(32, 32), random(int(100003 * scale), 2), random(int(100003 * scale))),
)


@bins.form(lambda c, p, w: len(p))
@pk.kernel
def bins_atomic(c, p, w):
    i = pk.index()
    a = int(p[i, 0] * 32)
    b = int(p[i, 1] * 32)
    pk.atomic_add(c, (a, b), w[i])


@bins.form(lambda c, p, w: len(p))
@pk.kernel
def bins_clamped(c, p, w):
    i = pk.index()
    a = min(max(int(p[i, 0] * 32), 0), 31)
    b = min(max(int(p[i, 1] * 32), 0), 31)
    pk.atomic_add(c, (a, b), w[i])


@bins.form(lambda c, p, w: 1)
@pk.kernel
def bins_one(c, p, w):
    _ = pk.index()
    for i in range(p.shape[0]):
        c[int(p[i, 0] * 32), int(p[i, 1] * 32)] += w[i]


@bins.form(lambda c, p, w: len(p))
@pk.kernel
def bins_floor(c, p, w):
    i = pk.index()
    a = pk.i32(pk.floor(p[i, 0] * 32))
    b = pk.i32(pk.floor(p[i, 1] * 32))
    if a >= 0 and a < 32 and b >= 0 and b < 32:
        pk.atomic_add(c, (a, b), w[i])


@bins.form(lambda c, p, w: len(p))
@pk.kernel
def bins_flat(c, p, w):
    i = pk.index()
    k = int(p[i, 0] * 32) * 32 + int(p[i, 1] * 32)
    pk.atomic_add(c, (k // 32, k % 32), w[i])


@bins.form(None)
@pk.jit
def bins_bincount(p, w):
    k = (p * 32).astype(np.int32)
    return np.bincount(k[:, 0] * 32 + k[:, 1], w, 1024).reshape(32, 32).astype(np.float32)


lower = Computation("lower solves", _lower)


@lower.form(lambda x, low, b: x.shape[1])
@pk.kernel
def lower_dot(x, low, b):
    c = pk.index()
    for i in range(low.shape[0]):
        s = b[i, c]
        for j in range(i):
            s -= low[i, j] * x[j, c]
        x[i, c] = s / low[i, i]


@lower.form(lambda x, low, b: x.shape[1])
@pk.kernel
def lower_axpy(x, low, b):
    c = pk.index()
    for i in range(low.shape[0]):
        x[i, c] = b[i, c]
    for j in range(low.shape[0]):
        x[j, c] /= low[j, j]
        for i in range(j + 1, low.shape[0]):
            x[i, c] -= low[i, j] * x[j, c]


@lower.form(lambda x, low, b: x.shape[1])
@pk.kernel
def lower_inplace(x, low, b):
    c = pk.index()
    for i in range(low.shape[0]):
        x[i, c] = b[i, c]
        for j in range(i):
            x[i, c] -= low[i, j] * x[j, c]
        x[i, c] = x[i, c] / low[i, i]


@lower.form(lambda x, low, b: 1)
@pk.kernel
def lower_one(x, low, b):
    _ = pk.index()
    for i in range(low.shape[0]):
        for c in range(b.shape[1]):
            s = b[i, c]
            for j in range(i):
                s -= low[i, j] * x[j, c]
            x[i, c] = s / low[i, i]


@lower.form(None)
@pk.jit
def lower_rows(low, b):
    x = b.copy()
    for i in range(low.shape[0]):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]
    return x


@lower.form(None)
@pk.jit
def lower_outer(low, b):
    x = b.copy()
    for j in range(low.shape[0]):
        x[j] /= low[j, j]
        x[j + 1 :] -= low[j + 1 :, j][:, None] * x[j]
    return x


@lower.form(None)
@pk.jit
def lower_scipy(low, b):
    return np.linalg.solve(low, b)


# -- references --------------------------------------------------------------------------------------


def _paths_of(o: np.ndarray, e: np.ndarray, t: np.ndarray) -> np.ndarray:
    result = e.copy()
    for k in range(1, len(e)):
        result[k] += (result[k - 1][:, None] + t).max(0)
    return result


def _binned(c: np.ndarray, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    k = (p * np.float32(32)).astype(int)
    return np.bincount(k[:, 0] * 32 + k[:, 1], w.astype(np.float64), 1024).reshape(32, 32)


SCANS = (before, paths, signs, slopes, bins, lower)
SCAN_REFERENCES = {
    "exclusive sums": lambda o, x: np.cumsum(x.astype(np.float64), 1) - x,
    "best paths": _paths_of,
    "sign changes": lambda o, x: ((x[:, 1:] > 0) != (x[:, :-1] > 0)).sum(1),
    "periodic slopes": lambda o, t: np.hypot(
        np.roll(t, -1, 0) - np.roll(t, 1, 0), np.roll(t, -1, 1) - np.roll(t, 1, 1)
    ),
    "bins of points": _binned,
    "lower solves": lambda o, low, b: np.linalg.solve(low.astype(np.float64), b),
}
