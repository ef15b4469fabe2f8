"""Functions of NumPy that leave NaN out, and counts in two dimensions."""

from __future__ import annotations

import numpy as np


def nanvar(a, axis=None, *, ddof=0, keepdims=False):
    """Give the variance of what is not NaN."""
    is_there = ~np.isnan(a)
    count = np.sum(is_there, axis=axis, keepdims=True)
    clean = np.where(is_there, a, 0)
    mean = np.sum(clean, axis=axis, keepdims=True) / count.astype(clean.dtype)
    squares = np.where(is_there, (clean - mean) ** 2, 0)
    left = np.sum(is_there, axis=axis, keepdims=keepdims) - ddof
    found = np.sum(squares, axis=axis, keepdims=keepdims) / np.where(left > 0, left, 0).astype(clean.dtype)
    return np.where(left > 0, found, np.nan).astype(clean.dtype)


def nanstd(a, axis=None, *, ddof=0, keepdims=False):
    """Give the standard deviation of what is not NaN."""
    return np.sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims))


def nanargmax(a, axis=None, *, keepdims=False):
    """Give the place of the greatest element that is not NaN."""
    return np.argmax(np.where(np.isnan(a), -np.inf, a), axis=axis, keepdims=keepdims)


def nanargmin(a, axis=None, *, keepdims=False):
    """Give the place of the least element that is not NaN."""
    return np.argmin(np.where(np.isnan(a), np.inf, a), axis=axis, keepdims=keepdims)


def _nanquantile_along(rows, q):
    """The element below which a share `q` of what is not NaN stands, of each row; NaN stands last in the order."""
    ordered = np.sort(rows, axis=-1)
    count = np.sum(~np.isnan(rows), axis=-1)
    place = q * np.maximum(count - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    a = np.take_along_axis(ordered, low[..., None], -1)[..., 0]
    b = np.take_along_axis(ordered, high[..., None], -1)[..., 0]
    share = place - low
    between = np.where(share >= 0.5, b - (b - a) * (1 - share), a + (b - a) * share)
    return np.where(a == b, a, between).astype(rows.dtype)


def nanquantile(a, q, axis=None, *, keepdims=False):
    """Give the element below which a share of what is not NaN stands; the share is a number or a vector."""
    x = a if a.dtype == np.float32 or a.dtype == np.float64 else a.astype(np.float64)
    rows = np.ravel(x) if axis is None else np.moveaxis(x, axis, -1)
    if np.ndim(q) == 0:
        found = _nanquantile_along(rows, q)
        if keepdims:
            return found.reshape((1,) * a.ndim) if axis is None else np.expand_dims(found, axis)
        return found
    assert not keepdims, "np.nanquantile keeps dimensions of one share only in array programs"
    return np.stack(tuple([_nanquantile_along(rows, q[k]) for k in range(len(q))]))


def nanpercentile(a, q, axis=None, *, keepdims=False):
    """Give the element below which a share in percent of what is not NaN stands."""
    if np.ndim(q) == 0:
        return nanquantile(a, q / 100, axis, keepdims=keepdims)
    return nanquantile(a, tuple([q[k] / 100 for k in range(len(q))]), axis, keepdims=keepdims)


def nanmedian(a, axis=None, *, keepdims=False):
    """Give the middle of what is not NaN."""
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Count points in the cells of a grid; the edges come behind the counts. Cells are equal and their number is known
    when compiling."""
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
