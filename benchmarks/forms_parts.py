"""Windows, diagonals, enlarged pictures and erosions, in the forms in which people write them.

Each kernel or program is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros
from numpy.lib.stride_tricks import sliding_window_view

import pykern as pk

# -- moving variance ---------------------------------------------------------------------------------

moving = Computation(
    "moving variance", lambda scale: (zeros(int(60000 * scale) - 15), random(int(60000 * scale)))
)


@moving.form(lambda o, x: o.shape)
@pk.kernel
def moving_loop(o, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(16):
        s += x[i + k]
    q = pk.f32(0)
    for k in range(16):
        q += (x[i + k] - s / 16) ** 2
    o[i] = q / 16


@moving.form(None)
@pk.jit
def moving_windows(x):
    return sliding_window_view(x, 16).var(axis=1)


@moving.form(None)
@pk.jit
def moving_written(x):
    w = sliding_window_view(x, 16)
    d = w - w.mean(axis=1)[:, None]
    return (d * d).mean(axis=1)


@moving.form(None)
@pk.jit
def moving_moments(x):
    w = sliding_window_view(x, 16)
    return (w * w).mean(axis=1) - w.mean(axis=1) ** 2


# -- quadratic forms ---------------------------------------------------------------------------------

quadratic = Computation(
    "quadratic forms",
    lambda scale: (zeros(int(4000 * scale)), random(int(4000 * scale), 30), random(30, 30)),
)


@quadratic.form(lambda o, x, a: o.shape)
@pk.kernel
def quadratic_items(o, x, a):
    n = pk.index()
    s = pk.f32(0)
    for i in range(x.shape[1]):
        t = pk.f32(0)
        for j in range(x.shape[1]):
            t += a[i, j] * x[n, j]
        s += x[n, i] * t
    o[n] = s


@quadratic.form(None)
@pk.jit
def quadratic_product(x, a):
    return ((x @ a) * x).sum(axis=1)


@quadratic.form(None)
@pk.jit
def quadratic_einsum(x, a):
    return np.einsum("ni,ij,nj->n", x, a, x)


@quadratic.form(None)
@pk.jit
def quadratic_diagonal(x, a):
    return np.diag(x @ a @ x.T)


# -- enlarged ----------------------------------------------------------------------------------------


def _enlarged_arrays(scale: float) -> tuple[np.ndarray, ...]:
    n = int(400 * scale)
    return zeros(2 * n, 600), random(n, 300)


enlarged = Computation("enlarged", _enlarged_arrays)


@enlarged.form(lambda o, t: o.shape)
@pk.kernel
def enlarged_halves(o, t):
    i, j = pk.index()
    o[i, j] = t[i // 2, j // 2]


@enlarged.form(lambda o, t: t.shape)
@pk.kernel
def enlarged_scattered(o, t):
    i, j = pk.index()
    for a in range(2):
        for b in range(2):
            o[2 * i + a, 2 * j + b] = t[i, j]


@enlarged.form(None)
@pk.jit
def enlarged_repeat(t):
    return np.repeat(np.repeat(t, 2, axis=0), 2, axis=1)


@enlarged.form(None)
@pk.jit
def enlarged_kron(t):
    return np.kron(t, np.ones((2, 2), np.float32))


# -- eroded ------------------------------------------------------------------------------------------

eroded = Computation("eroded", lambda scale: (zeros(int(600 * scale), 500), random(int(600 * scale), 500)))


@eroded.form(lambda o, t: (range(1, o.shape[0] - 1), range(1, o.shape[1] - 1)))
@pk.kernel
def eroded_loops(o, t):
    i, j = pk.index()
    m = t[i, j]
    for a in range(-1, 2):
        for b in range(-1, 2):
            m = min(m, t[i + a, j + b])
    o[i, j] = m


@eroded.form(lambda o, t: (range(1, o.shape[0] - 1), range(1, o.shape[1] - 1)))
@pk.kernel
def eroded_if(o, t):
    i, j = pk.index()
    m = t[i, j]
    for a in range(-1, 2):
        for b in range(-1, 2):
            if t[i + a, j + b] < m:
                m = t[i + a, j + b]
    o[i, j] = m


@eroded.form(None)
@pk.jit
def eroded_windows(t):
    return np.pad(sliding_window_view(t, (3, 3)).min(axis=(2, 3)), 1)


@eroded.form(None)
@pk.jit
def eroded_slices(t):
    m = np.minimum(np.minimum(t[:-2], t[1:-1]), t[2:])
    o = pk.zeros(t.shape)
    o[1:-1, 1:-1] = np.minimum(np.minimum(m[:, :-2], m[:, 1:-1]), m[:, 2:])
    return o


PARTS = (moving, quadratic, enlarged, eroded)
PART_REFERENCES = {
    "moving variance": lambda o, x: sliding_window_view(x.astype(np.float64), 16).var(1),
    "quadratic forms": lambda o, x, a: ((x.astype(np.float64) @ a) * x).sum(1),
    "enlarged": lambda o, t: np.repeat(np.repeat(t, 2, 0), 2, 1),
    "eroded": lambda o, t: np.pad(sliding_window_view(t, (3, 3)).min((2, 3)), 1),
}
