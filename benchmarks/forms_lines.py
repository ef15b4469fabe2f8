"""Lines, windows and lists of lengths that the run tells, in the forms in which people write them.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Arrays, Computation, random, zeros

import pykern as pk

# -- convolved line ----------------------------------------------------------------------------------

convolved = Computation(
    "convolved line", lambda scale: (zeros(int((1 << 16) * scale)), random(int((1 << 16) * scale)), random(9))
)


@convolved.form(lambda o, x, w: o.shape[0])
@pk.kernel
def convolved_if(o, x, w):
    i = pk.index()
    r = w.shape[0] // 2
    s = pk.f32(0)
    for k in range(w.shape[0]):
        p = i + k - r
        if p >= 0 and p < x.shape[0]:
            s += w[k] * x[p]
    o[i] = s


@convolved.form(lambda o, x, w: o.shape[0])
@pk.kernel
def convolved_bounds(o, x, w):
    i = pk.index()
    r = w.shape[0] // 2
    s = pk.f32(0)
    for p in range(max(i - r, 0), min(i + r + 1, x.shape[0])):
        s += w[p - i + r] * x[p]
    o[i] = s


@convolved.form(lambda o, x, w: o.shape[0])
@pk.kernel
def convolved_cell(o, x, w):
    i = pk.index()
    r = (w.shape[0] - 1) // 2
    o[i] = 0
    for k in range(-r, r + 1):
        if 0 <= i + k < x.shape[0]:
            o[i] += w[k + r] * x[i + k]


@convolved.form(lambda o, x, w: o.shape[0])
@pk.kernel
def convolved_lengths(o, x, w):
    i = pk.index()
    n, m = x.shape[0], w.shape[0]
    first = max(0, m // 2 - i)
    last = min(m, n + m // 2 - i)
    s = pk.f32(0)
    for k in range(first, last):
        s += w[k] * x[i + k - m // 2]
    o[i] = s


@convolved.form(lambda o, x, w: o.shape[0])
@pk.kernel
def convolved_while(o, x, w):
    i = pk.index()
    r = w.shape[0] // 2
    s = pk.f32(0)
    k = 0
    while k < w.shape[0]:
        p = i + k - r
        s += w[k] * x[p] if p >= 0 and p < x.shape[0] else 0
        k += 1
    o[i] = s


# -- median of five ----------------------------------------------------------------------------------

five = Computation(
    "median of five", lambda scale: (zeros(int((1 << 16) * scale)), random(int((1 << 16) * scale)))
)


@five.form(lambda o, x: range(2, o.shape[0] - 2))
@pk.kernel
def five_network(o, x):
    i = pk.index()
    a, b, c, d, e = x[i - 2], x[i - 1], x[i], x[i + 1], x[i + 2]
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    o[i] = max(min(max(b, e), c), min(b, c))


@five.form(lambda o, x: range(2, o.shape[0] - 2), peer=False)
@pk.kernel
def five_bubble(o, x):
    i = pk.index()
    w = pk.private(5, pk.f32)
    for k in range(5):
        w[k] = x[i + k - 2]
    for a in range(4):
        for b in range(4 - a):
            if w[b] > w[b + 1]:
                w[b], w[b + 1] = w[b + 1], w[b]
    o[i] = w[2]


@five.form(lambda o, x: range(2, o.shape[0] - 2), peer=False)
@pk.kernel
def five_insertion(o, x):
    i = pk.index()
    w = pk.private(5, pk.f32)
    for k in range(5):
        v = x[i + k - 2]
        p = k
        while p > 0 and w[p - 1] > v:
            w[p] = w[p - 1]
            p -= 1
        w[p] = v
    o[i] = w[2]


@five.form(lambda o, x: range(2, o.shape[0] - 2))
@pk.kernel
def five_rank(o, x):
    i = pk.index()
    for a in range(-2, 3):
        n = 0
        for b in range(-2, 3):
            if x[i + b] < x[i + a] or (x[i + b] == x[i + a] and b < a):
                n += 1
        if n == 2:
            o[i] = x[i + a]


@five.form(lambda o, x: o.shape[0], peer=False)
@pk.kernel
def five_selection(o, x):
    i = pk.index()
    if i < 2 or i >= x.shape[0] - 2:
        return
    w = pk.private(5, pk.f32)
    for k in range(5):
        w[k] = x[i - 2 + k]
    for a in range(3):
        m = a
        for b in range(a + 1, 5):
            if w[b] < w[m]:
                m = b
        t = w[a]
        w[a] = w[m]
        w[m] = t
    o[i] = w[2]


# -- means under a mask ------------------------------------------------------------------------------


def _masked(scale: float) -> Arrays:
    n = int(1024 * scale)
    return zeros(n), random(n, 500), random(n, 500)[::-1].copy() > 0.3


means = Computation("means under a mask", _masked)


@means.form(lambda o, x, m: o.shape[0])
@pk.kernel
def means_if(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    n = 0
    for j in range(x.shape[1]):
        if m[i, j]:
            s += x[i, j]
            n += 1
    o[i] = s / n if n > 0 else 0


@means.form(lambda o, x, m: o.shape[0])
@pk.kernel
def means_ternary(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    n = pk.f32(0)
    for j in range(x.shape[1]):
        s += x[i, j] if m[i, j] else 0
        n += 1 if m[i, j] else 0
    o[i] = s / max(n, 1)


@means.form(lambda o, x, m: o.shape[0])
@pk.kernel
def means_product(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    n = 0
    for j in range(x.shape[1]):
        s += x[i, j] * m[i, j]
        n += m[i, j]
    o[i] = s / n


@means.form(lambda o, x, m: o.shape[0])
@pk.kernel
def means_continue(o, x, m):
    i = pk.index()
    s = pk.f32(0)
    n = 0
    for j in range(x.shape[1]):
        if not m[i, j]:
            continue
        n += 1
        s += x[i, j]
    if n == 0:
        o[i] = 0
    else:
        o[i] = s / n


@means.form(lambda o, x, m: o.shape[0])
@pk.kernel
def means_two(o, x, m):
    i = pk.index()
    n = 0
    for j in range(x.shape[1]):
        if m[i, j]:
            n += 1
    o[i] = 0
    for j in range(x.shape[1]):
        if m[i, j]:
            o[i] += x[i, j]
    o[i] /= max(n, 1)


# -- sparse rows -------------------------------------------------------------------------------------


def _sparse(scale: float) -> Arrays:
    n = int(4096 * scale)
    rng = np.random.default_rng(5)
    ends = np.concatenate([[0], np.cumsum(rng.integers(0, 40, n))]).astype(np.int32)
    return (
        zeros(n),
        random(int(ends[-1])),
        rng.integers(0, n, int(ends[-1])).astype(np.int32),
        ends,
        random(n),
    )


sparse = Computation("sparse rows", _sparse)


@sparse.form(lambda y, v, c, p, x: y.shape[0])
@pk.kernel
def sparse_local(y, v, c, p, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(p[i], p[i + 1]):
        s += v[k] * x[c[k]]
    y[i] = s


@sparse.form(lambda y, v, c, p, x: y.shape[0])
@pk.kernel
def sparse_cell(y, v, c, p, x):
    i = pk.index()
    y[i] = 0
    for k in range(p[i], p[i + 1]):
        y[i] += v[k] * x[c[k]]


@sparse.form(lambda y, v, c, p, x: y.shape[0])
@pk.kernel
def sparse_while(y, v, c, p, x):
    i = pk.index()
    s = pk.f32(0)
    k = p[i]
    while k < p[i + 1]:
        s += v[k] * x[c[k]]
        k += 1
    y[i] = s


@sparse.form(lambda y, v, c, p, x: y.shape[0])
@pk.kernel
def sparse_count(y, v, c, p, x):
    i = pk.index()
    first = p[i]
    s = pk.f32(0)
    for k in range(p[i + 1] - first):
        s += v[first + k] * x[c[first + k]]
    y[i] = s


# -- histogram of pairs ------------------------------------------------------------------------------

pairs = Computation(
    "histogram of pairs", lambda scale: (np.zeros((32, 32), np.int32), random(int((1 << 18) * scale), 2))
)


@pairs.form(lambda c, x: x.shape[0], lambda c, x: (32,))
@pk.kernel
def pairs_clip(c, x, n):
    i = pk.index()
    a = min(max(pk.i32(x[i, 0] * n), 0), n - 1)
    b = min(max(pk.i32(x[i, 1] * n), 0), n - 1)
    pk.atomic_add(c, (a, b), 1)


@pairs.form(lambda c, x: x.shape[0], lambda c, x: (32,))
@pk.kernel
def pairs_inside(c, x, n):
    i = pk.index()
    a, b = pk.i32(x[i, 0] * n), pk.i32(x[i, 1] * n)
    if a >= 0 and a < n and b >= 0 and b < n:
        pk.atomic_add(c, (a, b), 1)


@pairs.form(lambda c, x: x.shape[0], lambda c, x: (32,))
@pk.kernel
def pairs_flat(c, x, n):
    i = pk.index()
    a, b = pk.i32(x[i, 0] * n), pk.i32(x[i, 1] * n)
    q = a * n + b
    pk.atomic_add(c, (q // n, q % n), 1)


@pairs.form(lambda c, x: 1, lambda c, x: (32,))
@pk.kernel
def pairs_alone(c, x, n):
    first = pk.index()
    for i in range(first, x.shape[0]):
        a, b = pk.i32(x[i, 0] * n), pk.i32(x[i, 1] * n)
        if a < n and b < n:
            c[a, b] += 1


# -- shortest paths ----------------------------------------------------------------------------------

paths = Computation("shortest paths", lambda scale: (random(int(512 * scale), int(512 * scale)),))


@paths.form(lambda d: d.shape, lambda d: (3,))
@pk.kernel
def paths_min(d, k):
    i, j = pk.index()
    d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@paths.form(lambda d: d.shape, lambda d: (3,))
@pk.kernel
def paths_if(d, k):
    i, j = pk.index()
    if d[i, k] + d[k, j] < d[i, j]:
        d[i, j] = d[i, k] + d[k, j]


@paths.form(lambda d: d.size, lambda d: (3,))
@pk.kernel
def paths_flat(d, k):
    q = pk.index()
    n = d.shape[0]
    i, j = q // n, q % n
    t = d[i, k] + d[k, j]
    d[i, j] = t if t < d[i, j] else d[i, j]


@paths.form(lambda d: d.shape[0], lambda d: (3,))
@pk.kernel
def paths_rows(d, k):
    i = pk.index()
    for j in range(d.shape[1]):
        t = d[i, k] + d[k, j]
        if t < d[i, j]:
            d[i, j] = t


@paths.form(lambda d: d.shape[0], lambda d: (3,))
@pk.kernel
def paths_local(d, k):
    i = pk.index()
    a = d[i, k]
    for j in range(d.shape[1]):
        d[i, j] = min(d[i, j], a + d[k, j])


# -- tridiagonal -------------------------------------------------------------------------------------


def _tridiagonal(scale: float) -> Arrays:
    n, m = int(512 * scale), 100
    return zeros(m, n), random(m, n), 4 + random(m, n), random(m, n), random(m, n), zeros(m, n)


tridiagonal = Computation("tridiagonal", _tridiagonal)


@tridiagonal.form(lambda x, a, b, c, d, e: x.shape[1])
@pk.kernel
def tridiagonal_arrays(x, a, b, c, d, e):
    j = pk.index()
    n = x.shape[0]
    e[0, j] = c[0, j] / b[0, j]
    x[0, j] = d[0, j] / b[0, j]
    for i in range(1, n):
        m = b[i, j] - a[i, j] * e[i - 1, j]
        e[i, j] = c[i, j] / m
        x[i, j] = (d[i, j] - a[i, j] * x[i - 1, j]) / m
    for i in range(n - 2, -1, -1):
        x[i, j] = x[i, j] - e[i, j] * x[i + 1, j]


@tridiagonal.form(lambda x, a, b, c, d, e: x.shape[1])
@pk.kernel
def tridiagonal_local(x, a, b, c, d, e):
    j = pk.index()
    n = x.shape[0]
    u = c[0, j] / b[0, j]
    v = d[0, j] / b[0, j]
    e[0, j] = u
    x[0, j] = v
    for i in range(1, n):
        m = 1 / (b[i, j] - a[i, j] * u)
        u = c[i, j] * m
        v = (d[i, j] - a[i, j] * v) * m
        e[i, j] = u
        x[i, j] = v
    for i in range(1, n):
        k = n - 1 - i
        v = x[k, j] - e[k, j] * v
        x[k, j] = v


@tridiagonal.form(lambda x, a, b, c, d, e: x.shape[1])
@pk.kernel
def tridiagonal_first(x, a, b, c, d, e):
    j = pk.index()
    for i in range(x.shape[0]):
        if i == 0:
            e[i, j] = c[i, j] / b[i, j]
            x[i, j] = d[i, j] / b[i, j]
        else:
            m = b[i, j] - a[i, j] * e[i - 1, j]
            e[i, j] = c[i, j] / m
            x[i, j] = (d[i, j] - a[i, j] * x[i - 1, j]) / m
    for i in range(x.shape[0] - 2, -1, -1):
        x[i, j] -= e[i, j] * x[i + 1, j]


@tridiagonal.form(lambda x, a, b, c, d, e: x.shape[1])
@pk.kernel
def tridiagonal_while(x, a, b, c, d, e):
    j = pk.index()
    n = x.shape[0]
    e[0, j] = c[0, j] / b[0, j]
    x[0, j] = d[0, j] / b[0, j]
    i = 1
    while i < n:
        m = b[i, j] - a[i, j] * e[i - 1, j]
        e[i, j] = c[i, j] / m
        x[i, j] = (d[i, j] - a[i, j] * x[i - 1, j]) / m
        i += 1
    i = n - 2
    while i >= 0:
        x[i, j] = x[i, j] - e[i, j] * x[i + 1, j]
        i -= 1


# -- pattern in an image -----------------------------------------------------------------------------

pattern = Computation(
    "pattern in an image",
    lambda scale: (zeros(int(256 * scale) - 6, 250), random(int(256 * scale), 256), random(7, 7)),
)


@pattern.form(lambda o, t, w: o.shape)
@pk.kernel
def pattern_loops(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            d = t[i + a, j + b] - w[a, b]
            s += d * d
    o[i, j] = s


@pattern.form(lambda o, t, w: o.shape)
@pk.kernel
def pattern_constant(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(7):
        for b in range(7):
            s += (t[i + a, j + b] - w[a, b]) ** 2
    o[i, j] = s


@pattern.form(lambda o, t, w: o.shape)
@pk.kernel
def pattern_cell(o, t, w):
    i, j = pk.index()
    o[i, j] = 0
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            o[i, j] += (t[i + a, j + b] - w[a, b]) * (t[i + a, j + b] - w[a, b])


@pattern.form(lambda o, t, w: o.size)
@pk.kernel
def pattern_flat(o, t, w):
    k = pk.index()
    i, j = k // o.shape[1], k % o.shape[1]
    s = pk.f32(0)
    for q in range(w.shape[0] * w.shape[1]):
        a, b = q // w.shape[1], q % w.shape[1]
        d = t[i + a, j + b] - w[a, b]
        s += d * d
    o[i, j] = s


@pattern.form(lambda o, t, w: o.shape[0])
@pk.kernel
def pattern_rows(o, t, w):
    i = pk.index()
    for j in range(o.shape[1]):
        s = pk.f32(0)
        for a in range(w.shape[0]):
            for b in range(w.shape[1]):
                d = t[i + a, j + b] - w[a, b]
                s += d * d
        o[i, j] = s


# -- references --------------------------------------------------------------------------------------


def _five(o: np.ndarray, x: np.ndarray) -> np.ndarray:
    o = o.copy()
    o[2:-2] = np.median(np.lib.stride_tricks.sliding_window_view(x, 5), axis=1)
    return o


def _solved(
    x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, e: np.ndarray
) -> np.ndarray:
    m, n = x.shape
    full = np.zeros((n, m, m))
    rows = np.arange(m)
    full[:, rows, rows] = b.T
    full[:, rows[1:], rows[:-1]] = a.T[:, 1:]
    full[:, rows[:-1], rows[1:]] = c.T[:, :-1]
    return np.linalg.solve(full, d.T.astype(np.float64)[..., None])[..., 0].T


def _rows(y: np.ndarray, v: np.ndarray, c: np.ndarray, p: np.ndarray, x: np.ndarray) -> np.ndarray:
    ends = np.concatenate([[0.0], np.cumsum(v.astype(np.float64) * x[c])])
    return ends[p[1:]] - ends[p[:-1]]


def _counts(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.histogram2d(x[:, 0], x[:, 1], 32, ((0, 1), (0, 1)))[0]


def _windows(o: np.ndarray, t: np.ndarray, w: np.ndarray) -> np.ndarray:
    return ((np.lib.stride_tricks.sliding_window_view(t, w.shape) - w) ** 2).sum((2, 3))


LINES = (convolved, five, means, sparse, pairs, paths, tridiagonal, pattern)
LINE_REFERENCES = {
    "convolved line": lambda o, x, w: np.convolve(x, w[::-1].astype(np.float64), "same"),
    "median of five": _five,
    "means under a mask": lambda o, x, m: (x * m).sum(1) / m.sum(1),
    "sparse rows": _rows,
    "histogram of pairs": _counts,
    "shortest paths": lambda d: np.minimum(d, d[:, 3:4] + d[3:4]),
    "tridiagonal": _solved,
    "pattern in an image": _windows,
}
