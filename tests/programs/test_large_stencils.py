"""Stencils over arrays that no cache holds, as slices and as launched kernels: they are streamed, and right."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.environment.machine import cache_bytes


@pk.kernel
def smooth(y, x):
    i, j = pk.index()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j] + x[i - 1, j])


@pk.jit
def launched(x, y, steps):
    for _ in pk.range(steps):
        smooth(y, x, ndrange=x.shape)
        smooth(x, y, ndrange=x.shape)


@pk.jit
def sliced(x):
    y = x.copy()
    y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])
    return y


def once(x):
    y = x.copy()
    y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])
    return y


@pytest.mark.parametrize("shape", [(1601, 2701), (3, 1_500_007)])
def test_against_slices_of_numpy(shape):
    x = np.random.default_rng(3).standard_normal(shape)
    exact = once(once(x))
    before = pk.get_num_threads()
    try:
        for threads in (1, 2):
            pk.set_num_threads(threads)
            one, other = x.copy(), x.copy()
            launched(one, other, 1)
            np.testing.assert_allclose(one, exact, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(sliced(sliced(x)), exact, rtol=1e-12, atol=1e-12)
    finally:
        pk.set_num_threads(before)
    stages = {s.name: s.text for s in launched.lower(x, x.copy(), 1).stages}
    name = next(n for n in stages if n.startswith("kern-vectorize-streams"))
    assert stages[name].count("nontemporal") == (2 if 2 * x.nbytes >= cache_bytes() else 0)
