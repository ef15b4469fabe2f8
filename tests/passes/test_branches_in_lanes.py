"""Branches with effects in work-items that run in lanes: masks, and lanes one by one. Guard zones around each array."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def stored_if(o, p, x, w):
    i, j = pk.index()
    s = x.dtype(0)
    for k in range(w.shape[0]):
        s += x[i, j] * w[k, j]
    if s > 2:
        o[i, j] = s
        if x[i, j] < 0:
            p[i, j] = p[i, j] + s
    elif s < -2:
        p[i, j] = x[i, j]


@pk.kernel
def stored_elsewhere(o, p, x, w):
    """To places that are no neighbours, under a branch: the transposed row."""
    i, j = pk.index()
    s = x.dtype(0)
    for k in range(w.shape[0]):
        s += x[i, j] * w[k, j]
    if s > 2:
        o[i, x.shape[1] - 1 - j] = s
    elif s < -2:
        p[i, j] = x[i, 2 * j - x.shape[1]] if 2 * j > x.shape[1] else s


@pk.kernel
def last_of(o, p, x, w):
    """Stores of a loop under a branch, of which the last one counts, and what stands at the place it found."""
    i, j = pk.index()
    at = -1
    for k in range(w.shape[0]):
        if w[k, j] > x[i, j]:
            o[i, j] = w[k, j]
            at = k
    if at >= 0:
        p[i, j] = w[at, j] * 2


def expected(kernel, o, p, x, w):
    o, p = o.copy(), p.copy()
    n = x.shape[1]
    for i in range(x.shape[0]):
        for j in range(n):
            s = x.dtype.type(0)
            at = -1
            for k in range(w.shape[0]):
                s += x[i, j] * w[k, j]
                at = k if w[k, j] > x[i, j] else at
            if kernel is last_of and at >= 0:
                o[i, j], p[i, j] = w[at, j], w[at, j] * 2
            if kernel is stored_if:
                if s > 2:
                    o[i, j] = s
                    p[i, j] += s if x[i, j] < 0 else 0
                elif s < -2:
                    p[i, j] = x[i, j]
            if kernel is stored_elsewhere:
                if s > 2:
                    o[i, n - 1 - j] = s
                elif s < -2:
                    p[i, j] = x[i, 2 * j - n] if 2 * j > n else s
    return o, p


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16])
@pytest.mark.parametrize("kernel", [stored_if, stored_elsewhere, last_of], ids=lambda k: k.__name__)
def test_masked_branches(kernel, dtype, rng):
    for rows, columns, terms in [(3, 1, 2), (2, 67, 3), (4, 97, 5), (2, 130, 0)]:
        x, w = (rng.integers(-3, 4, (n, columns)).astype(dtype) for n in (rows, terms))
        memory = [np.full(x.size + 64, 9, dtype) for _ in range(2)]
        o, p = (m[32 : 32 + x.size].reshape(x.shape) for m in memory)
        wanted = expected(kernel, o, p, x, w)
        kernel(o, p, x, w, ndrange=x.shape)
        np.testing.assert_array_equal(o, wanted[0])
        np.testing.assert_array_equal(p, wanted[1])
        assert all((m[:32] == 9).all() and (m[-32:] == 9).all() for m in memory)
