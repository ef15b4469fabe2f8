"""Operations of a library of fused kernels, as array programs: its sizes, seed and tolerances, against NumPy in f64.

The programs are those of `benchmarks/fusion.py`.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import imported
from tests.project.tree import ROOT


@pytest.fixture(scope="module")
def fused() -> ModuleType:
    return imported(ROOT / "benchmarks" / "fusion.py")


@pytest.fixture
def normal():
    rng = np.random.default_rng(42)
    return lambda *shape: rng.standard_normal(shape).astype(np.float32)


def close(found, right, tolerance):
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance)


def gelu(x):
    return 0.5 * x * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))


def layernorm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


def test_add_relu(fused, normal):
    x, y = normal(1024, 512), normal(1024, 512)
    a, b = wide(x, y)
    close(fused.add_relu(x, y), np.maximum(a + b, 0), 1e-5)


def test_mul_tanh(fused, normal):
    x, y = normal(1024, 512), normal(1024, 512)
    a, b = wide(x, y)
    close(fused.mul_tanh(x, y), np.tanh(a * b), 1e-5)


def test_bias_gelu(fused, normal):
    x, bias = normal(64, 128), normal(128)
    a, b = wide(x, bias)
    close(fused.bias_gelu(x, bias), gelu(a + b), 1e-4)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["sum_squared", "mean_abs"])
def test_reductions(fused, normal, name, axis):
    x = normal(128, 256)
    [a] = wide(x)
    right = (a * a).sum(axis) if name == "sum_squared" else np.abs(a).mean(axis)
    close(np.asarray(getattr(fused, name)(x, axis)), right, 1e-5)


def test_layernorm_relu(fused, normal):
    x, weight, bias = normal(32, 128), normal(128), normal(128)
    close(fused.layernorm_relu(x, weight, bias), np.maximum(layernorm(*wide(x, weight, bias)), 0), 1e-4)


def test_layernorm_gelu(fused, normal):
    x, weight, bias = normal(32, 128), normal(128), normal(128)
    close(fused.layernorm_gelu(x, weight, bias), gelu(layernorm(*wide(x, weight, bias))), 1e-4)


def test_gelu_where_nothing_is_dropped(fused, normal):
    x = normal(64, 256)
    close(fused.gelu(x), gelu(x.astype(np.float64)), 1e-4)


def test_attention_score(fused, normal):
    q, k = normal(4, 32, 64), normal(4, 32, 64)
    a, b = wide(q, k)
    s = a @ b.transpose(0, 2, 1) / math.sqrt(64)
    e = np.exp(s - s.max(-1, keepdims=True))
    close(fused.attention_score(q, k), e / e.sum(-1, keepdims=True), 1e-5)


def test_linear_relu(fused, normal):
    x, weight, bias = normal(64, 128), normal(96, 128), normal(96)
    a, w, b = wide(x, weight, bias)
    close(fused.linear_relu(x, weight, bias), np.maximum(a @ w.T + b, 0), 1e-4)


def test_batchnorm_relu(fused, normal):
    x, mean, weight, bias = normal(64, 96), normal(96), normal(96), normal(96)
    variance = normal(96) ** 2
    a, m, v, w, b = wide(x, mean, variance, weight, bias)
    right = np.maximum((a - m) / np.sqrt(v + 1e-5) * w + b, 0)
    close(fused.batchnorm_relu(x, mean, variance, weight, bias), right, 1e-4)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7])
def test_chains_are_one_loop(fused, normal, count):
    """Whatever the number of operations: one nest, and no memory between them."""
    x, r = normal(300, 500), normal(300, 500)
    b, f, s = normal(500), normal(500), normal(500)
    lowered = fused.FUSED[count].lower(x, r, b, f, s)
    text = next(stage.text for stage in lowered.stages if stage.name == "kern-make-nests")
    assert text.count("attributes {kern.nest") == 1
    assert "memref.alloc" not in text
    y = np.maximum(x + b, 0)
    y = y * f if count > 2 else y
    y = y + r if count > 3 else y
    y = np.minimum(y, 6) if count > 4 else y
    y = 0.5 * y - s if count > 5 else y
    close(fused.FUSED[count](x, r, b, f, s), y, 1e-6)


def test_a_block_of_fused_operations_has_a_gradient(fused, normal):
    """Against central differences in f64."""
    x, weight, bias = (a.astype(np.float64) for a in (normal(8, 64), normal(64), normal(64)))

    @pk.jit
    def loss(x, weight, bias):
        y = fused.layernorm_gelu(x, weight, bias)
        return (y * y).sum()

    gradient = pk.grad(loss)(x, weight, bias)
    direction = np.random.default_rng(0).standard_normal(x.shape)
    ends = [(gelu(layernorm(x + h * direction, weight, bias)) ** 2).sum() for h in (1e-5, -1e-5)]
    np.testing.assert_allclose((gradient * direction).sum(), (ends[0] - ends[1]) / 2e-5, rtol=1e-6)
