"""Kernels that pykern measures itself with: on the CPU, on devices, in ``pykern bench --suite`` and in ``benchmarks/``.

Comes in, goes out: arrays of any float type. Those with sums have `fastmath`: the sums may be reordered, as those
of other libraries are.
"""

from __future__ import annotations

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


@pk.kernel(fastmath=True)
def swiglu(y, gate, up):
    i, j = pk.index()
    y[i, j] = gate[i, j] / (1.0 + pk.exp(-gate[i, j])) * up[i, j]


@pk.kernel(fastmath=True)
def residual_layernorm(y, x, residual, weight, bias, eps):
    """Pre-norm: the layer norm of the sum, which is kept in `y` between the passes over a row."""
    i = pk.index()
    n = x.shape[1]
    total = 0.0
    for k in range(n):
        s = x[i, k] + residual[i, k]
        y[i, k] = s
        total += s
    mean = total / n
    squares = 0.0
    for k in range(n):
        d = y[i, k] - mean
        squares += d * d
    scale = 1.0 / pk.sqrt(squares / n + eps)
    for k in range(n):
        y[i, k] = (y[i, k] - mean) * scale * weight[k] + bias[k]


@pk.jit
def matmul(a, b):
    return a @ b


@pk.jit
def attention(q, k, v, scale):
    """Softmax of scaled scores times values, for arrays of heads x positions x features."""
    scores = (q @ k.transpose(0, 2, 1)) * scale
    e = pk.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v
