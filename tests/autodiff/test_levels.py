"""The gradient of a kernel on whole arrays, against the one work-item by work-item; and which is taken."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

random = np.random.default_rng(31)


@pk.kernel
def heat(after, before, c, dx):
    i, j = pk.index()
    if 0 < i < before.shape[0] - 1 and 0 < j < before.shape[1] - 1:
        after[i, j] = before[i, j] + c[i, j] * before[i, j] * (
            (before[i + 1, j] - 2 * before[i, j] + before[i - 1, j]) / dx**2
            + (before[i, j + 1] - 2 * before[i, j] + before[i, j - 1])
        )


@pk.kernel
def softmax(y, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(1, x.shape[1]):
        m = max(m, x[i, j])
    s = 0.0
    for j in range(x.shape[1]):
        s += pk.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        y[i, j] = pk.exp(x[i, j] - m) / s


@pk.kernel
def product(c, a, b):
    i, j = pk.index()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@pk.kernel
def in_place(y, x):
    i = pk.index()
    y[i] = y[i] * x[i] + pk.sin(y[i])


@pk.kernel
def every_other(y, x):
    i = pk.index()
    y[i] = x[i] * x[i + 1]


@pk.kernel
def recurrence(y, x):
    i = pk.index()
    v = x[i]
    for _ in range(x.shape[0]):
        v = v * v * 0.5 + 0.1
    y[i] = v


@pk.kernel
def run_time_while(y, x):
    i = pk.index()
    v = x[i]
    while v > 0.3:
        v = v * 0.7
    y[i] = v


RAISED = {
    "stencil": (heat, lambda: [np.zeros((7, 9)), random.random((7, 9)), random.random((7, 9)), 0.5], (7, 9)),
    "softmax": (softmax, lambda: [np.zeros((5, 8)), random.random((5, 8))], 5),
    "matmul": (product, lambda: [np.zeros((4, 6)), random.random((4, 5)), random.random((5, 6))], (4, 6)),
    "in place": (in_place, lambda: [random.random(9), random.random(9)], 9),
    "ranges": (every_other, lambda: [np.zeros(12), random.random(12)], (range(1, 11, 2),)),
}


def shadows(args):
    return [
        pk.Dup(a, random.random(a.shape)) if isinstance(a, np.ndarray) else pk.Dup(a, np.zeros(()))
        for a in args
    ]


@pytest.mark.parametrize("name", RAISED)
def test_both_levels_agree(name):
    kernel, make, ndrange = RAISED[name]
    args = make()
    first = shadows(args)
    second = [pk.Dup(d.value.copy() if np.ndim(d.value) else d.value, d.shadow.copy()) for d in first]
    pk.autodiff(kernel, level="raised")(*first, ndrange=ndrange)
    pk.autodiff(kernel, level="direct")(*second, ndrange=ndrange)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a.shadow, b.shadow, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(a.value, b.value)


@pytest.mark.parametrize("name", RAISED)
def test_raised_against_finite_differences(name):
    kernel, make, ndrange = RAISED[name]
    pk.check_grads(kernel, tuple(make()), ndrange=ndrange, level="raised", rtol=2e-7)


def test_lowered_says_which_level():
    x = random.random(6)
    dup = [pk.Dup(np.zeros(6), np.ones(6)), pk.Dup(x, np.zeros(6))]
    assert pk.autodiff(in_place).lower(*dup, ndrange=6).level == "raised"
    assert pk.autodiff(in_place, level="direct").lower(*dup, ndrange=6).level == "direct"
    assert pk.autodiff(recurrence).lower(*dup, ndrange=6).level == "direct"  # a loop stays
    assert pk.autodiff(recurrence, level="raised").lower(*dup, ndrange=6).level == "raised"
    assert pk.autodiff(run_time_while).lower(*dup, ndrange=6).level == "direct"
    unknown = pk.spec(None, pk.f64)
    lowered = pk.autodiff(in_place).lower(pk.Dup(unknown, unknown), pk.Dup(unknown, unknown), ndrange="n")
    assert lowered.level == "direct"


def test_what_does_not_raise_says_why_where_it_was_asked_for():
    x = random.random(6)
    with pytest.raises(pk.NotRaisable, match="while"):
        pk.autodiff(run_time_while, level="raised")(
            pk.Dup(np.zeros(6), np.ones(6)), pk.Dup(x, np.zeros(6)), ndrange=6
        )


def test_auto_takes_the_direct_way_where_it_must():
    x, dx = random.random(6), np.zeros(6)
    pk.autodiff(run_time_while)(pk.Dup(np.zeros(6), np.ones(6)), pk.Dup(x, dx), ndrange=6)
    steps = np.where(x > 0.3, np.ceil(np.log(0.3 / x) / np.log(0.7)), 0)
    np.testing.assert_allclose(dx, 0.7**steps, rtol=1e-12)
    pk.autodiff(in_place)(pk.Dup(x[:0], x[:0].copy()), pk.Dup(dx[:0], dx[:0].copy()), ndrange=0)


def test_strided_arrays():
    x, dx = random.random(12)[::2], np.zeros(18)[::3]
    y, dy = random.random(6), np.ones(6)
    expected = dx.copy(), dy.copy()
    pk.autodiff(in_place, level="direct")(pk.Dup(y, expected[1]), pk.Dup(x, expected[0]), ndrange=6)
    pk.autodiff(in_place, level="raised")(pk.Dup(y, dy), pk.Dup(x, dx), ndrange=6)
    np.testing.assert_allclose(dx, expected[0])
    np.testing.assert_allclose(dy, expected[1])


def test_overlapping_arrays_are_refused_on_every_level():
    x = np.ones(8)
    with pytest.raises(pk.NotDifferentiable, match="overlap"):
        pk.autodiff(in_place)(pk.Dup(x, np.ones(8)), pk.Dup(x, np.ones(8)), ndrange=8)
