"""Attention and its derivatives against JAX's differentiation of the plain formula."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose

import pykern as pk
from pykern import library as pl

RNG = np.random.default_rng(6)


def real(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def formula(xp, q, k, v, bias=None, causal=False, window=None, softcap=None, scale=None):
    """The whole matrix of scores, in NumPy or JAX."""
    group = q.shape[1] // k.shape[1]
    k, v = xp.repeat(k, group, 1), xp.repeat(v, group, 1)
    s = q @ xp.swapaxes(k, 2, 3) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        s = softcap * xp.tanh(s / softcap)
    if bias is not None:
        s = xp.where(bias, s, -xp.inf) if bias.dtype == bool else s + bias
    distance = xp.arange(s.shape[3]) - (xp.arange(s.shape[2])[:, None] + s.shape[3] - s.shape[2])
    if causal:
        s = xp.where(distance <= 0, s, -xp.inf)
    if window is not None:
        s = xp.where(abs(distance) < window, s, -xp.inf)
    e = xp.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


CASES = {
    "shared heads": (33, 33, 4, 2, {}, None),
    "a bias of each head": (70, 70, 2, 2, {"causal": True}, (2, 70, 70)),
    "a bias of the keys, a window, a cap": (
        64, 130, 4, 1, {"causal": True, "window": 7, "softcap": 3.0}, (1, 1, 1, 130),
    ),
    "a window on both sides, a scale": (129, 129, 2, 1, {"window": 5, "scale": 0.3}, (2, 2, 1, 129)),
    "a mask": (20, 40, 2, 2, {}, "mask"),
    "one query": (1, 77, 2, 1, {"causal": True}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_attention(name):
    jax = pytest.importorskip("jax")
    n, m, heads, shared, options, bias_shape = CASES[name]
    q, k, v = real(2, heads, n, 8), real(2, shared, m, 8), real(2, shared, m, 5)
    bias = (
        None
        if bias_shape is None
        else RNG.random((n, m)) < 0.8
        if bias_shape == "mask"
        else real(*bias_shape)
    )

    causal, window, softcap, scale = (options.get(n) for n in ("causal", "window", "softcap", "scale"))

    @pk.jit
    def attention(q, k, v, bias):
        return pl.flash_attention(
            q, k, v, bias=bias, causal=causal is not None, window=window, softcap=softcap, scale=scale
        )

    value, pull = pk.vjp(attention, q, k, v, bias)
    assert_allclose(value, formula(np, q, k, v, bias, **options), rtol=1e-11, atol=1e-13)
    g = real(*value.shape)
    with jax.enable_x64(True):
        given = [jax.numpy.asarray(x) for x in (q, k, v, *([] if bias_shape in (None, "mask") else [bias]))]

        def plain(*given):
            return formula(jax.numpy, *given[:3], given[3] if len(given) > 3 else bias, **options)

        expected = jax.vjp(plain, *given)[1](jax.numpy.asarray(g))
    for found, right in zip(pull(g), expected, strict=False):
        assert_allclose(found, np.asarray(right), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16])
def test_types(dtype):
    q, k, v = (real(1, 2, 50, 16).astype(dtype) for _ in range(3))
    found = pl.flash_attention(q, k, v, causal=True)
    assert found.dtype == dtype
    expected = formula(np, *(x.astype("float64") for x in (q, k, v)), causal=True)
    assert_allclose(found.astype("float64"), expected, atol=4 * float(ml_dtypes.finfo(dtype).eps))


def test_scores_are_never_in_memory():
    x = pk.spec((1, 4, 2048, 64), pk.f32)
    lowered = pl.flash_attention.lower(x, x, x, causal=True)
    assert any("attention in tiles" in str(remark) for remark in lowered.remarks)


@pytest.mark.parametrize("n", [512, 8192])
def test_memory_of_the_derivative_is_linear(n):
    """No array of the program has an axis of queries and one of keys."""

    @pk.jit
    def gradients(q, k, v, g):
        def attention(q, k, v):
            return pl.flash_attention(q, k, v, causal=True)

        return pk.vjp(attention, q, k, v)[1](g)

    x = pk.spec((1, 2, n, 24), pk.f32)
    text = gradients.lower(x, x, x, x).as_text("kern-plan-memory")
    shapes = {tuple(map(int, shape[:-1].split("x"))) for shape in re.findall(r"memref<((?:\d+x)+)f32", text)}
    assert any(n in shape for shape in shapes)
    assert all(shape.count(n) < 2 and np.prod(shape) <= 2 * n * 64 for shape in shapes), shapes


def test_special_values():
    q, k, v = (real(1, 1, 6, 4) for _ in range(3))
    found = pl.flash_attention(q, k[:, :, :3], v[:, :, :3], causal=True)
    assert np.isnan(found[0, 0, :3]).all()  # queries before the first key
    assert np.isfinite(found[0, 0, 3:]).all()
    k[0, 0, 0] = 1e4  # exponentials would overflow without the maximum
    assert_allclose(pl.flash_attention(q, k, v), formula(np, q, k, v), rtol=1e-11)


def test_what_does_not_fit():
    q, k = real(1, 3, 5, 4), real(1, 2, 5, 4)
    with pytest.raises(pk.errors.KernelError, match="the number of heads of `q` is a multiple"):
        pl.flash_attention(q, k, k)
