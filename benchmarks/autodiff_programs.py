"""What `benchmarks/autodiff.py` differentiates, as array programs of pykern; the peers hold the same names.

Each works in f32 and f64. Read next: `autodiff_programs_jax`, `autodiff_programs_torch`.
"""

from __future__ import annotations

import adbench

import pykern as pk


@pk.jit
def squares(x):
    return pk.sum(x * x)


@pk.kernel
def heat_point(after, before, c):
    i, j = pk.index()
    if 0 < i < before.shape[0] - 1 and 0 < j < before.shape[1] - 1:
        after[i, j] = before[i, j] + c * (
            before[i + 1, j] + before[i - 1, j] + before[i, j + 1] + before[i, j - 1] - 4 * before[i, j]
        )


@pk.jit
def heat_launched(t, steps: pk.static):
    for _ in pk.range(steps):
        after = pk.copy(t)
        heat_point(after, t, 0.2, ndrange=t.shape)
        t = after
    return t


@pk.jit
def heat(t, steps: pk.static):
    u = pk.copy(t)
    for _ in pk.range(steps):
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.2 * lap
    return u


@pk.jit
def nonlinear_heat(t, steps: pk.static):
    u = pk.copy(t)
    for _ in pk.range(steps):
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * u[1:-1, 1:-1] * lap
    return u


@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pk.jit
def layernorm(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / pk.sqrt(variance + 1e-5) * gain + bias


@pk.jit
def matmul(a, b):
    return a @ b


@pk.jit
def gmm(alphas, means, logs, lower, x):
    """The sum over the points of `adbench.gmm`. Arrays are (component, dimension, point)."""
    k, d = means.shape
    q = pk.zeros((k, d, d), dtype=x.dtype)
    at = 0
    for i in range(d):
        q[:, i, :i] = lower[:, at : at + i]
        q[:, i, i] = pk.exp(logs[:, i])
        at += i
    centred = x.T[None, :, :] - means[:, :, None]
    z = q @ centred
    terms = (alphas + logs.sum(axis=1))[:, None] - 0.5 * (z * z).sum(axis=1)
    top = terms.max(axis=0, keepdims=True)
    return pk.sum(top + pk.log(pk.exp(terms - top).sum(axis=0, keepdims=True)))


gmm_kernel = adbench.gmm
gmm_kernel_gradient = pk.autodiff(adbench.gmm)
