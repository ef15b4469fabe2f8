"""`pkt.fuse`: layers of a model as programs of pykern's, each computed in one pass over the rows.

Comes in: a model. Goes out: the model, changed, and a summary. Parameters are those of the old layers, under the same
names: a checkpoint loads as before. Read first: `replacing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pykern as pk
from pykern import activations
from pykern.torch.framework import torch
from pykern.torch.op import op
from pykern.torch.replacing import Replaced, replace


@op
@pk.jit
def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred / pk.sqrt((centred * centred).mean(-1, keepdims=True) + eps) * weight + bias


@op
@pk.jit
def rms_norm(x, weight, eps):
    return x / pk.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


@op
@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@op
@pk.jit
def gelu(x):
    return activations.gelu(x)


@op
@pk.jit
def gelu_tanh(x):
    return activations.gelu_tanh(x)


@op
@pk.jit
def silu(x):
    return activations.silu(x)


@op
@pk.jit
def swiglu(gate, up):
    """``silu(gate) * up``, the middle of a gated feed-forward layer."""
    return activations.silu(gate) * up


class FusedLayerNorm(torch.nn.Module):
    """Over the last dimension, with weight and bias."""

    def __init__(self, old: Any) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = old.normalized_shape, old.eps, True
        self.weight, self.bias = old.weight, old.bias

    def forward(self, x: Any) -> Any:
        return layer_norm(x, self.weight, self.bias, self.eps)


class FusedRMSNorm(torch.nn.Module):
    """Over the last dimension, with a weight."""

    def __init__(self, old: Any) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = old.normalized_shape, old.eps, True
        self.weight = old.weight

    def forward(self, x: Any) -> Any:
        eps = torch.finfo(x.dtype).eps if self.eps is None else self.eps
        return rms_norm(x, self.weight, eps)


class FusedActivation(torch.nn.Module):
    """A function of the elements, or of the last dimension."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)

    def extra_repr(self) -> str:
        return getattr(self.function, "__name__", "")


def _layer_norm(old: Any) -> Any:
    if old.weight is None or old.bias is None:
        return "it has no weight and bias"
    return (
        FusedLayerNorm(old) if len(old.normalized_shape) == 1 else "it normalises several dimensions at once"
    )


def _rms_norm(old: Any) -> Any:
    if old.weight is None:
        return "it has no weight"
    return FusedRMSNorm(old) if len(old.normalized_shape) == 1 else "it normalises several dimensions at once"


def _softmax(old: Any) -> Any:
    return (
        FusedActivation(softmax) if old.dim == -1 else f"it runs over dimension {old.dim}, not the last (-1)"
    )


def _silu(old: Any) -> Any:
    return "it works in place" if old.inplace else FusedActivation(silu)


TABLE = {
    torch.nn.LayerNorm: _layer_norm,
    torch.nn.RMSNorm: _rms_norm,
    torch.nn.Softmax: _softmax,
    torch.nn.GELU: lambda old: FusedActivation(gelu_tanh if old.approximate == "tanh" else gelu),
    torch.nn.SiLU: _silu,
}
"""What makes pykern's layer of PyTorch's, or says why that stays."""


def fuse(model: Any) -> Replaced:
    """Put pykern's programs in the places of a model's LayerNorm, RMSNorm, Softmax, GELU and SiLU layers, in place.

    Prints nothing; ``print(pkt.fuse(model))`` shows which layers were replaced and which were left, with the reason.
    """
    return replace(model, TABLE)
