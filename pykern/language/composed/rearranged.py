"""Functions of NumPy that put elements elsewhere: of shapes, parts and axes."""

from __future__ import annotations

import numpy as np

from pykern.types import f64


def matrix_transpose(x):
    """Exchange the last two axes."""
    return np.swapaxes(x, -1, -2)


def rollaxis(a, axis, start=0):
    """Move an axis in front of another one."""
    at = axis + a.ndim if axis < 0 else axis
    to = start + a.ndim if start < 0 else start
    return np.moveaxis(a, at, to - 1 if at < to else to)


def atleast_3d(a):
    """Give an array three dimensions, as NumPy does: a vector lies along the second one."""
    if np.ndim(a) == 0:
        return np.reshape(a, (1, 1, 1))
    if np.ndim(a) == 1:
        return a[None, :, None]
    if np.ndim(a) == 2:
        return a[:, :, None]
    return a


def broadcast_arrays(*args):
    """Bring all arrays to the shape that they have together."""
    rank = max(*[np.ndim(a) for a in args], 0)
    shape = [1] * rank
    for a in args:
        for k in range(np.ndim(a)):
            if np.shape(a)[k] != 1:
                shape[rank - np.ndim(a) + k] = np.shape(a)[k]
    return tuple([np.broadcast_to(a, tuple(shape)) for a in args])


def unstack(x, axis=0):
    """Give the parts along an axis as a tuple."""
    moved = np.moveaxis(x, axis, 0)
    return tuple([moved[k] for k in range(moved.shape[0])])


def resize(a, new_shape):
    """Repeat the elements in order until the new shape is full."""
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    count = 1
    for n in shape:
        count = count * n
    flat = np.ravel(a)
    if count == 0 or flat.shape[0] == 0:
        return np.zeros(shape, a.dtype)
    return np.tile(flat, -(-count // flat.shape[0]))[:count].reshape(shape)


def delete(arr, obj, axis=None):
    """Leave out one place of an axis, or several; of the flattened array where no axis is given."""
    if axis is None:
        return delete(np.ravel(arr), obj, 0)
    places = (obj,) if isinstance(obj, int) else tuple(obj)
    n = arr.shape[axis]
    for at in places:
        assert -n <= at < n, "np.delete: an index is outside of the axis"
    gone = [at + n if at < 0 else at for at in places]
    left = np.moveaxis(arr, axis, 0)
    bounds = [-1, *[k for k in range(n) if k in gone], n]
    parts = [left[bounds[k] + 1 : bounds[k + 1]] for k in range(len(bounds) - 1)]
    return np.moveaxis(np.concatenate(tuple(parts), axis=0), 0, axis)


def insert(arr, obj, values, axis=None):
    """Put values in front of one place of an axis; of the flattened array where no axis is given."""
    if axis is None:
        return insert(np.ravel(arr), obj, values, 0)
    assert isinstance(obj, int), "np.insert takes one place in array programs"
    moved = np.moveaxis(arr, axis, 0)
    at = obj + moved.shape[0] if obj < 0 else obj
    assert 0 <= at <= moved.shape[0], "np.insert: the place is outside of the axis"
    if np.ndim(values) == arr.ndim and arr.ndim > 1:
        given = np.moveaxis(values, axis, 0)
    elif np.ndim(values) == 1 and arr.ndim == 1:
        given = values
    else:
        given = np.broadcast_to(values, (1, *moved.shape[1:]))
    given = np.asarray(given, dtype=arr.dtype)
    given = np.broadcast_to(given, (given.shape[0], *moved.shape[1:]))
    return np.moveaxis(np.concatenate((moved[:at], given, moved[at:]), axis=0), 0, axis)


def choose(a, choices):
    """Take each element from the choice that its integer names; integers outside are brought to the edge."""
    found = choices[0]
    for k in range(1, len(choices)):
        found = np.where(a >= k, choices[k], found)
    return found + np.zeros(np.shape(a), np.asarray(found).dtype)


def packbits(a, axis=None, bitorder="big"):
    """Pack bits into bytes, the first one highest unless `bitorder` says otherwise."""
    if axis is None:
        return packbits(np.ravel(a), 0, bitorder)
    bits = np.moveaxis((a != 0).astype(np.uint8), axis, -1)
    n = bits.shape[-1]
    count = -(-n // 8)
    width = [(0, 0) for _ in range(bits.ndim - 1)]
    bits = np.pad(bits, (*width, (0, count * 8 - n))).reshape((*bits.shape[:-1], count, 8))
    shift = np.arange(8)
    weights = np.left_shift(1, 7 - shift if bitorder == "big" else shift)
    packed = np.sum(bits * weights, axis=-1).astype(np.uint8)
    return np.moveaxis(packed, -1, axis)


def unpackbits(a, axis=None, bitorder="big"):
    """Give the bits of bytes, the highest first unless `bitorder` says otherwise."""
    if axis is None:
        return unpackbits(np.ravel(a), 0, bitorder)
    moved = np.moveaxis(a, axis, -1)
    shift = np.arange(8)
    shift = (7 - shift if bitorder == "big" else shift).astype(np.uint8)
    bits = np.bitwise_and(np.right_shift(moved[..., None], shift), 1).astype(np.uint8)
    return np.moveaxis(bits.reshape((*moved.shape[:-1], moved.shape[-1] * 8)), -1, axis)


def vander(x, N=None, increasing=False):
    """Give the powers of the elements as columns, the highest first."""
    count = x.shape[0] if N is None else N
    powers = x[:, None] ** np.arange(count)
    return powers if increasing else powers[:, ::-1]


def tri(N, M=None, k=0, dtype=f64):
    """Give ones at and below a diagonal."""
    columns = N if M is None else M
    return (np.arange(N)[:, None] >= np.arange(columns) - k).astype(dtype)


def logspace(start, stop, num=50, endpoint=True, base=10.0):
    """Give powers of the base whose exponents are in equal steps."""
    return np.power(base, np.linspace(start, stop, num, endpoint))


def geomspace(start, stop, num=50, endpoint=True):
    """Give numbers in equal ratios."""
    ratio = np.log10(stop * 1.0 / start)
    found = start * np.power(10.0, np.linspace(0.0, ratio, num, endpoint))
    if endpoint and num > 1:
        return np.concatenate((found[:-1], np.array([stop * 1.0])))
    return found
