"""Fused layers against formulas in NumPy's float64: shapes that divide nothing, 16-bit types, strides, devices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose

import pykern as pk
from pykern import library as pl

RNG = np.random.default_rng(5)
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 3e-3, "bfloat16": 2e-2}


def real(*shape: int, dtype: str = "float64") -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def silu(x):
    return x / (1 + np.exp(-x))


def layernorm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * gamma + beta


def rmsnorm(x, weight, eps=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def rotated(x, cos, sin, head_dim):
    heads = x.reshape(*x.shape[:2], -1, 2, head_dim // 2)
    a, b, c, s = heads[..., 0, :], heads[..., 1, :], cos[None, :, None], sin[None, :, None]
    return np.stack((a * c - b * s, b * c + a * s), 3).reshape(x.shape)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


CASES = {
    "swiglu": (pl.swiglu, [(3, 17), (3, 17)], lambda gate, up: silu(gate) * up),
    "geglu": (
        lambda gate, up: pl.geglu(gate, up, approximate="tanh"),
        [(3, 17), (3, 17)],
        lambda gate, up: gelu_tanh(gate) * up,
    ),
    "swiglu_linear": (
        pl.swiglu_linear,
        [(2, 3, 9), (7, 9), (7, 9)],
        lambda x, gate, up: silu(x @ gate.T) * (x @ up.T),
    ),
    "layernorm_linear": (
        pl.layernorm_linear,
        [(2, 5, 33), (33,), (33,), (7, 33), (7,)],
        lambda x, gamma, beta, weight, bias: layernorm(x, gamma, beta) @ weight.T + bias,
    ),
    "residual_layernorm": (
        pl.residual_layernorm,
        [(4, 33), (4, 33), (33,), (33,)],
        lambda x, r, gamma, beta: (layernorm(x + r, gamma, beta), x + r),
    ),
    "residual_rmsnorm": (
        pl.residual_rmsnorm,
        [(4, 33), (4, 33), (33,)],
        lambda x, r, weight: (rmsnorm(x + r, weight), x + r),
    ),
    "rmsnorm_rope": (
        lambda x, weight, cos, sin: pl.rmsnorm_rope(x, weight, cos, sin, head_dim=8),
        [(2, 5, 24), (24,), (5, 4), (5, 4)],
        lambda x, weight, cos, sin: rotated(rmsnorm(x, weight), cos, sin, 8),
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("name", CASES)
def test_forward(name, dtype):
    function, shapes, expected = CASES[name]
    arguments = [real(*shape, dtype=dtype) for shape in shapes]
    found, right = function(*arguments), expected(*(a.astype("float64") for a in arguments))
    pairs = zip(found, right, strict=True) if isinstance(found, tuple) else [(found, right)]
    for one, other in pairs:
        assert one.dtype == dtype
        tolerance = TOLERANCE[dtype]
        assert_allclose(one.astype("float64"), other, rtol=tolerance, atol=tolerance * np.abs(other).max())


def test_exact_gelu():
    from math import erf

    gate, up = real(4, 9), real(4, 9)
    gelu = 0.5 * gate * (1 + np.vectorize(erf)(gate / np.sqrt(2)))
    assert_allclose(pl.geglu(gate, up), gelu * up, rtol=1e-12)
    with pytest.raises(pk.errors.KernelError, match="approximate is"):
        pl.geglu(gate, up, approximate="none at all")


def test_strides_and_memory_that_is_given():
    gate, up, out = real(17, 6).T, real(6, 34)[:, ::2], np.empty((6, 17))
    assert pl.swiglu(gate, up, out=out) is out
    assert_allclose(out, silu(gate) * up, rtol=1e-12)
    assert pl.swiglu(np.empty((0, 4)), np.empty((0, 4))).shape == (0, 4)


def test_in_programs():
    @pk.jit
    def block(x, weight, gamma):
        y, s = pl.residual_rmsnorm(x, x, gamma)
        return (pl.swiglu_linear(y, weight, weight) + s.mean()).sum()

    x, weight, gamma = real(5, 8), real(3, 8), real(8)

    def expected(x):
        y = rmsnorm(2 * x, gamma) @ weight.T
        return (silu(y) * y + 2 * x.mean()).sum()

    assert_allclose(block(x, weight, gamma), expected(x), rtol=1e-12)
    assert pk.check_grads(block, (x, weight, gamma)).difference < 1e-6


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
def test_on_devices(device):
    gate, up = real(5, 40, dtype="float32"), real(5, 40, dtype="float32")
    found = pl.swiglu(pk.asarray(gate, device=device), pk.asarray(up, device=device))
    assert str(found.device) == device
    assert_allclose(found.numpy(), silu(gate.astype("float64")) * up, rtol=2e-5, atol=1e-6)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("axis", [-1, 0])
def test_dropout(axis):
    x = real(70, 90, dtype="float32")
    found = pl.softmax_dropout(x, 0.25, seed=7, axis=axis)
    kept = found != 0
    assert_allclose(found, softmax(x.astype("float64"), axis) * kept / 0.75, rtol=1e-5)
    assert abs(kept.mean() - 0.75) < 4 * np.sqrt(0.25 * 0.75 / x.size)
    np.testing.assert_array_equal(found, pl.softmax_dropout(x, 0.25, seed=7, axis=axis))
    assert (kept != (pl.softmax_dropout(x, 0.25, seed=8, axis=axis) != 0)).mean() > 0.3
    assert (pl.softmax_dropout(x, 0.0, seed=7, axis=axis) > 0).all()


def test_derivative_of_dropout_has_the_same_mask():
    x, g = real(6, 11), real(6, 11)

    @pk.jit
    def dropped(x):
        return pl.softmax_dropout(x, 0.4, seed=3)

    y, pull = pk.vjp(dropped, x)
    kept = y != 0
    p, masked = softmax(x, -1), g * kept / 0.6
    assert_allclose(pull(g)[0], p * (masked - (masked * p).sum(-1, keepdims=True)), atol=1e-14)


@pytest.mark.parametrize(("n", "classes"), [(7, 11), (5, 2048), (3, 2500)])
def test_cross_entropy(n, classes):
    x, weight = real(n, 6), real(classes, 6)
    target = RNG.integers(0, classes, n)
    target[1] = -100
    logits = x @ weight.T
    losses = np.log(np.exp(logits).sum(1)) - logits[np.arange(n), target * (target != -100)]
    kept = target != -100
    assert_allclose(pl.linear_cross_entropy(x, weight, target), losses[kept].mean(), rtol=1e-12)

    dx, dweight = pk.grad(pl.linear_cross_entropy, argnums=(0, 1))(x, weight, target)
    slope = (softmax(logits, 1) - (np.arange(classes) == target[:, None])) * kept[:, None] / kept.sum()
    assert_allclose(dx, slope @ weight, atol=1e-13)
    assert_allclose(dweight, slope.T @ x, atol=1e-13)


@pytest.mark.parametrize(
    ("dtype", "result"), [("float64", "float64"), ("float32", "float32"), ("float16", "float32")]
)
def test_dtype_of_cross_entropy(dtype, result):
    found = pl.linear_cross_entropy(real(3, 4, dtype=dtype), real(5, 4, dtype=dtype), np.array([0, 4, 1]))
    assert found.dtype == result


def test_cross_entropy_of_what_is_no_class():
    x, weight = real(3, 4), real(5, 4)
    assert np.isnan(pl.linear_cross_entropy(x, weight, np.array([0, 5, 1])))
    assert np.isnan(pl.linear_cross_entropy(x, weight, np.array([0, -1, 1])))
    assert np.isnan(pl.linear_cross_entropy(x, weight, np.array([-100] * 3)))
    low = x.astype(ml_dtypes.bfloat16)
    assert np.isfinite(
        pl.linear_cross_entropy(low, weight.astype(ml_dtypes.bfloat16), np.array([0, 4, -100]))
    )
