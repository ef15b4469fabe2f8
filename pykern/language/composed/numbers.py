"""Functions of NumPy on each element, and running sums."""

from __future__ import annotations

import numpy as np

from pykern.language.composed.kinds import is_integer, small_floats


def modf(x):
    """Give the fraction and the whole part, both with the sign of the number."""
    y = small_floats(x)
    whole = np.trunc(y)
    return np.where(np.isinf(y), np.copysign(0.0, y), np.copysign(y - whole, y)).astype(y.dtype), whole


def ldexp(x1, x2):
    """Multiply by a power of two, in three steps, so that only the result overflows, and is rounded once."""
    given = small_floats(x1)
    x = given.astype(np.float32) if given.dtype == np.float16 else given
    limit = 100 if x.dtype == np.float32 else 1000
    power = np.asarray(x2)
    is_wide = power.dtype == np.int64 or power.dtype == np.uint32
    power = power.astype(np.int64 if is_wide else np.int32)
    last = np.clip(power, -limit, limit)
    second = np.clip(power - last, -limit, limit)
    first = np.clip(power - last - second, -limit, limit)
    for step in (first, second, last):
        x = x * np.exp2(step * 1.0).astype(x.dtype)
    return x.astype(given.dtype)


def ediff1d(ary):
    """Give the differences of neighbours in the flattened array."""
    return np.diff(np.ravel(ary))


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Take out jumps of more than half a period between neighbours."""
    limit = period / 2 if discont is None else max(discont, period / 2)
    moved = np.moveaxis(p, axis, -1)
    steps = np.diff(moved)
    wrapped = (steps + period / 2) % period - period / 2
    wrapped = np.where((wrapped == -period / 2) & (steps > 0), period / 2, wrapped)
    corrections = np.where(np.abs(steps) < limit, 0.0, wrapped - steps)
    turned = np.concatenate((moved[..., :1], moved[..., 1:] + np.cumsum(corrections, axis=-1)), axis=-1)
    found = np.moveaxis(turned, -1, axis)
    return found.astype(p.dtype) if is_integer(p) and isinstance(period, int) else found


def cumulative_sum(x, axis=None, *, include_initial=False):
    """Give running sums, with the empty sum in front where that is asked for."""
    along = 0 if axis is None else axis
    assert axis is not None or x.ndim == 1, "np.cumulative_sum needs an axis of arrays with several"
    sums = np.cumsum(x, axis=along)
    if not include_initial:
        return sums
    moved = np.moveaxis(sums, along, 0)
    first = np.zeros((1, *moved.shape[1:]), sums.dtype)
    return np.moveaxis(np.concatenate((first, moved), axis=0), 0, along)


def cumulative_prod(x, axis=None, *, include_initial=False):
    """Give running products, with the empty product in front where that is asked for."""
    along = 0 if axis is None else axis
    assert axis is not None or x.ndim == 1, "np.cumulative_prod needs an axis of arrays with several"
    products = np.cumprod(x, axis=along)
    if not include_initial:
        return products
    moved = np.moveaxis(products, along, 0)
    first = np.ones((1, *moved.shape[1:]), products.dtype)
    return np.moveaxis(np.concatenate((first, moved), axis=0), 0, along)


def nancumsum(a, axis=None):
    """Give running sums in which NaN counts as 0."""
    clean = np.where(np.isnan(a), 0, a)
    return np.cumsum(np.ravel(clean)) if axis is None else np.cumsum(clean, axis=axis)


def nancumprod(a, axis=None):
    """Give running products in which NaN counts as 1."""
    clean = np.where(np.isnan(a), 1, a)
    return np.cumprod(np.ravel(clean)) if axis is None else np.cumprod(clean, axis=axis)


def i0(x):
    """Give the modified Bessel function of order 0.

    By its power series, in Horner's form, and beyond 20 by the asymptotic one (Abramowitz and Stegun, 9.6.12, 9.7.1).
    """
    size = np.abs(x)
    small = np.minimum(size, 20.0)
    quarter = small * small * 0.25
    series = np.ones_like(small)
    for k in range(60, 0, -1):
        series = 1.0 + series * quarter / (k * k)
    large = np.maximum(size, 20.0)
    tail = np.ones_like(large)
    for k in range(20, 0, -1):
        tail = 1.0 + tail * ((2 * k - 1) * (2 * k - 1)) / (8.0 * k * large)
    beyond = np.exp(large) / np.sqrt(6.283185307179586 * large) * tail
    return np.where(size <= 20.0, series, beyond)


def vecdot(x1, x2, *, axis=-1):
    """Sum the products along an axis, with the conjugate of the first vectors."""
    products = np.conj(x1) * x2
    return np.sum(products, axis=axis).astype(products.dtype)


def matvec(x1, x2):
    """Multiply matrices by vectors."""
    return np.matmul(x1, x2[..., None])[..., 0]


def vecmat(x1, x2):
    """Multiply the conjugates of vectors by matrices."""
    return np.matmul(np.conj(x1)[..., None, :], x2)[..., 0, :]


def astype(x, dtype):
    """Convert to another type."""
    return x.astype(dtype)


def array_equiv(a1, a2):
    """Say whether all elements are equal where the arrays broadcast together."""
    return np.all(a1 == a2)


def iscomplexobj(x):
    """Say whether the type is complex."""
    return x.dtype == np.complex64 or x.dtype == np.complex128


def isrealobj(x):
    """Say whether the type is no complex one."""
    return not (x.dtype == np.complex64 or x.dtype == np.complex128)


def frexp(x):
    """Give a fraction from a half to one and a power of two, of normal numbers, 0, infinities and NaN."""
    y = small_floats(x)
    is_plain = (y != 0) & np.isfinite(y)
    whole = np.where(is_plain, y, 1.0)
    power = np.floor(np.log2(np.abs(whole))) + 1
    fraction = np.ldexp(whole, -power.astype(np.int32))
    is_one, is_small = np.abs(fraction) >= 1, np.abs(fraction) < 0.5
    fraction = np.where(is_one, fraction / 2, np.where(is_small, fraction * 2, fraction))
    power = power + is_one - is_small
    return np.where(is_plain, fraction, y).astype(y.dtype), np.where(is_plain, power, 0).astype(np.int32)
