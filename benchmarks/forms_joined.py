"""Arrays that programs put together from parts before they compute with them: shifted, padded, with a frame of zeros.

Each kernel or program is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk

steps = Computation(
    "steps of a line", lambda scale: (zeros(int(1000003 * scale)), random(int(1000003 * scale)))
)


@steps.form(lambda o, x: len(o))
@pk.kernel
def steps_ternary(o, x):
    i = pk.index()
    o[i] = x[i] - (x[i - 1] if i > 0 else 0)


@steps.form(None)
@pk.jit
def steps_concat(x):
    return np.concatenate((x[:1], x[1:] - x[:-1]))


@steps.form(None)
@pk.jit
def steps_written(x):
    o = np.empty_like(x)
    o[0] = x[0]
    o[1:] = x[1:] - x[:-1]
    return o


@steps.form(None)
@pk.jit
def steps_shifted(x):
    before = np.zeros_like(x)
    before[1:] = x[:-1]
    return x - before


@steps.form(None)
@pk.jit
def steps_padded(x):
    return x - np.pad(x, (1, 0))[:-1]


@steps.form(None)
@pk.jit
def steps_rolled(x):
    before = np.roll(x, 1)
    before[0] = 0
    return x - before


five = Computation(
    "Laplacian in zeros", lambda scale: (zeros(int(600 * scale), 603), random(int(600 * scale), 603))
)


@five.form(lambda o, u: o.shape)
@pk.kernel
def five_guards(o, u):
    i, j = pk.index()
    s = -4 * u[i, j]
    if i > 0:
        s += u[i - 1, j]
    if i + 1 < u.shape[0]:
        s += u[i + 1, j]
    if j > 0:
        s += u[i, j - 1]
    if j + 1 < u.shape[1]:
        s += u[i, j + 1]
    o[i, j] = s


@five.form(None)
@pk.jit
def five_padded(u):
    p = np.pad(u, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


@five.form(None)
@pk.jit
def five_framed(u):
    p = np.zeros((u.shape[0] + 2, u.shape[1] + 2), u.dtype)
    p[1:-1, 1:-1] = u
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


@five.form(None)
@pk.jit
def five_concat(u):
    row, column = np.zeros((1, u.shape[1]), u.dtype), np.zeros((u.shape[0], 1), u.dtype)
    above, below = np.concatenate((row, u[:-1])), np.concatenate((u[1:], row))
    left, right = np.hstack((column, u[:, :-1])), np.hstack((u[:, 1:], column))
    return above + below + left + right - 4 * u


@five.form(None)
@pk.jit
def five_added(u):
    o = -4 * u
    o[1:] += u[:-1]
    o[:-1] += u[1:]
    o[:, 1:] += u[:, :-1]
    o[:, :-1] += u[:, 1:]
    return o


def _laplacian(o: np.ndarray, u: np.ndarray) -> np.ndarray:
    p = np.pad(u.astype(np.float64), 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


JOINED = (steps, five)
JOINED_REFERENCES = {
    "steps of a line": lambda o, x: np.diff(x, prepend=np.float32(0)),
    "Laplacian in zeros": _laplacian,
}
