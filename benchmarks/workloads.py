"""Kernels and their peers, declared once: the same arrays, results checked against NumPy."""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.kernel
def saxpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]


@pk.kernel
def heat(new, old, c):
    i, j = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = old[i, j] + c * (
            old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1] - 4.0 * old[i, j]
        )


@pk.kernel(fastmath=True)
def softmax(y, x):
    i = pk.index()
    n = x.shape[1]
    largest = x[i, 0]
    for k in range(1, n):
        largest = max(largest, x[i, k])
    total = 0.0
    for k in range(n):
        e = pk.exp(x[i, k] - largest)
        y[i, k] = e
        total += e
    scale = 1.0 / total
    for k in range(n):
        y[i, k] *= scale


@pk.kernel(fastmath=True)
def layernorm(y, x, weight, bias, eps):
    i = pk.index()
    n = x.shape[1]
    total = 0.0
    for k in range(n):
        total += x[i, k]
    mean = total / n
    squares = 0.0
    for k in range(n):
        d = x[i, k] - mean
        squares += d * d
    scale = 1.0 / pk.sqrt(squares / n + eps)
    for k in range(n):
        y[i, k] = (x[i, k] - mean) * scale * weight[k] + bias[k]


def numpy_heat(old: np.ndarray, c: float) -> np.ndarray:
    new = np.zeros_like(old)
    inner = old[1:-1, 1:-1]
    around = old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2]
    new[1:-1, 1:-1] = inner + np.float32(c) * (around - np.float32(4) * inner)
    return new


def numpy_softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def numpy_layernorm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + eps) * weight + bias
