"""A sum that is stored under a condition is read where it was stored only where that condition holds."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.raised import check


@pk.kernel
def or_else(o, y, x, a):
    i = pk.index()
    r = 0.0
    for j in range(5):
        r += pk.sqrt(a[i, j])
    if r == r:
        o[i] = r
    else:
        o[i] = x[i]


@pk.kernel
def once_more(o, y, x, a):
    i = pk.index()
    r = 0.0
    for j in range(5):
        r += pk.sqrt(a[i, j])
    if r == r:
        o[i] = r
    if r == r:
        y[i] = r * x[i]


@pk.kernel
def the_opposite(o, y, x, a):
    i = pk.index()
    r = 0.0
    for j in range(5):
        r += a[i, j] * a[i, j]
    if r > 4:
        o[i] = r
    if r <= 4:
        y[i] = x[i] + r


@pk.kernel
def another(o, y, x, a):
    i = pk.index()
    r = 0.0
    for j in range(5):
        r += a[i, j] * a[i, j]
    if x[i] > 0:
        o[i] = r
    y[i] = r * x[i]


@pk.kernel
def the_same(o, y, x, a):
    i = pk.index()
    r = 0.0
    for j in range(5):
        r += a[i, j] * a[i, j]
    if x[i] > 0:
        o[i] = r
        y[i] = r * x[i]
    else:
        y[i] = r


KERNELS = [or_else, once_more, the_opposite, another, the_same]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_raised_kernel(rng, kernel):
    a = rng.standard_normal((11, 5))
    a[::2] = np.abs(a[::2])
    check(kernel, (np.full(11, 5.0), np.full(11, 3.0), rng.standard_normal(11), a), 11)


@pytest.mark.parametrize("kernel", [once_more, another], ids=lambda kernel: kernel.__name__)
def test_derivative(rng, kernel):
    a = np.abs(rng.standard_normal((7, 5))) + 0.1
    pk.check_grads(kernel, (np.full(7, 5.0), np.full(7, 3.0), rng.standard_normal(7), a), ndrange=7)
