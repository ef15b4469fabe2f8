"""The whole library on arrays of JAX: values, and gradients through `jax.jit` and `jax.vjp`, beside the same functions
on NumPy's arrays and `pk.vjp`, which other tests compare with PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pykern as pk
from pykern import library as pl
from pykern.pytest_plugin import need_package

jax = need_package("jax")

RNG = np.random.default_rng(11)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


Q, K, V = real(1, 4, 9, 6), real(1, 2, 13, 6), real(1, 2, 13, 6)
ROWS, GAMMA, BETA = real(2, 5, 24), real(24), real(24)
CASES: dict[str, tuple[Callable, tuple[np.ndarray, ...]]] = {
    "flash_attention": (lambda q, k, v: pl.flash_attention(q, k, v, causal=True), (Q, K, V)),
    "flash_attention of a window": (lambda q, k, v: pl.flash_attention(q, k, v, window=(3, 2)), (Q, K, V)),
    "flash_attention with a bias": (
        lambda q, k, v, b: pl.flash_attention(q, k, v, bias=b, softcap=4.0), (Q, K, V, real(4, 9, 13)),
    ),
    "varlen_attention": (
        lambda q, k, v, n, m: pl.varlen_attention(q, k, v, n, m),
        (real(9, 4, 6), real(13, 2, 6), real(13, 2, 6), np.array([0, 3, 9]), np.array([0, 6, 13])),
    ),
    "layernorm_linear": (
        lambda x, g, b, w, c: pl.layernorm_linear(x, g, b, w, c), (ROWS, GAMMA, BETA, real(7, 24), real(7)),
    ),
    "residual_layernorm": (
        lambda x, r, g, b: pl.residual_layernorm(x, r, g, b), (ROWS, real(2, 5, 24), GAMMA, BETA),
    ),
    "residual_rmsnorm": (lambda x, r, g: pl.residual_rmsnorm(x, r, g), (ROWS, real(2, 5, 24), GAMMA)),
    "rmsnorm_rope": (
        lambda x, g, c, s: pl.rmsnorm_rope(x, g, c, s, head_dim=8), (ROWS, GAMMA, real(5, 4), real(5, 4)),
    ),
    "group_norm": (lambda x, w, b: pl.group_norm(x, 3, w, b), (real(2, 6, 7), real(6), real(6))),
    "swiglu": (lambda a, b: pl.swiglu(a, b), (real(3, 7), real(3, 7))),
    "geglu": (lambda a, b: pl.geglu(a, b), (real(3, 7), real(3, 7))),
    "swiglu_linear": (lambda x, a, b: pl.swiglu_linear(x, a, b), (real(3, 7), real(5, 7), real(5, 7))),
    "softmax_dropout": (lambda x: pl.softmax_dropout(x, 0.3, seed=5), (real(3, 7),)),
    "linear_cross_entropy": (
        lambda x, w, t: pl.linear_cross_entropy(x, w, t), (real(5, 7), real(9, 7), np.array([1, 8, -100, 0, 3])),
    ),
    "embedding": (lambda i, w: pl.embedding(i, w), (np.array([[1, 1, 2], [0, 8, 1]]), real(9, 5))),
    "grouped_linear": (
        lambda x, w, n: pl.grouped_linear(x, w, n), (real(11, 6), real(3, 5, 6), np.array([4, 4, 11])),
    ),
    "quantised_linear": (
        lambda x, w, s: pl.quantised_linear(x, w, s),
        (real(3, 12), RNG.integers(-128, 128, (7, 12)).astype(np.int8), real(7)),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    function, arguments = CASES[name]
    expected, pull = pk.vjp(function, *arguments)
    several = isinstance(expected, tuple)
    g = tuple(real(*np.shape(e)) for e in expected) if several else real(*np.shape(expected))
    floats = [n for n, a in enumerate(arguments) if a.dtype.kind == "f"]
    with jax.enable_x64(True):
        given = [jax.numpy.asarray(a) for a in arguments]

        def of_floats(*values):
            placed = dict(zip(floats, values, strict=True))
            return function(*(placed.get(n, a) for n, a in enumerate(given)))

        found, of_jax = jax.vjp(jax.jit(of_floats), *(given[n] for n in floats))
        cotangents = of_jax(jax.tree.map(jax.numpy.asarray, g))
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves((found, cotangents)))
    for one, other in zip(found if several else [found], expected if several else [expected], strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    of_numpy = pull(g if several else np.float64(g) if np.ndim(g) == 0 else g)
    for one, n in zip(cotangents, floats, strict=True):
        assert_allclose(one, of_numpy[n], rtol=1e-11, atol=1e-12)
