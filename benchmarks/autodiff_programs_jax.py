"""The programs of `autodiff_programs` in JAX."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)


def squares(x):
    return jnp.sum(x * x)


def _laplacian(u):
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]


def _heat_step(_, u):
    return u.at[1:-1, 1:-1].add(0.2 * _laplacian(u))


def _nonlinear_step(_, u):
    return u.at[1:-1, 1:-1].add(0.1 * u[1:-1, 1:-1] * _laplacian(u))


def heat(t, steps):
    return lax.fori_loop(0, steps, _heat_step, t)


heat_launched = heat


def nonlinear_heat(t, steps):
    return lax.fori_loop(0, steps, _nonlinear_step, t)


def nonlinear_heat_every(t, steps, k):
    """Keeps the state of every `k`-th step: an inner loop that is computed again."""

    @partial(jax.checkpoint, prevent_cse=False)
    def several(_, u):
        return lax.fori_loop(0, k, _nonlinear_step, u)

    return lax.fori_loop(0, steps // k, several, t)


def softmax(x):
    return jax.nn.softmax(x, axis=1)


def layernorm(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / jnp.sqrt(variance + 1e-5) * gain + bias


def matmul(a, b):
    return a @ b


def gmm(alphas, means, logs, lower, x):
    k, d = means.shape
    rows, columns = jnp.tril_indices(d, -1)
    q = jnp.zeros((k, d, d), x.dtype).at[:, rows, columns].set(lower)
    q = q.at[:, jnp.arange(d), jnp.arange(d)].set(jnp.exp(logs))
    z = q @ (x.T[None] - means[:, :, None])
    terms = (alphas + logs.sum(1))[:, None] - 0.5 * (z * z).sum(1)
    return jnp.sum(jax.nn.logsumexp(terms, axis=0))
