"""ADBench's Gaussian mixture as a program, and its gradient in NumPy, for sizes up to d = 128, K = 200.

`autodiff_programs.gmm` writes Q by slices, 2 d of them, and compiles in minutes for d = 128; here the elements
of Q are looked up, as JAX's version sets them, by one array of places.
"""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.jit
def gmm(alphas, means, logs, lower, x, places):
    """The sum over the points of `adbench.gmm`. Arrays are (component, dimension, point)."""
    k = means.shape[0]
    elements = pk.concatenate((pk.exp(logs), lower, pk.zeros((k, 1), dtype=x.dtype)), axis=1)
    z = elements[:, places] @ (x.T[None, :, :] - means[:, :, None])
    terms = (alphas + logs.sum(axis=1))[:, None] - 0.5 * (z * z).sum(axis=1)
    top = terms.max(axis=0, keepdims=True)
    return pk.sum(top + pk.log(pk.exp(terms - top).sum(axis=0, keepdims=True)))


def places(d: int) -> np.ndarray:
    """``places[i, j]``: where element (i, j) of Q is among its diagonal, what is below it, and a zero."""
    below = d * (d - 1) // 2
    found = np.full((d, d), d + below)
    found[np.tril_indices(d, -1)] = d + np.arange(below)
    found[range(d), range(d)] = np.arange(d)
    return found


def gmm_gradient(alphas, means, logs, lower, x) -> tuple[np.ndarray, ...]:
    """The gradient of the sum by alphas, means, logs and lower, in NumPy and by hand."""
    k, d = means.shape
    rows, columns = np.tril_indices(d, -1)
    q = np.zeros((k, d, d))
    q[:, rows, columns] = lower
    q[:, range(d), range(d)] = np.exp(logs)
    centred = x[:, None] - means
    z = q @ centred.transpose(1, 2, 0)
    terms = (alphas + logs.sum(1))[:, None] - 0.5 * (z**2).sum(1)
    shares = np.exp(terms - terms.max(0))
    shares /= shares.sum(0)
    flowing = shares[:, None] * z
    by_q = -flowing @ centred.transpose(1, 0, 2)
    by_means = np.einsum("kji,kjn->ki", q, flowing)
    by_logs = shares.sum(1)[:, None] + by_q[:, range(d), range(d)] * np.exp(logs)
    return shares.sum(1), by_means, by_logs, by_q[:, rows, columns]
