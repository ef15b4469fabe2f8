"""The library beside PyTorch's own layers, values and gradients: odd and empty shapes, extreme values, NaN."""

from __future__ import annotations

import pytest

from pykern import library as pl
from pykern.testing.device_needs import missing_package

if missing_package("torch") is not None:
    pytest.skip("needs PyTorch", allow_module_level=True)

import torch
from torch.nn import functional

GENERATOR = torch.Generator().manual_seed(4)
INF, NAN = torch.inf, torch.nan


def real(*shape: int, scale: float = 1.0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=GENERATOR) * scale


def silu_up(gate, up):
    return functional.silu(gate) * up


def gelu_up(approximate):
    return lambda gate, up: functional.gelu(gate, approximate=approximate) * up


def attention(q, k, v, *, window=None, bias=None, causal=False):
    s = q @ k.repeat_interleave(q.shape[1] // k.shape[1], 1).transpose(2, 3) / q.shape[3] ** 0.5
    distance = torch.arange(s.shape[3]) - torch.arange(s.shape[2])[:, None] - (s.shape[3] - s.shape[2])
    taken = torch.ones_like(distance, dtype=torch.bool) if bias is None else bias
    if causal:
        taken = taken & (distance <= 0)
    if window is not None:
        before, behind = (side if side >= 0 else 10**6 for side in window)
        taken = taken & (distance >= -before) & (distance <= behind)
    return s.masked_fill(~taken, -INF).softmax(-1) @ v.repeat_interleave(q.shape[1] // v.shape[1], 1)


def cross_entropy(target, ignore_index=-100):
    target = torch.tensor(target)

    def ours(x, weight):
        return pl.linear_cross_entropy(x, weight, target, ignore_index=ignore_index)

    def theirs(x, weight):
        return functional.cross_entropy(x @ weight.T, target, ignore_index=ignore_index)

    return ours, theirs


def attentions(**options):
    return lambda *x: pl.flash_attention(*x, **options), lambda *x: attention(*x, **options)


def experts(x, weight):
    bounds = zip(OFFSETS[:-1], OFFSETS[1:], weight, strict=True)
    return torch.cat([*(x[a:b] @ w.T for a, b, w in bounds), x[OFFSETS[-1] :] * 0 @ weight[0].T])


def through_experts(x, weight):
    return pl.grouped_linear(x, weight, torch.tensor(OFFSETS[1:]))


def dequantised(x, scale, zero, bias):
    numbers = (WEIGHT.double().reshape(7, 3, 4) - zero[:, :, None]) * scale[:, :, None]
    return functional.linear(x, numbers.reshape(7, 12), bias)


def of_4_bits(x, scale):
    low, high = WEIGHT_4[:, ::2] & 15, WEIGHT_4[:, 1::2] & 15
    return pl.quantised_linear(x, (low | high << 4).to(torch.uint8), scale, bits=4)


OFFSETS = (0, 3, 3, 70, 190)
INDICES = torch.tensor([[1, 1, 2], [0, 9, 1]])
WEIGHT = torch.randint(-128, 128, (7, 12), dtype=torch.int8, generator=GENERATOR)
WEIGHT_4 = torch.randint(-8, 8, (7, 12), generator=GENERATOR)
SPECIAL = torch.tensor([[INF, -INF, NAN, 0.0, -0.0, 1e30, -1e30, 700.0, -800.0]], dtype=torch.float64)
HOLE = real(5, 6).index_fill(0, torch.tensor([2]), NAN)
DEAD = (torch.rand(70, 20, generator=GENERATOR) < 0.8).index_fill(0, torch.tensor([3]), False)
NAN_KEY = real(1, 1, 40, 8).index_fill(2, torch.tensor([3]), NAN)
LARGE = (real(1, 1, 40, 8, scale=90), real(1, 1, 40, 8, scale=90), real(1, 1, 40, 8))
MASKED = (real(1, 2, 70, 8), real(1, 1, 20, 8), real(1, 1, 20, 8))
FEW = (real(1, 2, 65, 8), real(1, 1, 65, 8), real(1, 1, 65, 8))
CASES = {
    "swiglu of special values": (pl.swiglu, silu_up, (SPECIAL, real(1, 9))),
    "swiglu without elements": (pl.swiglu, silu_up, (real(7, 0), real(7, 0))),
    "swiglu of views": (pl.swiglu, silu_up, (real(9, 4).T, real(4, 18)[:, ::2])),
    "geglu of special values": (pl.geglu, gelu_up("none"), (SPECIAL, real(1, 9))),
    "geglu by tanh": (
        lambda gate, up: pl.geglu(gate, up, approximate="tanh"), gelu_up("tanh"), (SPECIAL[:, :5], real(1, 5)),
    ),
    "swiglu_linear without rows": (
        pl.swiglu_linear, lambda x, a, b: silu_up(x @ a.T, x @ b.T), (real(0, 8), real(4, 8), real(4, 8)),
    ),
    "swiglu_linear without an inner length": (
        pl.swiglu_linear, lambda x, a, b: silu_up(x @ a.T, x @ b.T), (real(3, 0), real(4, 0), real(4, 0)),
    ),
    "layernorm_linear": (
        pl.layernorm_linear,
        lambda x, gamma, beta, w, b: functional.linear(functional.layer_norm(x, (33,), gamma, beta), w, b),
        (real(2, 3, 33), real(33), real(33), real(5, 33), real(5)),
    ),
    "residual_rmsnorm": (
        pl.residual_rmsnorm,
        lambda x, r, w: (functional.rms_norm(x + r, (33,), w, 1e-6), x + r),
        (real(4, 33), real(4, 33), real(33)),
    ),
    "cross entropy": (*cross_entropy([0, 10, -100, 3, -100]), (real(5, 6), real(11, 6))),
    "cross entropy of large logits": (*cross_entropy([0, 8, 2]), (real(3, 6, scale=1e3), real(9, 6, scale=1e3))),
    "cross entropy of rows that are all ignored": (*cross_entropy([-100] * 3), (real(3, 6), real(11, 6))),
    "cross entropy without an inner length": (*cross_entropy([0, 10, 3]), (real(3, 0), real(11, 0))),
    "cross entropy with an index of its own": (*cross_entropy([3, 3, 8], 3), (real(3, 6), real(9, 6))),
    "cross entropy with NaN": (*cross_entropy([0, 1, 2, 3, 4]), (HOLE, real(9, 6))),
    "cross entropy with NaN in an ignored row": (*cross_entropy([0, 1, -100, 3, 4]), (HOLE, real(9, 6))),
    "group norm": (
        lambda x, w, b: pl.group_norm(x, 3, w, b),
        lambda x, w, b: functional.group_norm(x, 3, w, b),
        (real(2, 6, 4, 5), real(6), real(6)),
    ),
    "group norm of two axes": (lambda x: pl.group_norm(x, 2), lambda x: functional.group_norm(x, 2), (real(2, 6),)),
    "embedding": (
        lambda w: pl.embedding(INDICES, w), lambda w: functional.embedding(INDICES, w), (real(10, 4),),
    ),
    "embedding with padding": (
        lambda w: pl.embedding(INDICES, w, padding_idx=1),
        lambda w: functional.embedding(INDICES, w, padding_idx=1),
        (real(10, 4),),
    ),
    "experts": (through_experts, experts, (real(200, 6), real(4, 5, 6))),
    "weights of 8 bits": (
        lambda x, scale, zero, bias: pl.quantised_linear(x, WEIGHT, scale, zero, bias),
        dequantised,
        (real(3, 12), real(7, 3), real(7, 3), real(7)),
    ),
    "weights of 4 bits": (
        of_4_bits, lambda x, scale: x @ (WEIGHT_4.double() * scale[:, None]).T, (real(3, 12), real(7)),
    ),
    "weights of 4 bits without rows": (
        lambda x, scale: pl.quantised_linear(x, torch.zeros(0, 6, dtype=torch.uint8), scale, bits=4),
        lambda x, scale: x @ (torch.zeros(0, 12, dtype=torch.float64) * scale[:, None]).T,
        (real(3, 12), real(0)),
    ),
    "attention over a window of two sides": (*attentions(window=(5, 2)), FEW),
    "attention over a window before": (*attentions(window=(7, -1), causal=True), FEW),
    "attention of large scores": (*attentions(), LARGE),
    "attention with NaN in a key": (*attentions(causal=True), (real(1, 1, 40, 8), NAN_KEY, real(1, 1, 40, 8))),
    "attention where a query has no key": (*attentions(bias=DEAD), MASKED),
    "attention without keys": (*attentions(), (real(1, 2, 5, 4), real(1, 2, 0, 4), real(1, 2, 0, 4))),
    "attention without queries": (*attentions(), (real(1, 2, 0, 4), real(1, 2, 5, 4), real(1, 2, 5, 4))),
}  # fmt: skip


def with_gradients(function, arguments):
    """The values and, for weights that are all different, the gradients."""
    arguments = [x.detach().requires_grad_() for x in arguments]
    values = function(*arguments)
    values = values if isinstance(values, tuple) else (values,)
    weights = [torch.linspace(-1, 2, y.numel(), dtype=y.dtype).reshape(y.shape) for y in values]
    return [*values, *torch.autograd.grad(values, arguments, weights)]


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    ours, theirs, arguments = CASES[name]
    for found, right in zip(with_gradients(ours, arguments), with_gradients(theirs, arguments), strict=True):
        torch.testing.assert_close(found, right, rtol=1e-9, atol=1e-11, equal_nan=True)
