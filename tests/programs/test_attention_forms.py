"""Attention as programs write it: each form runs in tiles, and gives what NumPy gives in double precision."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk


@pk.jit
def divided_at_the_end(q, k, v):
    s = q @ k.transpose(0, 2, 1) * 0.25
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e @ v) / e.sum(axis=-1, keepdims=True)


@pk.jit
def times_the_inverse(q, k, v):
    s = q @ k.transpose(0, 2, 1) * 0.25
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e * (1.0 / e.sum(axis=-1, keepdims=True))) @ v


@pk.jit
def without_maximum(q, k, v):
    e = pk.exp(q @ k.transpose(0, 2, 1) * 0.25)
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def without_maximum_divided_at_the_end(q, k, v):
    e = pk.exp(q @ k.transpose(0, 2, 1) * 0.25)
    return e @ v / e.sum(axis=-1, keepdims=True)


@pk.jit
def scaled_before(q, k, v):
    s = (q * 0.25) @ k.transpose(0, 2, 1)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def divided_scores(q, k, v):
    s = q @ k.transpose(0, 2, 1) / 4.0
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def masked(q, k, v, allowed):
    s = pk.where(allowed, q @ k.transpose(0, 2, 1) * 0.25, -np.inf)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e @ v) / e.sum(axis=-1, keepdims=True)


@pk.jit
def biased(q, k, v, bias):
    s = q @ k.transpose(0, 2, 1) * 0.25 + bias
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e @ v) / e.sum(axis=-1, keepdims=True)


@pk.jit
def causal_without_maximum(q, k, v):
    rows, columns = pk.arange(q.shape[1]), pk.arange(k.shape[1])
    s = pk.where(rows[:, None] >= columns[None, :], q @ k.transpose(0, 2, 1) * 0.25, -np.inf)
    e = pk.exp(s)
    return e / e.sum(axis=-1, keepdims=True) @ v


@pk.jit
def shared_keys(q, k, v):
    """q [kv heads, group, s, d]; k and v [kv heads, s, d]."""
    s = q @ k[:, None].transpose(0, 1, 3, 2) * 0.25
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e @ v[:, None]) / e.sum(axis=-1, keepdims=True)


WITH_MAXIMUM = (divided_at_the_end, times_the_inverse, scaled_before, divided_scores)
WITHOUT = (without_maximum, without_maximum_divided_at_the_end)
TOLERANCE = {"float64": 1e-14, "float32": 3e-6, "float16": 2e-3, "bfloat16": 2e-2}


def expected(q, k, v, bias: float | np.ndarray = 0.0):
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    s = q @ np.swapaxes(k, -1, -2) * 0.25 + bias
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def arrays(rng, dtype, queries=50, keys=70):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    return [rng.standard_normal(s).astype(kind) for s in ((2, queries, 16), (2, keys, 16), (2, keys, 24))]


def close(found, right, dtype):
    assert str(found.dtype) == dtype
    np.testing.assert_allclose(
        found.astype(np.float64), right, rtol=0, atol=TOLERANCE[dtype] * np.abs(right).max()
    )


def is_tiled(program, *arguments) -> bool:
    text = next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")
    return text.count("attributes {kern.attention") == 1


@pytest.mark.parametrize("program", [*WITH_MAXIMUM, *WITHOUT])
def test_forms(rng, program):
    inputs = arrays(rng, "float32")
    close(program(*inputs), expected(*inputs), "float32")
    assert is_tiled(program, *inputs)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("program", [divided_at_the_end, divided_scores, without_maximum])
def test_forms_of_other_types(rng, program, dtype):
    """Of f16 and bf16 scores, powers and sums are f32."""
    inputs = arrays(rng, dtype)
    close(program(*inputs), expected(*inputs), dtype)
    assert dtype == "float64" or is_tiled(program, *inputs)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_masks(rng, dtype):
    inputs = arrays(rng, dtype, 64, 300)
    allowed = rng.random((64, 300)) < 0.5
    close(masked(*inputs, allowed), expected(*inputs, bias=np.where(allowed, 0, -np.inf)), dtype)
    bias = rng.standard_normal((64, 300)).astype(dtype)
    close(biased(*inputs, bias), expected(*inputs, bias=bias.astype(np.float64)), dtype)
    later = np.arange(300)[None, :] > np.arange(64)[:, None]
    close(causal_without_maximum(*inputs), expected(*inputs, bias=np.where(later, -np.inf, 0)), dtype)
    for program, more in ((masked, (allowed,)), (biased, (bias,)), (causal_without_maximum, ())):
        assert is_tiled(program, *inputs, *more)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("keys", [33, 255])
def test_keys_that_fill_no_vector(rng, dtype, keys):
    """Vectors of 16-bit elements that are cut off at the last key."""
    inputs = arrays(rng, dtype, 40, keys)
    bias = rng.standard_normal((40, keys)).astype(inputs[0].dtype)
    close(biased(*inputs, bias), expected(*inputs, bias=bias.astype(np.float64)), dtype)
    assert is_tiled(biased, *inputs, bias)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_heads_that_share_keys(rng, dtype):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    q = rng.standard_normal((2, 3, 40, 16)).astype(kind)
    k, v = (rng.standard_normal((2, 65, 16)).astype(kind) for _ in range(2))
    close(shared_keys(q, k, v), expected(q, k[:, None], v[:, None]), dtype)
    assert is_tiled(shared_keys, q, k, v)


@pytest.mark.parametrize("program", WITHOUT)
def test_powers_overflow_where_no_maximum_is_taken_off(rng, program):
    """As NumPy has it: inf / inf is NaN in rows with a score above 88."""
    q, k, v = arrays(rng, "float32")
    q[:, 3] *= 200
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp((q @ k.transpose(0, 2, 1) * np.float32(0.25)).astype(np.float32))
        right = e / e.sum(-1, keepdims=True) @ v
    found = program(q, k, v)
    assert np.isnan(right[:, 3]).any()
    rows = np.arange(50) != 3
    np.testing.assert_allclose(found[:, rows], right[:, rows], rtol=0, atol=1e-5)
    assert not np.isfinite(found[:, 3]).all()


def test_powers_that_somebody_else_needs_are_kept(rng):
    @pk.jit
    def both(q, k, v):
        e = pk.exp(q @ k.transpose(0, 2, 1) * 0.25)
        return (e @ v) / e.sum(axis=-1, keepdims=True), e

    inputs = arrays(rng, "float32")
    close(both(*inputs)[0], expected(*inputs), "float32")
    assert not is_tiled(both, *inputs)


def test_another_divisor_is_no_softmax(rng):
    @pk.jit
    def other(q, k, v, w):
        e = pk.exp(q @ k.transpose(0, 2, 1) * 0.25)
        return (e @ v) / w

    q, k, v = arrays(rng, "float32")
    w = rng.random((2, 50, 1)).astype(np.float32) + 1
    right = np.exp(q.astype(np.float64) @ k.transpose(0, 2, 1) * 0.25) @ v / w
    np.testing.assert_allclose(other(q, k, v, w), right, rtol=1e-5, atol=1e-4)
    assert not is_tiled(other, q, k, v, w)
