"""Derivatives and batches of primitives, against those of the same functions in JAX."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern import errors
from pykern.pytest_plugin import need_package

jax = need_package("jax")

jnp = need_package("jax.numpy")

import pykern.jax as pkj  # noqa: E402
from tests.interop.jax.functions import axpy, cube, softmax  # noqa: E402

RANDOM = np.random.default_rng(6)
saxpy = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=lambda x, y, a: x.shape)
cubed = pkj.primitive(cube, out={"o": pkj.like("x")})
soft = pkj.primitive(softmax)


def given(*shape):
    return jnp.asarray(RANDOM.standard_normal(shape).astype(np.float32))


def plain(x, y, a):
    return a * x + y


def agree(found, wanted):
    jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, rtol=2e-4, atol=1e-5), found, wanted)


X, Y = given(5), given(5)


@pytest.mark.parametrize("order", [(0,), (1, 2), (0, 1, 2)])
def test_grad(order):
    def loss(f):
        return lambda *args: (f(*args) ** 2).sum()

    agree(jax.grad(loss(saxpy), order)(X, Y, 1.5), jax.grad(loss(plain), order)(X, Y, 1.5))
    agree(jax.jit(jax.grad(loss(saxpy), order))(X, Y, 1.5), jax.grad(loss(plain), order)(X, Y, 1.5))


def test_forward():
    agree(jax.jvp(saxpy, (X, Y, 2.0), (Y, X, 1.0)), jax.jvp(plain, (X, Y, 2.0), (Y, X, 1.0)))
    agree(jax.linearize(lambda x: cubed(x), X)[1](Y), 3 * X**2 * Y)


@pytest.mark.parametrize(
    "take", [jax.hessian, lambda f: jax.jacrev(jax.jacfwd(f)), lambda f: jax.jacrev(jax.grad(f))]
)
def test_second_order(take):
    agree(take(lambda x: cubed(x).sum())(X), np.diag(6 * X))


@pytest.mark.parametrize("take", [jax.hessian, lambda f: jax.jacfwd(jax.grad(f))])
def test_second_order_by_a_number(take):
    """A number of Python has 64 bits, and its cotangent 32 where JAX has no others."""

    def loss(f):
        return lambda a: (f(X, Y, a) ** 2).sum()

    agree(take(loss(saxpy))(1.5), take(loss(plain))(1.5))
    agree(jax.grad(jax.grad(loss(saxpy)))(1.5), 2 * (X**2).sum())


@pytest.mark.parametrize("axes", [(0, 0, None), (0, None, None), (None, 1, 0), (None, None, 0)])
def test_vmap(axes):
    kinds = {0: given(3, 5), 1: given(5, 3)}
    x, y = (v if a is None else kinds[a] for a, v in zip(axes, (X, Y), strict=False))
    a = given(3) if axes[2] == 0 else 0.5
    agree(jax.vmap(saxpy, axes)(x, y, a), jax.vmap(plain, axes)(x, y, a))
    agree(jax.jit(jax.vmap(saxpy, axes, 1))(x, y, a), jax.vmap(plain, axes, 1)(x, y, a))


def test_vmap_of_vmap():
    x, y = given(3, 5), given(2, 5)

    def both(f):
        return jax.vmap(jax.vmap(f, (None, 0, None)), (0, None, None))(x, y, 2.0)

    agree(both(saxpy), both(plain))


def test_vmap_and_grad():
    x = given(3, 5)

    def each(f):
        return jax.vmap(jax.grad(lambda x: (f(x, Y, 2.0) ** 2).sum()))(x)

    def shared(f):
        return jax.grad(lambda y: (jax.vmap(lambda x: f(x, y, 2.0))(x) ** 2).sum())(Y)

    agree(each(saxpy), each(plain))
    agree(shared(saxpy), shared(plain))


def test_empty_batch():
    assert jax.vmap(saxpy, (0, None, None))(jnp.zeros((0, 5)), Y, 2.0).shape == (0, 5)


def test_program():
    x = given(4, 7)
    agree(jax.grad(lambda x: (soft(x) ** 2).sum())(x), jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum())(x))
    agree(jax.vmap(soft)(given(3, 4, 7)).sum(-1), jnp.ones((3, 4)))


def test_control_flow():
    def repeated(f):
        def loss(x):
            end, _ = jax.lax.scan(lambda c, _: (f(c, Y, 0.5), None), x, None, length=4)
            return jax.lax.cond(end.sum() > 100, lambda e: e, lambda e: f(e, e, 1.0), end).sum()

        return jax.value_and_grad(loss)(X)

    agree(repeated(saxpy), repeated(plain))


def test_checkpoint():
    def loss(f):
        return jax.grad(jax.checkpoint(lambda x: (f(x, Y, 2.0) ** 3).sum()))(X)

    agree(loss(saxpy), loss(plain))


def test_a_programs_own_policy():
    """`pk.checkpoint` on a program: what its loop keeps."""

    @pk.checkpoint(pk.every(2))
    @pk.jit
    def repeated(x):
        for _ in range(5):
            x = np.tanh(x * x + x)
        return x

    def expected(x):
        for _ in range(5):
            x = jnp.tanh(x * x + x)
        return x

    primitive = pkj.primitive(repeated)
    for take in (lambda f: jax.grad(lambda x: (f(x) ** 2).sum()), lambda f: jax.vmap(jax.grad(f))):
        agree(take(primitive)(X), take(expected)(X))
    [derivative] = primitive.described((X,), {})[0].pulled((0,)).source.derivatives
    assert derivative.checkpoint == "every(2)"


def test_integers_have_no_tangent():
    @pk.kernel
    def pick(o, x, at):
        i = pk.index()
        o[i] = 2.0 * x[at[i]]

    picked = pkj.primitive(pick, out={"o": pkj.like("x")})
    at = jnp.array([4, 3, 2, 1, 0])
    agree(jax.grad(lambda x: (picked(x, at) * Y).sum())(X), 2 * Y[::-1])


@pk.custom_vjp
def clipped(x):
    return np.minimum(x, 1.0)


def _forward(x):
    return clipped(x), x


def _backward(x, cotangent):
    return (cotangent * 3.0,)


clipped.defvjp(_forward, _backward)


@pk.jit
def uses_clipped(x):
    return clipped(x) * 2.0


def test_custom_derivative():
    made = pkj.primitive(uses_clipped)
    agree(jax.grad(lambda x: made(x).sum())(X), jnp.full(5, 6.0))
    with pytest.raises(errors.NotDifferentiable, match="reverse mode"):
        jax.jvp(made, (X,), (X,))


def test_what_has_no_derivative_is_refused():
    @pk.kernel
    def swept(o, x):
        i = pk.index()
        o[i] = o[i - 1] * x[i] if i > 0 else x[i]

    made = pkj.primitive(swept, out={"o": pkj.like("x")})
    assert made(jnp.ones(3)).shape == (3,)
    with pytest.raises(errors.NotDifferentiable):
        jax.grad(lambda x: made(x).sum())(jnp.ones(3))
