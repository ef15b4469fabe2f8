"""AdamW beside PyTorch's; gradients of attention and embedding have the same bits in every run."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pykern as pk
from pykern import library as pl
from pykern.testing.device_needs import missing_package

RNG = np.random.default_rng(9)
SHAPES = ((3, 4), (5,), (0,), (2, 1, 3))


@pytest.mark.skipif(missing_package("torch") is not None, reason="needs PyTorch")
def test_adamw():
    import torch

    theirs = [torch.nn.Parameter(torch.tensor(RNG.standard_normal(s))) for s in SHAPES]
    optimiser = torch.optim.AdamW(theirs, lr=0.01, betas=(0.8, 0.95), weight_decay=0.1)
    ours = [p.detach().clone() for p in theirs]
    first, second = ([torch.zeros_like(p) for p in theirs] for _ in range(2))
    for step in range(1, 5):
        for p in theirs:
            p.grad = torch.tensor(RNG.standard_normal(tuple(p.shape)))
        optimiser.step()
        gradients = [p.grad for p in theirs]
        options = {"step": step, "lr": 0.01, "betas": (0.8, 0.95), "weight_decay": 0.1}
        if step % 2:
            ours, first, second = map(list, pl.adamw(ours, gradients, first, second, **options))
        else:
            pl.adamw(ours, gradients, first, second, **options, out=[*ours, *first, *second])
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other.detach(), rtol=1e-12, atol=1e-14)


def test_adamw_of_16_bits():
    low = ml_dtypes.bfloat16
    p, g = RNG.standard_normal(9).astype(low), RNG.standard_normal(9).astype(low)
    zeros = np.zeros(9, np.float32)
    [moved], [mean], _ = pl.adamw([p], [g], [zeros], [zeros], step=1, lr=0.1, weight_decay=0.0)
    assert (moved.dtype, mean.dtype) == (low, np.float32)
    assert_allclose(
        moved.astype(float), p.astype(float) - 0.1 * np.sign(g.astype(float)), rtol=0.02, atol=0.01
    )


def test_gradients_have_the_same_bits():
    q, k, v, g = (RNG.standard_normal((2, 3, 150, 16), np.float32) for _ in range(4))
    weight, taken = RNG.standard_normal((20, 33), np.float32), RNG.integers(0, 20, 400)
    of_rows = RNG.standard_normal((400, 33), np.float32)

    @pk.jit
    def attention(q, k, v):
        return pl.flash_attention(q, k, v, causal=True)

    @pk.jit
    def rows(weight, taken):
        return pl.embedding(taken, weight)

    def gradients():
        return [*pk.vjp(attention, q, k, v)[1](g), pk.vjp(rows, weight, taken)[1](of_rows)[0]]

    expected = gradients()
    for _ in range(5):
        for one, other in zip(gradients(), expected, strict=True):
            assert_array_equal(one, other)
