"""Functions that bring their own derivative."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

random = np.random.default_rng(41)


@pk.custom_vjp
def clipped(x, limit):
    """Clips the value, and lets every cotangent through (a straight-through estimator)."""
    return pk.minimum(x, limit)


def clipped_forward(x, limit):
    return pk.minimum(x, limit), (x, 3)


def clipped_backward(kept, cotangent):
    x, factor = kept
    return cotangent * factor + x * 0.0, None


clipped.defvjp(clipped_forward, clipped_backward)


@pk.jit
def loss(x, limit):
    y = x * x
    for _ in pk.range(2):
        y = clipped(y, limit) + x
    return y.sum()


def test_the_value_is_the_functions():
    x = random.random(7)
    y = x * x
    for _ in range(2):
        y = np.minimum(y, 0.25) + x
    np.testing.assert_allclose(loss(x, 0.25), y.sum(), rtol=1e-14)
    np.testing.assert_array_equal(clipped(x, 0.25), np.minimum(x, 0.25))  # outside of programs, too


def test_the_gradient_is_what_backward_says():
    x = random.random(7)
    np.testing.assert_allclose(pk.grad(loss)(x, 0.25), 9 * 2 * x + 3 + 1, rtol=1e-13)


@pk.custom_vjp
def normalised(x, w):
    return x / x.sum() * w


def normalised_forward(x, w):
    total = x.sum()
    return x / total * w, (x, w, total)


def normalised_backward(kept, g):
    x, w, total = kept
    gw = g * w
    return gw / total - (gw * x).sum() / (total * total), g * x / total


normalised.defvjp(normalised_forward, normalised_backward)


def test_a_right_pair_agrees_with_the_rules():
    x, w, v = random.random(5), random.random(5), random.random(5)

    @pk.jit
    def custom(x, w):
        return pk.sin(normalised(x, w))

    @pk.jit
    def plain(x, w):
        return pk.sin(x / x.sum() * w)

    expected = pk.vjp(plain, x, w)[1](v)
    for found, wanted in zip(pk.vjp(custom, x, w)[1](v), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_hessian_through_backward():
    x, w, v = random.random(4), random.random(4), random.random(4)

    @pk.jit
    def custom(x):
        return (normalised(x, x) ** 2).sum()

    @pk.jit
    def plain(x):
        return ((x / x.sum() * x) ** 2).sum()

    np.testing.assert_allclose(pk.hvp(custom, (x,), (v,)), pk.hvp(plain, (x,), (v,)), rtol=1e-12)
    assert w.size == 4


def test_refusals():
    @pk.custom_vjp
    def without(x):
        return x * 2.0

    @pk.jit
    def uses(x):
        return without(x).sum()

    with pytest.raises(pk.KernelTypeError, match="defvjp"):
        uses(np.ones(3))
    with pytest.raises(pk.KernelTypeError, match="two functions"):
        without.defvjp(1, 2)
    with pytest.raises(pk.NotDifferentiable, match="reverse mode"):
        pk.jvp(loss, (np.ones(3), 0.5), (np.ones(3), None))
    without.defvjp(lambda_pair, one_too_many)
    with pytest.raises(pk.KernelTypeError, match="2 cotangents for 1 arguments"):
        uses(np.ones(3))


def lambda_pair(x):
    return x * 2.0, x


def one_too_many(kept, g):
    return g, g


def test_forward_may_call_the_function():
    """As in JAX: inside of its own forward function the name means the plain function."""

    @pk.custom_vjp
    def sign(x):
        return pk.where(x > 0, 1.0, -1.0)

    def forward(x):
        return sign(x), (x,)

    def backward(kept, cotangent):
        return (cotangent * (pk.abs(kept[0]) <= 1),)

    sign.defvjp(forward, backward)

    @pk.jit
    def total(x):
        return (sign(x) * x).sum()

    x = np.array([-0.5, 2.0, 0.25])
    np.testing.assert_array_equal(pk.grad(total)(x), np.sign(x) + x * (np.abs(x) <= 1))


def test_backward_may_not_call_the_function():
    @pk.custom_vjp
    def same(x):
        return x

    def forward(x):
        return x, x

    def backward(kept, cotangent):
        return (same(kept) * cotangent,)

    same.defvjp(forward, backward)

    @pk.jit
    def total(x):
        return same(x).sum()

    with pytest.raises(pk.KernelTypeError, match="calls itself"):
        pk.grad(total)(np.ones(3))
