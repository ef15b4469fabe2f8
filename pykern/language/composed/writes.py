"""Functions of NumPy that change an array that they are given."""

from __future__ import annotations

import numpy as np


def copyto(dst, src, *, where=True):
    """Write values where the condition holds."""
    dst[...] = np.where(where, np.asarray(src).astype(dst.dtype), dst)


def putmask(a, mask, values):
    """Write values where the mask is true; a value is a number or an array of the same shape."""
    assert np.ndim(values) == 0 or np.shape(values) == a.shape, (
        "np.putmask takes a number or an array of the shape"
    )
    a[...] = np.where(mask, np.asarray(values).astype(a.dtype), a)


def place(arr, mask, vals):
    """Write a number, or the one element of `vals`, where the mask is true."""
    assert np.size(vals) == 1, "np.place takes one value in array programs"
    value = vals if np.ndim(vals) == 0 else vals[0]
    arr[...] = np.where(mask, np.asarray(value).astype(arr.dtype), arr)


def fill_diagonal(a, val):
    """Write the diagonal of a matrix; a value is a number or a vector as long as the diagonal."""
    assert a.ndim == 2, "np.fill_diagonal takes matrices in array programs"
    n = min(a.shape[0], a.shape[1])
    places = np.arange(n)
    a[places, places] = val


def put_along_axis(arr, indices, values, axis):
    """Write of each row the elements that its own row of indices names."""
    n = arr.shape[axis]
    moved = np.moveaxis(arr, axis, -1)
    rows = moved.size // n
    flat = np.moveaxis(indices, axis, -1).reshape((rows, indices.shape[axis]))
    flat = np.where(flat < 0, flat + n, flat) + np.arange(rows)[:, None] * n
    given = np.moveaxis(np.broadcast_to(values, indices.shape), axis, -1)
    whole = np.ravel(moved) + np.zeros(moved.size, arr.dtype)
    whole[np.ravel(flat)] = np.ravel(given).astype(arr.dtype)
    arr[...] = np.moveaxis(whole.reshape(moved.shape), -1, axis)
