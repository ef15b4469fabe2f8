"""The library on tensors of PyTorch, with autograd, and on arrays of JAX, with `grad` and `jit`."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pykern import library as pl
from pykern.testing.device_needs import missing_package

RNG = np.random.default_rng(7)


@pytest.mark.skipif(missing_package("torch") is not None, reason="needs PyTorch")
def test_torch_follows_it():
    import torch
    from torch.nn import functional

    x, gamma, beta, weight = (
        torch.tensor(RNG.standard_normal(s), requires_grad=True) for s in ((4, 9), 9, 9, (5, 9))
    )
    expected = functional.linear(functional.layer_norm(x, (9,), gamma, beta), weight)
    found = pl.layernorm_linear(x, gamma, beta, weight)
    assert isinstance(found, torch.Tensor)
    assert_allclose(found.detach(), expected.detach(), rtol=1e-12)
    g = torch.tensor(RNG.standard_normal((4, 5)))
    ours = torch.autograd.grad((found * g).sum(), (x, gamma, beta, weight))
    theirs = torch.autograd.grad((expected * g).sum(), (x, gamma, beta, weight))
    for one, other in zip(ours, theirs, strict=True):
        assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert not pl.layernorm_linear(x.detach(), gamma.detach(), beta.detach(), weight.detach()).requires_grad


@pytest.mark.skipif(missing_package("torch") is not None, reason="needs PyTorch")
def test_torch_attention():
    import torch

    q, k, v = (torch.tensor(RNG.standard_normal((2, 3, 20, 8)), requires_grad=True) for _ in range(3))
    found = pl.flash_attention(q, k, v, causal=True)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_allclose(found.detach(), expected.detach(), rtol=1e-10)
    ours, theirs = (torch.autograd.grad((o * o).sum(), (q, k, v)) for o in (found, expected))
    for one, other in zip(ours, theirs, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(missing_package("torch") is not None, reason="needs PyTorch")
def test_torch_compiles_it():
    """In one graph, also where the first call is the one that is traced."""
    import torch

    gate = torch.tensor(RNG.standard_normal((3, 5)), requires_grad=True)
    compiled = torch.compile(lambda x: pl.geglu(x.sin(), x).cos(), fullgraph=True, backend="aot_eager")
    expected = (torch.nn.functional.gelu(gate.sin()) * gate).cos()
    assert_allclose(compiled(gate).detach(), expected.detach(), rtol=1e-12)
    ours, theirs = (torch.autograd.grad(y.sum(), gate)[0] for y in (compiled(gate), expected))
    assert_allclose(ours, theirs, rtol=1e-10)


def test_jax_differentiates_it():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    gate, up = (jnp.asarray(RNG.standard_normal((3, 7)), jnp.float32) for _ in range(2))
    found = jax.jit(jax.grad(lambda a, b: (pl.swiglu(a, b) ** 2).sum(), argnums=(0, 1)))(gate, up)
    expected = jax.grad(lambda a, b: ((jax.nn.silu(a) * b) ** 2).sum(), argnums=(0, 1))(gate, up)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-6)
