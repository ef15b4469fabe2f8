"""Second derivatives of programs that launch kernels which stay launches, against differences of gradients."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def settled(y, x, n, a):
    i = pk.index()
    s = x[i] * a
    m = 0
    while s < 10.0 and m < n:
        s = s * s + 0.5
        m += 1
    y[i] += s * y[i]


@pk.kernel
def collected(total, x, w):
    i = pk.index()
    s = x[i]
    while s > 1.0:
        s = s * 0.5 * w[i]
    pk.atomic_add(total, 0, s * s)


@pk.kernel
def rooted(y, x):
    i = pk.index()
    s, m = x[i], 0
    while m < 1 and s >= 0.0:
        s = pk.sqrt(s)
        m += 1
    y[i] = s


@pk.jit
def scalars_and_updates(x, a):
    y = pk.sin(x)
    settled(y, x, 3, a, ndrange=x.shape[0])
    settled(y, x * y, 2, a * a, ndrange=x.shape[0])
    return (y * y).sum()


@pk.jit
def sums(x, w):
    total = pk.zeros(1)
    collected(total, x * x, w, ndrange=x.shape[0])
    return total[0] * total[0]


@pk.jit
def in_a_loop(x, w):
    for _ in pk.range(3):
        y = x * w
        settled(y, x, 1, 0.5, ndrange=x.shape[0])
        x = pk.tanh(y) + x
    return (x * x).sum()


X = np.array([0.3, 0.7, 1.5, 0.2, 0.9])
W = np.array([0.9, 0.8, 0.7, 1.0, 0.95])
CASES = {scalars_and_updates: (X, 0.8), sums: (X + 1, W), in_a_loop: (X, W)}


def moved(values, tangents, step):
    return [v + step * t for v, t in zip(values, tangents, strict=True)]


@pytest.mark.parametrize("program", CASES)
def test_hessian_vector_products(program):
    values = CASES[program]
    tangents = [np.cos(3 + np.arange(np.size(v), dtype=float)).reshape(np.shape(v)) for v in values]
    tangents = [t if t.ndim else float(t) for t in tangents]
    slopes = pk.grad(program, argnums=(0, 1))
    after, before = slopes(*moved(values, tangents, 1e-6)), slopes(*moved(values, tangents, -1e-6))
    found = pk.hvp(program, values, tuple(tangents))
    for curvature, high, low in zip(found, after, before, strict=True):
        np.testing.assert_allclose(curvature, (high - low) / 2e-6, rtol=2e-7, atol=1e-6)


def test_forward_mode_twice():
    @pk.jit
    def twice(x):
        def once(x):
            y = pk.cos(x)
            settled(y, x, 2, 0.5, ndrange=5)
            return (y * y).sum()

        return pk.jvp(once, (x,), (pk.ones_like(x),))[1]

    value, tangent = pk.jvp(twice, (X,), (W,))
    step = 1e-6
    np.testing.assert_allclose(tangent, (twice(X + step * W) - twice(X - step * W)) / 2e-6, rtol=1e-7)
    np.testing.assert_allclose(pk.grad(twice)(X) @ W, tangent, rtol=1e-12)
    assert value == twice(X)


@pk.jit
def chosen(x):
    y = pk.zeros_like(x)
    rooted(y, x, ndrange=x.shape[0])
    return pk.where(x > 0, y, 0.0).sum()


def test_what_is_not_taken_has_no_second_derivative():
    x, v = np.array([0.0, -1.0, 4.0, 0.25]), np.array([1.0, 2.0, 3.0, 4.0])
    curvature = np.where(x > 0, -0.25 * np.maximum(x, 0.1) ** -1.5, 0.0)
    np.testing.assert_allclose(pk.hvp(chosen, (x,), (v,)), curvature * v, rtol=1e-12)


def test_reverse_over_reverse_is_refused_at_the_launch():
    @pk.jit
    def slope(x):
        return pk.grad(chosen)(x).sum()

    with pytest.raises(pk.NotDifferentiable, match="has no derivative in reverse mode") as raised:
        pk.grad(slope)(X)
    assert "rooted(y, x, ndrange=x.shape[0])" in str(raised.value)
    assert "use pk.hvp" in str(raised.value)
