"""Kernels and programs that tests give to JAX."""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.kernel
def axpy(o, x, y, a):
    i = pk.index()
    o[i] = a * x[i] + y[i]


@pk.kernel
def cube(o, x):
    i = pk.index()
    o[i] = x[i] * x[i] * x[i]


@pk.kernel
def heat(new, old, c):
    i, j = pk.index()
    n, m = old.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        around = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
        new[i, j] = old[i, j] + c * (around - 4 * old[i, j])


@pk.jit
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pk.jit
def stats(pair, n):
    return {"mean": np.mean(pair["x"]), "scaled": pair["x"] * pair["y"] * n}


@pk.jit
def scaled(x):
    return x / x.shape[0]


@pk.jit
def weights(x, w):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) * w


@pk.jit
def turned(x, w):
    return x + x.T * w
