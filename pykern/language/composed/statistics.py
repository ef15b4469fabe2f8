"""Functions of NumPy that leave NaN out, and counts in two dimensions."""

from __future__ import annotations

import numpy as np

from pykern.language.composed.kinds import is_complex, is_integer, wide_floats


def nanvar(a, axis=None, *, ddof=0, keepdims=False):
    """Give the variance of what is not NaN."""
    x = wide_floats(a)
    is_there = ~np.isnan(x)
    count = np.sum(is_there, axis=axis, keepdims=True)
    clean = np.where(is_there, x, 0)
    mean = np.sum(clean, axis=axis, keepdims=True) / count.astype(clean.dtype)
    apart = clean - mean
    squares = np.where(is_there, np.real(apart) ** 2 + np.imag(apart) ** 2 if is_complex(a) else apart**2, 0)
    left = np.sum(is_there, axis=axis, keepdims=keepdims) - ddof
    found = np.sum(squares, axis=axis, keepdims=keepdims) / np.where(left > 0, left, 0).astype(squares.dtype)
    return np.where(left > 0, found, np.nan).astype(squares.dtype)


def nanstd(a, axis=None, *, ddof=0, keepdims=False):
    """Give the standard deviation of what is not NaN."""
    return np.sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims))


def nanargmax(a, axis=None, *, keepdims=False):
    """Give the place of the greatest element that is not NaN."""
    x = a if is_integer(a) else np.where(np.isnan(a), -np.inf, a)
    return np.argmax(x, axis=axis, keepdims=keepdims)


def nanargmin(a, axis=None, *, keepdims=False):
    """Give the place of the least element that is not NaN."""
    x = a if is_integer(a) else np.where(np.isnan(a), np.inf, a)
    return np.argmin(x, axis=axis, keepdims=keepdims)


def _rows(a, axis):
    """Floats, of which the last axis is reduced."""
    x = a if a.dtype == np.float32 or a.dtype == np.float64 else a.astype(np.float64)
    return np.ravel(x) if axis is None else np.moveaxis(x, axis, -1)


def _as_kept(found, a, axis, keepdims):
    """What was found, in floats of the width of `a` and with the axis that was reduced."""
    made = found.astype(np.float16) if a.dtype == np.float16 else found
    if not keepdims:
        return made
    return made.reshape((1,) * a.ndim) if axis is None else np.expand_dims(made, axis)


def _element(ordered, place):
    """Of each row the element at its own place."""
    return np.take_along_axis(ordered, place[..., None], -1)[..., 0]


def _nanquantile_along(rows, q):
    """The element below which a share `q` of what is not NaN stands, of each row; NaN stands last in the order."""
    ordered = np.sort(rows, axis=-1)
    count = np.sum(~np.isnan(rows), axis=-1)
    place = q * np.maximum(count - 1, 0)
    low = np.floor(place).astype(np.int64)
    a, b = _element(ordered, low), _element(ordered, np.minimum(low + 1, np.maximum(count - 1, 0)))
    share = place - low
    between = np.where(share >= 0.5, b - (b - a) * (1 - share), a + (b - a) * share)
    return np.where(a == b, a, between).astype(rows.dtype)


def nanquantile(a, q, axis=None, *, keepdims=False):
    """Give the element below which a share of what is not NaN stands; the share is a number or a vector."""
    rows = _rows(a, axis)
    if np.ndim(q) == 0:
        return _as_kept(_nanquantile_along(rows, q), a, axis, keepdims)
    assert not keepdims, "np.nanquantile keeps dimensions of one share only in array programs"
    found = np.stack(tuple([_nanquantile_along(rows, q[k]) for k in range(len(q))]))
    return _as_kept(found, a, axis, False)


def nanpercentile(a, q, axis=None, *, keepdims=False):
    """Give the element below which a share in percent of what is not NaN stands."""
    if np.ndim(q) == 0:
        return nanquantile(a, q / 100, axis, keepdims=keepdims)
    return nanquantile(a, tuple([q[k] / 100 for k in range(len(q))]), axis, keepdims=keepdims)


def nanmedian(a, axis=None, *, keepdims=False):
    """Give the middle of what is not NaN: the mean of the middle two, which may be infinite, of an even count."""
    rows = _rows(a, axis)
    ordered = np.sort(rows, axis=-1)
    count = np.sum(~np.isnan(rows), axis=-1)
    low, high = _element(ordered, np.maximum(count - 1, 0) // 2), _element(ordered, count // 2)
    found = np.where(count % 2 == 1, high, (low + high) / 2).astype(rows.dtype)
    return _as_kept(found, a, axis, keepdims)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Count points in the cells of a grid; the edges come behind the counts. Cells are equal and their number is known
    when compiling."""
    assert isinstance(bins, int) or (
        len(bins) == 2 and isinstance(bins[0], int) and isinstance(bins[1], int)
    ), "np.histogram2d takes numbers of bins in array programs: one, or one for each axis"
    nx, ny = (bins, bins) if isinstance(bins, int) else (bins[0], bins[1])
    if range is None:
        x_low, x_high, y_low, y_high = np.min(x), np.max(x), np.min(y), np.max(y)
    else:
        (x_low, x_high), (y_low, y_high) = range
    x_low, x_high = (
        np.where(x_low == x_high, x_low - 0.5, x_low),
        np.where(x_low == x_high, x_high + 0.5, x_high),
    )
    y_low, y_high = (
        np.where(y_low == y_high, y_low - 0.5, y_low),
        np.where(y_low == y_high, y_high + 0.5, y_high),
    )
    x_edges, y_edges = np.linspace(x_low, x_high, nx + 1), np.linspace(y_low, y_high, ny + 1)
    i = np.searchsorted(x_edges, x, side="right") - 1
    j = np.searchsorted(y_edges, y, side="right") - 1
    i = np.where(x == x_edges[nx], nx - 1, i)
    j = np.where(y == y_edges[ny], ny - 1, j)
    is_inside = (i >= 0) & (i < nx) & (j >= 0) & (j < ny)
    amount = np.ones(x.shape) if weights is None else weights
    cells = np.zeros(nx * ny)
    np.add.at(cells, np.where(is_inside, i * ny + j, 0), np.where(is_inside, amount, 0.0))
    counts = cells.reshape((nx, ny))
    if density:
        areas = np.diff(x_edges)[:, None] * np.diff(y_edges)[None, :]
        counts = counts / areas / np.sum(counts)
    return counts, x_edges, y_edges
