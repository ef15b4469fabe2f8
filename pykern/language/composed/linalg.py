"""Functions of `numpy.linalg` that are products and norms of others."""

from __future__ import annotations

from typing import Any

import numpy as np


def multi_dot(arrays):
    """Multiply matrices, the cheapest neighbours first; the ends may be vectors."""
    first, last = arrays[0], arrays[-1]
    parts = list(arrays)
    if first.ndim == 1:
        parts[0] = first[None]
    if last.ndim == 1:
        parts[-1] = last[:, None]
    for _ in range(len(arrays) - 1):
        costs = [parts[k].shape[0] * parts[k].shape[1] * parts[k + 1].shape[1] for k in range(len(parts) - 1)]
        best = 0
        for k in range(len(costs)):
            if costs[k] < costs[best]:
                best = k
        parts = parts[:best] + [parts[best] @ parts[best + 1]] + parts[best + 2 :]
    found = parts[0]
    if first.ndim == 1:
        found = found[0]
    return found[..., 0] if last.ndim == 1 else found


def outer(x1, x2):
    """Multiply each element of a vector by each of another."""
    return np.outer(x1, x2)


def diagonal(x, *, offset=0):
    """Give the diagonals of the last two axes."""
    moved = np.moveaxis(x, (-2, -1), (0, 1))
    return np.diagonal(moved, offset)


def trace(x, *, offset=0):
    """Sum the diagonals of the last two axes."""
    return np.trace(np.moveaxis(x, (-2, -1), (0, 1)), offset)


def matmul(x1, x2):
    """Multiply matrices."""
    return np.matmul(x1, x2)


def vecdot(x1, x2, *, axis=-1):
    """Sum the products along an axis, with the conjugate of the first vectors."""
    products = np.conj(x1) * x2
    return np.sum(products, axis=axis).astype(products.dtype)


def cross(x1, x2):
    """Multiply vectors of three elements."""
    return np.cross(x1, x2)


def matrix_transpose(x):
    """Exchange the last two axes."""
    return np.swapaxes(x, -1, -2)


def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    """Give the norms of vectors, or of the flattened array."""
    if axis is None:
        found = np.linalg.norm(np.ravel(x), ord=ord)
        return np.reshape(found, (1,) * x.ndim) if keepdims else found
    if not isinstance(axis, int):
        moved = np.moveaxis(x, axis, tuple(range(len(axis))))
        found = np.linalg.norm(np.reshape(moved, (-1, *moved.shape[len(axis) :])), ord=ord, axis=0)
        left = list(x.shape)
        for k in axis:
            left[k] = 1
        return np.reshape(found, tuple(left)) if keepdims else found
    return np.linalg.norm(x, ord=ord, axis=axis, keepdims=keepdims)


def matrix_norm(x, *, keepdims=False, ord: Any = "fro"):
    """Give the norms of the matrices of the last two axes."""
    return np.linalg.norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)


def tensorsolve(a, b):
    """Solve a system whose unknowns have several axes."""
    shape = a.shape[b.ndim :]
    n = b.size
    return np.linalg.solve(a.reshape((n, n)), np.ravel(b)).reshape(shape)


def tensorinv(a, ind=2):
    """Invert a system whose unknowns have several axes."""
    n = 1
    for length in a.shape[:ind]:
        n = n * length
    return np.linalg.inv(a.reshape((n, n))).reshape((*a.shape[ind:], *a.shape[:ind]))
