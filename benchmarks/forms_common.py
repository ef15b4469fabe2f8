"""Filters by tables, results under a condition, and programs of statistics, in the forms in which people write them.

Each kernel or program is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk

_DX = np.array([0, 1, -1, 2, -2, 3, -3])
_DY = np.array([0, -1, 1, 2, 0, -2, 1])

# -- neighbours of a table ---------------------------------------------------------------------------

taps = Computation(
    "neighbours of a table", lambda scale: (zeros(int(802 * scale), 377), random(int(802 * scale), 377))
)


@taps.form(lambda o, f: o.shape, lambda o, f: (_DX, _DY))
@pk.kernel
def taps_ifs(o, f, dx, dy):
    i, j = pk.index()
    s = pk.f32(0)
    for q in range(7):
        y, x = i + dy[q], j + dx[q]
        if y >= 0 and y < f.shape[0] and x >= 0 and x < f.shape[1]:
            s += f[y, x]
    o[i, j] = s


@taps.form(lambda o, f: o.shape, lambda o, f: (_DX, _DY))
@pk.kernel
def taps_continue(o, f, dx, dy):
    i, j = pk.index()
    s = pk.f32(0)
    for q in range(7):
        y, x = i + dy[q], j + dx[q]
        if y < 0 or y >= f.shape[0] or x < 0 or x >= f.shape[1]:
            continue
        s += f[y, x]
    o[i, j] = s


@taps.form(lambda o, f: o.shape, lambda o, f: (_DX, _DY))
@pk.kernel
def taps_inplace(o, f, dx, dy):
    i, j = pk.index()
    o[i, j] = 0
    for q in range(7):
        y, x = i + dy[q], j + dx[q]
        if 0 <= y < f.shape[0] and 0 <= x < f.shape[1]:
            o[i, j] += f[y, x]


@taps.form(lambda o, f: o.shape)
@pk.kernel
def taps_written(o, f):
    i, j = pk.index()
    h, w = f.shape
    s = f[i, j]
    if i > 0 and j + 1 < w:
        s += f[i - 1, j + 1]
    if i + 1 < h and j > 0:
        s += f[i + 1, j - 1]
    if i + 2 < h and j + 2 < w:
        s += f[i + 2, j + 2]
    if j > 1:
        s += f[i, j - 2]
    if i > 1 and j + 3 < w:
        s += f[i - 2, j + 3]
    if i + 1 < h and j > 2:
        s += f[i + 1, j - 3]
    o[i, j] = s


# -- sums where they are large -----------------------------------------------------------------------

large = Computation(
    "sums where they are large",
    lambda scale: (zeros(int(300 * scale), 513), random(int(300 * scale), 513), random(24, 513)),
)


@large.form(lambda o, x, w: o.shape)
@pk.kernel
def large_if(o, x, w):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(w.shape[0]):
        s += x[i, j] * w[k, j]
    if s > 6:
        o[i, j] = s


@large.form(lambda o, x, w: o.shape)
@pk.kernel
def large_return(o, x, w):
    i, j = pk.index()
    s = pk.f32(0)
    k = 0
    while k < w.shape[0]:
        s += x[i, j] * w[k, j]
        k += 1
    if s <= 6:
        return
    o[i, j] = s


@large.form(lambda o, x, w: o.shape)
@pk.kernel
def large_ternary(o, x, w):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(w.shape[0]):
        s += x[i, j] * w[k, j]
    o[i, j] = s if s > 6 else o[i, j]


# -- last above --------------------------------------------------------------------------------------

last = Computation("last above", lambda scale: (zeros(int(9000 * scale)), random(40, int(9000 * scale))))


@last.form(lambda o, x: o.shape)
@pk.kernel
def last_store(o, x):
    j = pk.index()
    for k in range(x.shape[0]):
        if x[k, j] > 0.9:
            o[j] = 2 * x[k, j]


@last.form(lambda o, x: o.shape)
@pk.kernel
def last_local(o, x):
    j = pk.index()
    v = o[j]
    for k in range(x.shape[0]):
        v = 2 * x[k, j] if x[k, j] > 0.9 else v
    o[j] = v


@last.form(lambda o, x: o.shape)
@pk.kernel
def last_place(o, x):
    j = pk.index()
    at = -1
    for k in range(x.shape[0]):
        if x[k, j] > 0.9:
            at = k
    if at >= 0:
        o[j] = 2 * x[at, j]


# -- labels ------------------------------------------------------------------------------------------

labels = Computation(
    "labels", lambda scale: (zeros(int(20000 * scale)), random(int(20000 * scale), 4), random(16, 4))
)


@labels.form(lambda o, x, c: o.shape)
@pk.kernel
def labels_if(o, x, c):
    i = pk.index()
    least = pk.f32(1e30)
    at = 0
    for k in range(c.shape[0]):
        d = pk.f32(0)
        for q in range(x.shape[1]):
            d += (x[i, q] - c[k, q]) ** 2
        if d < least:
            least = d
            at = k
    o[i] = at


@labels.form(None)
@pk.jit
def labels_pairs(x, c):
    return ((x[:, None] - c[None]) ** 2).sum(axis=-1).argmin(axis=1).astype(np.float32)


@labels.form(None)
@pk.jit
def labels_product(x, c):
    return ((c * c).sum(axis=1)[None] - 2 * (x @ c.T)).argmin(axis=1).astype(np.float32)


# -- gram matrix -------------------------------------------------------------------------------------

gram = Computation("gram matrix", lambda scale: (zeros(60, 60), random(int(4000 * scale), 60)))


@gram.form(lambda o, x: o.shape)
@pk.kernel
def gram_items(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[0]):
        s += x[k, i] * x[k, j]
    o[i, j] = s


@gram.form(None)
@pk.jit
def gram_program(x):
    return x.T @ x


@gram.form(None)
@pk.jit
def gram_einsum(x):
    return np.einsum("ki,kj->ij", x, x)


# -- sixth power -------------------------------------------------------------------------------------

sixth = Computation(
    "sixth power",
    lambda scale: (np.zeros(int(200000 * scale)), 0.5 + random(int(200000 * scale)).astype(np.float64)),
)


@sixth.form(lambda o, x: o.shape)
@pk.kernel
def sixth_items(o, x):
    i = pk.index()
    o[i] = x[i] ** 6


@sixth.form(None)
@pk.jit
def sixth_program(x):
    return x**6


@sixth.form(None)
@pk.jit
def sixth_numpy(x):
    return np.power(x, 6.0)


@sixth.form(None)
@pk.jit
def sixth_written(x):
    y = x * x * x
    return y * y


# -- totals ------------------------------------------------------------------------------------------

totals = Computation("totals", lambda scale: (zeros(int(1200 * scale), 403), random(int(1200 * scale), 403)))


@totals.form(lambda o, x: o.shape[1])
@pk.kernel
def totals_items(o, x):
    j = pk.index()
    s = pk.f32(0)
    for i in range(x.shape[0]):
        s += x[i, j]
        o[i, j] = s


@totals.form(None)
@pk.jit
def totals_numpy(x):
    return np.cumsum(x, axis=0)


@totals.form(None)
@pk.jit
def totals_turned(x):
    return np.cumsum(x.T, axis=1).T


@totals.form(None)
@pk.jit
def totals_rows(x):
    o = np.empty_like(x)
    o[0] = x[0]
    for i in range(1, x.shape[0]):
        o[i] = o[i - 1] + x[i]
    return o


# -- references --------------------------------------------------------------------------------------


def _neighbours(o: np.ndarray, f: np.ndarray) -> np.ndarray:
    padded = np.pad(f, 3)
    h, w = f.shape
    return sum(
        (padded[3 + y : 3 + y + h, 3 + x : 3 + x + w] for x, y in zip(_DX, _DY, strict=True)),
        np.zeros_like(f),
    )


def _large(o: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    s = x * w.astype(np.float64).sum(0)
    return np.where(s > 6, s, 0)


def _last(o: np.ndarray, x: np.ndarray) -> np.ndarray:
    above = x > 0.9
    place = len(x) - 1 - above[::-1].argmax(0)
    return np.where(above.any(0), 2 * np.take_along_axis(x, place[None], 0)[0], 0)


def _labels(*arrays: np.ndarray) -> np.ndarray:
    _, x, c = arrays
    return ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)


COMMON = (taps, large, last, labels, gram, sixth, totals)
COMMON_REFERENCES = {
    "neighbours of a table": _neighbours,
    "sums where they are large": _large,
    "last above": _last,
    "labels": _labels,
    "gram matrix": lambda o, x: x.T.astype(np.float64) @ x,
    "sixth power": lambda o, x: x**6,
    "totals": lambda o, x: np.cumsum(x, 0),
}
