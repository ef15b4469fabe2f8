"""What all elements of a row or of a column share, in the forms in which people write it.

Each kernel is named `<computation>_<form>`.
"""

from __future__ import annotations

import numpy as np
from forms_setting import Computation, random, zeros

import pykern as pk


def _elements(o, *arrays):
    return o.shape


def _rows(o, *arrays):
    return o.shape[0]


shares = Computation("shares of rows", lambda s: (zeros(int(2000 * s), 300), random(int(2000 * s), 300)))


@shares.form(_elements)
@pk.kernel
def shares_items(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += x[i, k]
    o[i, j] = x[i, j] / s


@shares.form(_rows)
@pk.kernel
def shares_loops(o, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += x[i, k]
    for j in range(o.shape[1]):
        o[i, j] = x[i, j] / s


@shares.form(_rows, peer=False)
@pk.kernel
def shares_rows(o, x):
    i = pk.index()
    o[i] = x[i] / x[i].sum()


@shares.form(None)
@pk.jit
def shares_program(x):
    return x / x.sum(1, keepdims=True)


parts = Computation("shares of columns", lambda s: (zeros(int(1000 * s), 300), random(int(1000 * s), 300)))


@parts.form(_elements)
@pk.kernel
def parts_items(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[0]):
        s += x[k, j]
    o[i, j] = x[i, j] / s


@parts.form(lambda o, x: o.shape[1])
@pk.kernel
def parts_columns(o, x):
    j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[0]):
        s += x[k, j]
    for i in range(x.shape[0]):
        o[i, j] = x[i, j] / s


@parts.form(None)
@pk.jit
def parts_program(x):
    return x / x.sum(0)


cosines = Computation(
    "cosines",
    lambda s: (zeros(int(600 * s), int(500 * s)), random(int(600 * s), 64), random(int(500 * s), 64)),
)


@cosines.form(_elements)
@pk.kernel
def cosines_one(o, x, y):
    i, j = pk.index()
    s = pk.f32(0)
    a = pk.f32(0)
    b = pk.f32(0)
    for k in range(x.shape[1]):
        s += x[i, k] * y[j, k]
        a += x[i, k] * x[i, k]
        b += y[j, k] * y[j, k]
    o[i, j] = s / np.sqrt(a * b)


@cosines.form(_elements)
@pk.kernel
def cosines_three(o, x, y):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += x[i, k] * y[j, k]
    a = pk.f32(0)
    for k in range(x.shape[1]):
        a += x[i, k] * x[i, k]
    b = pk.f32(0)
    for k in range(x.shape[1]):
        b += y[j, k] * y[j, k]
    o[i, j] = s / (np.sqrt(a) * np.sqrt(b))


@cosines.form(None)
@pk.jit
def cosines_program(x, y):
    return (x @ y.T) / np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(y, axis=1)


weights = Computation("weights of rows", lambda s: (zeros(int(1000 * s), 300), random(int(1000 * s), 300)))


@weights.form(_elements)
@pk.kernel
def weights_items(o, x):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += np.exp(x[i, k])
    o[i, j] = np.exp(x[i, j]) / s


@weights.form(_rows)
@pk.kernel
def weights_lengths(o, x):
    i = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += np.exp(x[i, k])
    for k in range(o.shape[1]):
        o[i, k] = np.exp(x[i, k]) / s


@weights.form(_rows, peer=False)
@pk.kernel
def weights_rows(o, x):
    i = pk.index()
    e = np.exp(x[i])
    o[i] = e / e.sum()


@weights.form(None)
@pk.jit
def weights_program(x):
    e = np.exp(x)
    return e / e.sum(1, keepdims=True)


SHARED = (shares, parts, cosines, weights)


def _cosines(o: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x @ y.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))


SHARED_REFERENCES = {
    "shares of rows": lambda o, x: x / x.sum(1, keepdims=True),
    "shares of columns": lambda o, x: x / x.sum(0),
    "cosines": _cosines,
    "weights of rows": lambda o, x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
}
