"""Primitives of several results, of bools and of short floats under JAX's transformations and control flow."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

jax = need_package("jax")

jnp = need_package("jax.numpy")

import pykern.jax as pkj  # noqa: E402
from tests.interop.jax.functions import softmax  # noqa: E402


@pk.kernel
def two(s, p, x, y):
    i = pk.index()
    s[i] = x[i] * x[i] + y[i]
    p[i] = x[i] * y[i]


@pk.kernel
def counted(o, k, x, n):
    i = pk.index()
    o[i] = x[i] * n[i]
    k[i] = n[i] * 2


@pk.kernel
def chosen(o, b, x):
    i = pk.index()
    if b[i]:
        o[i] = x[i] * x[i]


both = pkj.primitive(two, out={"s": pkj.like("x"), "p": pkj.like("x")})
count = pkj.primitive(counted, out={"o": pkj.like("x"), "k": pkj.like("n")})
choose = pkj.primitive(chosen, out={"o": pkj.like("x")}, ndrange=lambda b, x: x.shape)
soft = pkj.primitive(softmax)
X, Y = (jnp.asarray(v) for v in np.random.default_rng(0).standard_normal((2, 3, 5), np.float32))


def both_expected(x, y):
    return x * x + y, x * y


def agree(found, expected, rtol=1e-5):
    for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(np.asarray(mine, float), np.asarray(theirs, float), rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    ("dims", "out"),
    [(0, 0), ((0, None), 0), pytest.param((None, 1), 1, marks=pytest.mark.slow), ((1, 1), (0, 1))],
)
def test_batches_along_any_axis(dims, out):
    each = dims if isinstance(dims, tuple) else (dims, dims)
    given = [v[0] if d is None else v.T if d == 1 else v for v, d in zip((X, Y), each, strict=True)]
    agree(jax.vmap(both, dims, out)(*given), jax.vmap(both_expected, dims, out)(*given))


@pytest.mark.slow
def test_derivatives_of_several_results():
    x, y = X[0], Y[0]
    for take in (lambda f: jax.jacfwd(f, (0, 1)), lambda f: jax.jacrev(f, (0, 1))):
        agree(take(both)(x, y), take(both_expected)(x, y))
    found = []
    for function in (both, both_expected):
        values, push = jax.linearize(function, x, y)
        pull = jax.linear_transpose(push, x, y)
        batch = jax.vmap(push, (0, None))(X, x)
        found.append((values, push(y, x), pull(values), batch))
    agree(*found)


def test_integers_and_bools():
    x, n, b = X[0], jnp.arange(5), jnp.array([True, False, True, True, False])
    none = np.zeros(5, jax.dtypes.float0)
    (o, k), pull = jax.vjp(count, x, n)
    agree((o, k), (x * n, n * 2))
    by_x, by_n = pull((jnp.ones(5), none))
    assert by_n.dtype == jax.dtypes.float0
    agree(by_x, n.astype(x.dtype))
    _, (tangent, of_integers) = jax.jvp(count, (x, n), (jnp.ones(5), none))
    assert of_integers.dtype == jax.dtypes.float0
    agree(tangent, n.astype(x.dtype))
    agree(choose(b, x), jnp.where(b, x * x, 0))
    agree(jax.grad(lambda x: choose(b, x).sum())(x), jnp.where(b, 2 * x, 0))


@pytest.mark.slow
def test_loops_and_branches():
    def through(soft):
        def loss(x):
            x = jax.lax.fori_loop(0, 3, lambda k, x: soft(x) * (k + x), x)
            x = jax.lax.switch(1, [soft, lambda x: soft(x) * x], x)
            return jax.lax.map(soft, jnp.stack([x, 2 * x])).std()

        def until(x):
            return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (soft(c[0]) * 2, c[1] + 1), (x, 0))[0]

        return jax.value_and_grad(loss)(X[0]), jax.jvp(until, (X[0],), (Y[0],)), jax.vmap(until)(X)

    agree(through(soft), through(jax.nn.softmax))


def test_nothing_at_all():
    empty = jnp.zeros(0)
    agree(both(empty, empty), (empty, empty))
    agree(jax.grad(lambda x: both(x, x)[0].sum())(empty), empty)
    agree(jax.jit(jax.vmap(soft))(jnp.zeros((0, 4))), jnp.zeros((0, 4)))


def test_short_floats():
    x, y = X[0].astype(jnp.bfloat16), Y[0].astype(jnp.bfloat16)
    agree(jax.jvp(both, (x, y), (y, x)), jax.jvp(both_expected, (x, y), (y, x)), 3e-2)
    agree(jax.grad(lambda x: soft(x)[0])(x), jax.grad(lambda x: jax.nn.softmax(x)[0])(x), 3e-2)
