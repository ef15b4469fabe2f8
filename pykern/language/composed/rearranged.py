"""Functions of NumPy that put elements elsewhere: of shapes, parts and axes."""

from __future__ import annotations

import numpy as np

from pykern.language.composed.kinds import is_integer


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


def _common_length(args, place):
    """The length that arrays have together, so many places from the end."""
    found = 1
    for a in args:
        if np.ndim(a) >= place and np.shape(a)[np.ndim(a) - place] != 1:
            found = np.shape(a)[np.ndim(a) - place]
    return found


def broadcast_arrays(*args):
    """Bring all arrays to the shape that they have together."""
    rank = 0
    for a in args:
        rank = max(rank, np.ndim(a))
    shape = tuple([_common_length(args, rank - k) for k in range(rank)])
    return tuple([np.broadcast_to(a, shape) for a in args])


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


def _deleted(moved, obj):
    """The rows without one of them."""
    assert isinstance(obj, int), "np.delete leaves out one place in array programs"
    n = moved.shape[0]
    assert -n <= obj < n, "np.delete: the index is outside of the axis"
    at = obj + n if obj < 0 else obj
    return np.concatenate((moved[:at], moved[at + 1 :]), axis=0)


def delete(arr, obj, axis=None):
    """Leave out one place of an axis; of the flattened array where no axis is given."""
    if axis is None:
        return _deleted(np.ravel(arr), obj)
    return np.moveaxis(_deleted(np.moveaxis(arr, axis, 0), obj), 0, axis)


def _inserted(moved, obj, given):
    """The rows with others in front of one of them."""
    assert isinstance(obj, int), "np.insert takes one place in array programs"
    at = obj + moved.shape[0] if obj < 0 else obj
    assert 0 <= at <= moved.shape[0], "np.insert: the place is outside of the axis"
    rows = np.asarray(given, dtype=moved.dtype)
    rows = np.broadcast_to(rows, (rows.shape[0], *moved.shape[1:]))
    return np.concatenate((moved[:at], rows, moved[at:]), axis=0)


def insert(arr, obj, values, axis=None):
    """Put values in front of one place of an axis; of the flattened array where no axis is given."""
    if axis is None:
        return _inserted(np.ravel(arr), obj, np.atleast_1d(values))
    moved = np.moveaxis(arr, axis, 0)
    if arr.ndim == 1:
        return _inserted(moved, obj, np.atleast_1d(values))
    if np.ndim(values) == arr.ndim:
        return np.moveaxis(_inserted(moved, obj, values), 0, axis)
    return np.moveaxis(_inserted(moved, obj, np.broadcast_to(values, (1, *moved.shape[1:]))), 0, axis)


def choose(a, choices):
    """Take each element from the choice that its integer names; integers outside are brought to the edge."""
    found = choices[0]
    for k in range(1, len(choices)):
        found = np.where(a >= k, choices[k], found)
    return found + np.zeros(np.shape(a), np.asarray(found).dtype)


def _packed(bits, is_high_first):
    """Bytes of the bits of the last axis."""
    n = bits.shape[-1]
    count = -(-n // 8)
    whole = np.concatenate((bits, np.zeros((*bits.shape[:-1], count * 8 - n), bits.dtype)), axis=-1)
    groups = whole.reshape((*bits.shape[:-1], count, 8))
    shift = np.arange(8)
    weights = np.left_shift(1, 7 - shift if is_high_first else shift)
    return np.sum(groups * weights, axis=-1).astype(np.uint8)


def packbits(a, axis=None, bitorder="big"):
    """Pack bits into bytes, the first one highest unless `bitorder` says otherwise."""
    assert is_integer(a), "np.packbits takes an array of integers or bools"
    bits = (a != 0).astype(np.int64)
    if axis is None:
        return _packed(np.ravel(bits), bitorder == "big")
    return np.moveaxis(_packed(np.moveaxis(bits, axis, -1), bitorder == "big"), -1, axis)


def _unpacked(moved, is_high_first):
    """The bits of the bytes of the last axis."""
    shift = np.arange(8)
    shift = (7 - shift if is_high_first else shift).astype(np.uint8)
    bits = np.bitwise_and(np.right_shift(moved[..., None], shift), 1).astype(np.uint8)
    return bits.reshape((*moved.shape[:-1], moved.shape[-1] * 8))


def unpackbits(a, axis=None, *, bitorder="big"):
    """Give the bits of bytes, the highest first unless `bitorder` says otherwise."""
    assert a.dtype == np.uint8, "np.unpackbits takes an array of uint8"
    if axis is None:
        return _unpacked(np.ravel(a), bitorder == "big")
    return np.moveaxis(_unpacked(np.moveaxis(a, axis, -1), bitorder == "big"), -1, axis)


def vander(x, N=None, increasing=False):
    """Give the powers of the elements as columns, the highest first."""
    count = x.shape[0] if N is None else N
    powers = x[:, None] ** np.arange(count)
    return powers if increasing else powers[:, ::-1]


def tri(N, M=None, k=0, dtype=None):
    """Give ones at and below a diagonal."""
    columns = N if M is None else M
    return (np.arange(N)[:, None] >= np.arange(columns) - k).astype(np.float64 if dtype is None else dtype)


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


def diagflat(v, k=0):
    """A matrix with elements on its diagonal, all others zero."""
    return np.diag(np.ravel(v), k)
