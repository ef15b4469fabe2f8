"""Functions of NumPy that make and read indices."""

from __future__ import annotations

import numpy as np


def ix_(*args):
    """Give vectors of indices the axes by which they broadcast to the product of all."""
    rank = len(args)
    for a in args:
        assert np.asarray(a).dtype != np.bool_, (
            "np.ix_ takes indices in array programs: of a mask, np.flatnonzero"
        )
    return tuple(
        [np.reshape(np.asarray(a), (1,) * k + (len(a),) + (1,) * (rank - 1 - k)) for k, a in enumerate(args)]
    )


def indices(dimensions):
    """Give the indices of each axis in arrays of these lengths."""
    rank = len(dimensions)
    rows = []
    for k in range(rank):
        places = np.arange(dimensions[k]).reshape((1,) * k + (dimensions[k],) + (1,) * (rank - 1 - k))
        rows.append(np.broadcast_to(places, tuple(dimensions)))
    return np.stack(tuple(rows))


def unravel_index(indices, shape):
    """Give the index in each axis of flat indices."""
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    found = []
    left = np.asarray(indices).astype(np.int64)
    for n in lengths[:0:-1]:
        found.append(left % n)
        left = left // n
    found.append(left)
    return tuple(found[::-1])


def ravel_multi_index(multi_index, dims):
    """Give flat indices of indices in each axis."""
    flat = np.asarray(multi_index[0]).astype(np.int64)
    for k in range(1, len(dims)):
        flat = flat * dims[k] + multi_index[k]
    return flat


def diag_indices(n, ndim=2):
    """Give the indices of a diagonal."""
    return tuple([np.arange(n) for _ in range(ndim)])


def triu_indices(n, k=0, m=None):
    """Give the indices of an upper triangle, row by row."""
    columns = n if m is None else m
    pairs = [(i, j) for i in range(n) for j in range(columns) if j - i >= k]
    return np.array([p[0] for p in pairs], dtype=np.int64), np.array([p[1] for p in pairs], dtype=np.int64)


def tril_indices(n, k=0, m=None):
    """Give the indices of a lower triangle, row by row."""
    columns = n if m is None else m
    pairs = [(i, j) for i in range(n) for j in range(columns) if j - i <= k]
    return np.array([p[0] for p in pairs], dtype=np.int64), np.array([p[1] for p in pairs], dtype=np.int64)


def lexsort(keys, axis=-1):
    """Give the places of elements in the order of several keys, of which the last one counts most."""
    order = np.argsort(keys[0], axis=axis)
    for k in range(1, len(keys)):
        order = np.take_along_axis(
            order, np.argsort(np.take_along_axis(keys[k], order, axis), axis=axis), axis
        )
    return order
