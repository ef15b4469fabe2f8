"""Array programs give arrays of JAX where they are given some."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError
from pykern.pytest_plugin import need_package

jax = need_package("jax")
jnp = need_package("jax.numpy")

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
