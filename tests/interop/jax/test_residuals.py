"""Reverse mode keeps residuals of a primitive, in place of computing the forward sweep again."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

jax = need_package("jax")

jnp = need_package("jax.numpy")

import pykern.jax as pkj  # noqa: E402
from pykern.jax.halves import halves_of  # noqa: E402
from tests.interop.jax.functions import cube  # noqa: E402

RANDOM = np.random.default_rng(20)


@pk.jit
def layer(x, w, b):
    h = pk.tanh(x @ w + b)
    return h / (1.0 + pk.exp(h).sum(axis=1, keepdims=True))


def plain(x, w, b):
    h = jnp.tanh(x @ w + b)
    return h / (1.0 + jnp.exp(h).sum(axis=1, keepdims=True))


primitive = pkj.primitive(layer)


def given(*shape):
    return jnp.asarray(RANDOM.standard_normal(shape), jnp.float32)


X, W, B = given(7, 5), given(5, 3), given(3)
MANY = given(4, 7, 5)
ORDER = (0, 1, 2)


def loss(f):
    return lambda x, w, b: (f(x, w, b) ** 2).sum()


def batch(f):
    return lambda x, w, b: jax.vmap(f, (0, None, None))(x, w, b).sum()


def repeated(f):
    def total(x, w, b):
        def step(carry, _):
            return carry + f(x, w, carry).sum(0), None

        return (jax.lax.scan(step, b, None, length=3)[0] ** 2).sum()

    return total


def squares(f):
    return lambda x, w, b: sum((g**2).sum() for g in jax.grad(loss(f), ORDER)(x, w, b))


TAKEN = {
    "grad": (lambda f: jax.grad(loss(f), ORDER), X),
    "jit": (lambda f: jax.jit(jax.value_and_grad(loss(f), ORDER)), X),
    "one": (lambda f: jax.grad(loss(f), 1), X),
    "vmap of grad": (lambda f: jax.vmap(jax.grad(loss(f), ORDER), (0, None, None)), MANY),
    "grad of vmap": (lambda f: jax.grad(batch(loss(f)), ORDER), MANY),
    "jacrev": (lambda f: jax.jacrev(f, ORDER), X),
    "grad of grad": (lambda f: jax.jit(jax.grad(squares(f), ORDER)), X),
    "jacfwd of grad": (lambda f: jax.jacfwd(squares(f), 1), X),
    "scan": (lambda f: jax.grad(repeated(f), ORDER), X),
    "checkpoint": (lambda f: jax.grad(jax.checkpoint(lambda *a: loss(f)(*a) ** 2), ORDER), X),
    "linearize": (lambda f: lambda *a: jax.linearize(f, *a)[1](*a), X),
}


QUICK = ("jit", "vmap of grad")


@pytest.mark.parametrize(
    "way", [way if way in QUICK else pytest.param(way, marks=pytest.mark.slow) for way in TAKEN]
)
def test_gradients_are_those_of_jax(way):
    take, x = TAKEN[way]
    found, wanted = take(primitive)(x, W, B), take(plain)(x, W, B)
    jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, rtol=5e-4, atol=2e-5), found, wanted)


def calls(function, *args):
    """The calls of ours in what JAX traces."""
    equations = jax.make_jaxpr(function)(*args).jaxpr.eqns
    return [e.params["call"] for e in equations if e.primitive.name == "pykern"]


def test_products_are_computed_once():
    forward, pulled = calls(jax.grad(loss(primitive), ORDER), X, W, B)
    halves = forward.halves
    assert pulled.halves is halves is not None
    assert halves.forward.text.count("einsum") == 1
    assert halves.backward.text.count("einsum") == 2, "one for x, one for w"
    assert pulled.callee.text.count("einsum") == 3, "from the arguments alone it would be computed again"


def test_forward_mode_keeps_nothing():
    for function in (
        lambda: jax.jvp(primitive, (X, W, B), (X, W, B)),
        lambda: jax.linearize(primitive, X, W, B)[0],
    ):
        assert all(call.halves is None for call in calls(function))


def test_arguments_are_no_residuals():
    """Where the gradient needs them alone, it is one program of them, as before."""
    cubed = pkj.primitive(cube, out={"o": pkj.like("x")})
    callee, _ = cubed.described((X,), {})
    assert halves_of(callee, (0,)) is None
    assert all(call.halves is None for call in calls(jax.grad(lambda x: cubed(x).sum()), X))


@pk.jit
def normed(x):
    d = x - x.mean(axis=1, keepdims=True)
    return d / pk.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-3)


def test_sweeps_are_repeated():
    """Where no product, loop or launch is saved, results of sweeps are not written to be read again."""
    sweeping = pkj.primitive(normed)
    callee, _ = sweeping.described((X,), {})
    assert halves_of(callee, (0,)) is None

    def plain(x):
        d = x - x.mean(axis=1, keepdims=True)
        return d / jnp.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-3)

    found, wanted = (jax.grad(lambda x, f=f: (f(x) ** 3).sum())(X) for f in (sweeping, plain))
    np.testing.assert_allclose(found, wanted, rtol=5e-4, atol=2e-5)


def test_what_follows_from_arguments_is_no_residual():
    """An argument costs nothing to keep: what sweeps make of it and of sums over rows is computed again."""
    several = pkj.primitive(pk.jit(lambda x, w, b: pk.tanh(normed(x) @ w + b) ** 2))
    callee, _ = several.described((X, W, B), {})
    halves = halves_of(callee, ORDER)
    assert halves is not None
    own = [tuple(r.shape) for r in halves.forward.code.results[halves.first :]]
    assert (7, 5) not in own and (7, 3) in own, own


def test_cotangents_of_some_results():
    both = pkj.primitive(pk.jit(lambda x: (pk.exp(x), pk.tanh(x) * 2.0, x > 0.0)))

    def of(x):
        return jnp.exp(x), jnp.tanh(x) * 2.0, x > 0.0

    for n in (0, 1):
        found = jax.grad(lambda x, n=n: (both(x)[n] ** 2).sum())(X)
        wanted = jax.grad(lambda x, n=n: (of(x)[n] ** 2).sum())(X)
        np.testing.assert_allclose(found, wanted, rtol=2e-5)


def test_export_for_other_platforms():
    exported = pkj.export(jax.grad(loss(primitive), ORDER), platforms=("tpu",))(X, W, B)
    text = exported.mlir_module()
    assert "custom_call" not in text and "tanh" in text
