"""Steps on grids in the forms in which people write them: cells, lattices, upwind differences, images turned.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Arrays, Computation, random, zeros

import pykern as pk

_EX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1], np.int32)
_EY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1], np.int32)

# -- life --------------------------------------------------------------------------------------------


def _cells(scale: float) -> Arrays:
    shape = int(1024 * scale), 1000
    return np.zeros(shape, np.uint8), (random(*shape) < 0.4).astype(np.uint8)


life = Computation("life", _cells)


@life.form(lambda o, t: o.shape)
@pk.kernel
def life_modulus(o, t):
    i, j = pk.index()
    h, w = t.shape
    n = 0
    for a in range(-1, 2):
        for b in range(-1, 2):
            if a != 0 or b != 0:
                n += t[(i + a) % h, (j + b) % w]
    o[i, j] = 1 if n == 3 or (n == 2 and t[i, j] == 1) else 0


@life.form(lambda o, t: o.shape)
@pk.kernel
def life_written(o, t):
    i, j = pk.index()
    h, w = t.shape
    u, d, left, right = (i - 1) % h, (i + 1) % h, (j - 1) % w, (j + 1) % w
    n = pk.i32(0)
    n += t[u, left]
    n += t[u, j]
    n += t[u, right]
    n += t[i, left]
    n += t[i, right]
    n += t[d, left]
    n += t[d, j]
    n += t[d, right]
    if n == 3:
        o[i, j] = 1
    elif n == 2:
        o[i, j] = t[i, j]
    else:
        o[i, j] = 0


@life.form(lambda o, t: o.shape)
@pk.kernel
def life_ternary(o, t):
    i, j = pk.index()
    h, w = t.shape
    u = i - 1 if i > 0 else h - 1
    d = i + 1 if i < h - 1 else 0
    left = j - 1 if j > 0 else w - 1
    right = j + 1 if j < w - 1 else 0
    n = (
        pk.i32(t[u, left])
        + t[u, j]
        + t[u, right]
        + t[i, left]
        + t[i, right]
        + t[d, left]
        + t[d, j]
        + t[d, right]
    )
    o[i, j] = (n == 3) | ((n == 2) & (t[i, j] == 1))


@life.form(lambda o, t: o.shape)
@pk.kernel
def life_sum(o, t):
    i, j = pk.index()
    h, w = t.shape
    n = pk.i32(0)
    for a in range(3):
        for b in range(3):
            n += t[(i + a + h - 1) % h, (j + b + w - 1) % w]
    n -= t[i, j]
    alive = t[i, j] > 0
    if alive and (n < 2 or n > 3):
        o[i, j] = 0
    elif not alive and n == 3:
        o[i, j] = 1
    else:
        o[i, j] = t[i, j]


@life.form(lambda o, t: o.size)
@pk.kernel
def life_flat(o, t):
    k = pk.index()
    h, w = t.shape
    i, j = k // w, k % w
    n = 0
    for q in range(9):
        if q == 4:
            continue
        n += t[(i + q // 3 - 1) % h, (j + q % 3 - 1) % w]
    o[i, j] = 1 if n == 3 or (n == 2 and t[i, j] == 1) else 0


# -- streaming ---------------------------------------------------------------------------------------

streaming = Computation(
    "streaming", lambda scale: (zeros(9, int(256 * scale), 250), random(9, int(256 * scale), 250))
)


@streaming.form(lambda o, f: o.shape, lambda o, f: (_EX, _EY))
@pk.kernel
def streaming_table(o, f, ex, ey):
    q, i, j = pk.index()
    o[q, i, j] = f[q, (i - ey[q]) % f.shape[1], (j - ex[q]) % f.shape[2]]


@streaming.form(lambda o, f: o.shape[1:], lambda o, f: (_EX, _EY))
@pk.kernel
def streaming_loop(o, f, ex, ey):
    i, j = pk.index()
    for q in range(9):
        o[q, i, j] = f[q, (i - ey[q] + f.shape[1]) % f.shape[1], (j - ex[q] + f.shape[2]) % f.shape[2]]


@streaming.form(lambda o, f: o.shape[1:], lambda o, f: (_EX, _EY))
@pk.kernel
def streaming_push(o, f, ex, ey):
    i, j = pk.index()
    for q in range(9):
        o[q, (i + ey[q]) % f.shape[1], (j + ex[q]) % f.shape[2]] = f[q, i, j]


@streaming.form(lambda o, f: o.shape[1:])
@pk.kernel
def streaming_written(o, f):
    i, j = pk.index()
    h, w = f.shape[1], f.shape[2]
    u, d, left, right = (i - 1) % h, (i + 1) % h, (j - 1) % w, (j + 1) % w
    o[0, i, j] = f[0, i, j]
    o[1, i, j] = f[1, i, left]
    o[2, i, j] = f[2, u, j]
    o[3, i, j] = f[3, i, right]
    o[4, i, j] = f[4, d, j]
    o[5, i, j] = f[5, u, left]
    o[6, i, j] = f[6, u, right]
    o[7, i, j] = f[7, d, right]
    o[8, i, j] = f[8, d, left]


@streaming.form(lambda o, f: o.shape[1:], lambda o, f: (_EX, _EY))
@pk.kernel
def streaming_ifs(o, f, ex, ey):
    i, j = pk.index()
    for q in range(9):
        y, x = i - ey[q], j - ex[q]
        if y < 0:
            y += f.shape[1]
        if y >= f.shape[1]:
            y -= f.shape[1]
        if x < 0:
            x += f.shape[2]
        if x >= f.shape[2]:
            x -= f.shape[2]
        o[q, i, j] = f[q, y, x]


# -- red and black -----------------------------------------------------------------------------------

red_black = Computation(
    "red and black", lambda scale: (random(int(1024 * scale), 1022), random(int(1024 * scale), 1022))
)


@red_black.form(lambda u, f: u.shape)
@pk.kernel
def red_guard(u, f):
    i, j = pk.index()
    if i > 0 and j > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1 and (i + j) % 2 == 0:
        u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@red_black.form(lambda u, f: (range(1, u.shape[0] - 1), range(1, u.shape[1] - 1)))
@pk.kernel
def red_ranges(u, f):
    i, j = pk.index()
    if (i + j) % 2 == 0:
        u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@red_black.form(lambda u, f: u.shape[0] - 2)
@pk.kernel
def red_steps(u, f):
    a = pk.index()
    i = a + 1
    for j in range(1 + (i + 1) % 2, u.shape[1] - 1, 2):
        u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@red_black.form(lambda u, f: (u.shape[0] - 2, (u.shape[1] - 2) // 2))
@pk.kernel
def red_half(u, f):
    a, b = pk.index()
    i = a + 1
    j = 2 * b + 1 + (i + 1) % 2
    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@red_black.form(lambda u, f: u.shape)
@pk.kernel
def red_return(u, f):
    i, j = pk.index()
    if i == 0 or j == 0 or i == u.shape[0] - 1 or j == u.shape[1] - 1:
        return
    if (i + j) & 1:
        return
    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


# -- upwind ------------------------------------------------------------------------------------------


def _flow(scale: float) -> Arrays:
    shape = int(1024 * scale), 1000
    return zeros(*shape), random(*shape), random(*shape) - np.float32(0.5)


upwind = Computation("upwind", _flow)


@upwind.form(lambda o, t, u: o.shape)
@pk.kernel
def upwind_if(o, t, u):
    i, j = pk.index()
    if j > 0 and j < t.shape[1] - 1:
        if u[i, j] > 0:
            o[i, j] = t[i, j] - u[i, j] * (t[i, j] - t[i, j - 1])
        else:
            o[i, j] = t[i, j] - u[i, j] * (t[i, j + 1] - t[i, j])


@upwind.form(lambda o, t, u: (o.shape[0], range(1, o.shape[1] - 1)))
@pk.kernel
def upwind_ternary(o, t, u):
    i, j = pk.index()
    d = t[i, j] - t[i, j - 1] if u[i, j] > 0 else t[i, j + 1] - t[i, j]
    o[i, j] = t[i, j] - u[i, j] * d


@upwind.form(lambda o, t, u: (o.shape[0], range(1, o.shape[1] - 1)))
@pk.kernel
def upwind_parts(o, t, u):
    i, j = pk.index()
    right, left = max(u[i, j], 0), min(u[i, j], 0)
    o[i, j] = t[i, j] - right * (t[i, j] - t[i, j - 1]) - left * (t[i, j + 1] - t[i, j])


@upwind.form(lambda o, t, u: o.shape)
@pk.kernel
def upwind_index(o, t, u):
    i, j = pk.index()
    if j == 0 or j == t.shape[1] - 1:
        return
    k = j if u[i, j] > 0 else j + 1
    o[i, j] = t[i, j] - u[i, j] * (t[i, k] - t[i, k - 1])


@upwind.form(lambda o, t, u: o.shape[0])
@pk.kernel
def upwind_rows(o, t, u):
    i = pk.index()
    for j in range(1, t.shape[1] - 1):
        v = u[i, j]
        if v > 0:
            d = t[i, j] - t[i, j - 1]
        else:
            d = t[i, j + 1] - t[i, j]
        o[i, j] = t[i, j] - v * d


# -- turned image ------------------------------------------------------------------------------------

turned = Computation(
    "turned image",
    lambda scale: (zeros(int(512 * scale), 512), random(int(512 * scale), 512)),
    may_differ=1e-3,
)


@turned.form(lambda o, t: o.shape, lambda o, t: (np.float32(np.cos(0.3)), np.float32(np.sin(0.3))))
@pk.kernel
def turned_if(o, t, c, s):
    i, j = pk.index()
    h, w = t.shape
    y = c * (i - h // 2) - s * (j - w // 2) + h // 2
    x = s * (i - h // 2) + c * (j - w // 2) + w // 2
    if y >= 0 and x >= 0 and y < h - 1 and x < w - 1:
        a, b = int(y), int(x)
        v, u = y - a, x - b
        o[i, j] = (1 - v) * ((1 - u) * t[a, b] + u * t[a, b + 1]) + v * (
            (1 - u) * t[a + 1, b] + u * t[a + 1, b + 1]
        )
    else:
        o[i, j] = 0


@turned.form(lambda o, t: o.shape, lambda o, t: (np.float32(np.cos(0.3)), np.float32(np.sin(0.3))))
@pk.kernel
def turned_return(o, t, c, s):
    i, j = pk.index()
    h, w = t.shape
    dy, dx = i - h // 2, j - w // 2
    y = c * dy - s * dx + h // 2
    x = s * dy + c * dx + w // 2
    o[i, j] = 0
    if y < 0 or x < 0 or y >= h - 1 or x >= w - 1:
        return
    a, b = pk.i32(pk.floor(y)), pk.i32(pk.floor(x))
    v, u = y - a, x - b
    top = t[a, b] + u * (t[a, b + 1] - t[a, b])
    low = t[a + 1, b] + u * (t[a + 1, b + 1] - t[a + 1, b])
    o[i, j] = top + v * (low - top)


@turned.form(lambda o, t: o.shape, lambda o, t: (np.float32(np.cos(0.3)), np.float32(np.sin(0.3))))
@pk.kernel
def turned_clamped(o, t, c, s):
    i, j = pk.index()
    h, w = t.shape
    y = c * (i - h // 2) - s * (j - w // 2) + h // 2
    x = s * (i - h // 2) + c * (j - w // 2) + w // 2
    a = min(max(pk.i32(pk.floor(y)), 0), h - 2)
    b = min(max(pk.i32(pk.floor(x)), 0), w - 2)
    v, u = y - a, x - b
    r = (1 - v) * ((1 - u) * t[a, b] + u * t[a, b + 1]) + v * ((1 - u) * t[a + 1, b] + u * t[a + 1, b + 1])
    o[i, j] = r if y >= 0 and x >= 0 and y < h - 1 and x < w - 1 else 0


@turned.form(lambda o, t: o.size, lambda o, t: (np.float32(np.cos(0.3)), np.float32(np.sin(0.3))))
@pk.kernel
def turned_flat(o, t, c, s):
    k = pk.index()
    h, w = t.shape
    i, j = k // w, k % w
    y = c * (i - h // 2) - s * (j - w // 2) + h // 2
    x = s * (i - h // 2) + c * (j - w // 2) + w // 2
    r = pk.f32(0)
    if y >= 0 and x >= 0 and y < h - 1 and x < w - 1:
        a, b = int(y), int(x)
        for p in range(2):
            for q in range(2):
                wy = y - a if p else 1 - (y - a)
                wx = x - b if q else 1 - (x - b)
                r += wy * wx * t[a + p, b + q]
    o[i, j] = r


# -- references --------------------------------------------------------------------------------------


def _life(o: np.ndarray, t: np.ndarray) -> np.ndarray:
    n = sum(np.roll(t, (a, b), (0, 1)).astype(int) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)
    return (n == 3) | ((n == 2) & (t == 1))


def _red(u: np.ndarray, f: np.ndarray) -> np.ndarray:
    u = u.copy()
    new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f[1:-1, 1:-1])
    i, j = np.indices(u.shape)
    u[1:-1, 1:-1] = np.where((i + j)[1:-1, 1:-1] % 2 == 0, new, u[1:-1, 1:-1])
    return u


def _upwind(o: np.ndarray, t: np.ndarray, u: np.ndarray) -> np.ndarray:
    o = o.copy()
    d = np.diff(t, axis=1)
    v = u[:, 1:-1]
    o[:, 1:-1] = t[:, 1:-1] - v * np.where(v > 0, d[:, :-1], d[:, 1:])
    return o


def _turned(o: np.ndarray, t: np.ndarray) -> np.ndarray:
    h, w = t.shape
    c, s = np.float32(np.cos(0.3)), np.float32(np.sin(0.3))
    i, j = (n.astype(np.float32) for n in np.indices(t.shape))
    y = c * (i - h // 2) - s * (j - w // 2) + h // 2
    x = s * (i - h // 2) + c * (j - w // 2) + w // 2
    inside = (y >= 0) & (x >= 0) & (y < h - 1) & (x < w - 1)
    a, b = np.where(inside, y, 0).astype(int), np.where(inside, x, 0).astype(int)
    v, u = y - a, x - b
    r = (1 - v) * ((1 - u) * t[a, b] + u * t[a, b + 1]) + v * ((1 - u) * t[a + 1, b] + u * t[a + 1, b + 1])
    return np.where(inside, r, 0)


GRIDS = (life, streaming, red_black, upwind, turned)
GRID_REFERENCES = {
    "life": _life,
    "streaming": lambda o, f: np.stack([np.roll(f[q], (_EY[q], _EX[q]), (0, 1)) for q in range(9)]),
    "red and black": _red,
    "upwind": _upwind,
    "turned image": _turned,
}
