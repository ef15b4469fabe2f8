"""Array programs give arrays of JAX where they are given some."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError
from pykern.pytest_plugin import need_package

jax = need_package("jax")
jnp = need_package("jax.numpy")

import pykern.jax as pkj  # noqa: E402
from tests.interop.jax.functions import softmax, stats  # noqa: E402


def test_results_are_arrays_of_jax():
    x = jnp.asarray(np.random.default_rng(8).standard_normal((3, 4)), jnp.float32)
    for _ in range(4):  # the compiled entry takes the later ones
        found = softmax(x)
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(found, jax.nn.softmax(x), rtol=1e-5)
    assert isinstance(softmax(np.asarray(x)), np.ndarray)
    found = stats({"x": x, "y": np.asarray(x)}, 2)
    assert isinstance(found["scaled"], jax.Array)
    out = np.empty((3, 4), np.float32)
    assert softmax(x, out=out) is out


def test_complex_arrays():
    """As a program and as a primitive, with derivatives by JAX's convention and the portable source."""

    def wave(z, w, x):
        return z * w + 2j, (np.conj(z) * w).sum(), abs(w - x)

    def expected(z, w, x):
        return z * w + 2j, (jnp.conj(z) * w).sum(), jnp.abs(w - x)

    def loss(function):
        return lambda *given: sum((abs(r * (1 + 2j)) + r.real).sum() for r in function(*given))

    random = np.random.default_rng(3)
    z, w = (jnp.asarray(random.normal(size=(2, 5, 2)) @ (1, 1j), jnp.complex64) for _ in range(2))
    given = z[0], w[0], z[1].real
    program = pk.jit(wave)
    ours = pkj.primitive(program)
    callee, arguments = ours.described(given, {})
    pairs = [
        (program(*given), expected(*given)),
        (callee.build(callee.portable(*arguments.arrays)), expected(*given)),
        *(
            (way(ours), way(expected))
            for way in (
                lambda f: jax.jit(jax.grad(loss(f), (0, 1, 2)))(*given),
                lambda f: jax.vmap(f, (0, None, None))(z, *given[1:]),
            )
        ),
    ]
    for found, wanted in pairs:
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, 2e-5, 2e-5)


def test_large_results_are_not_copied():
    @pk.jit
    def doubled(x):
        return x * 2

    x = jnp.ones((1024, 1024))
    np.testing.assert_array_equal(doubled(x), np.full((1024, 1024), 2.0))
    assert doubled(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16


def test_derivatives_are_arrays_of_jax():
    x = jnp.ones((2, 3))
    value, pull = pk.vjp(softmax, x)
    assert isinstance(value, jax.Array)
    assert isinstance(pull(np.ones((2, 3), np.float32))[0], jax.Array)


def test_tracers_are_told_of_primitives():
    with pytest.raises(KernelTypeError, match=r"pykern\.jax\.primitive"):
        jax.jit(softmax)(jnp.ones((2, 3)))


LOSSES = {
    "sum": (lambda x, a: (x * x).sum() * a, lambda x, a: (x * x).sum() * a),
    "element": (lambda x, a: x[0] * x[1] + a, lambda x, a: x[0] * x[1] + a),
    "mean of some": (
        lambda x, a: pk.where(x > a, x, 0).sum() / (x > a).sum().astype(x.dtype),
        lambda x, a: jnp.where(x > a, x, 0).sum() / (x > a).sum(),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_programs_that_return_a_number_are_differentiated(name):
    ours, theirs = LOSSES[name]
    ours = pkj.primitive(pk.jit(ours))
    x = jnp.asarray(np.random.default_rng(9).standard_normal(7) + 2, jnp.float32)
    for transformed in (
        lambda f: jax.jit(jax.value_and_grad(f, argnums=(0, 1))),
        lambda f: jax.hessian(f),
        lambda f: lambda x, a: jax.vmap(jax.grad(f), in_axes=(0, None))(jnp.stack([x, 2 * x]), a),
    ):
        found, expected = transformed(ours)(x, 0.5), transformed(theirs)(x, 0.5)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), found, expected)
