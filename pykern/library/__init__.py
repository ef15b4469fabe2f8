"""Fused layers: ``from pykern import library as pl``.

Each function is an array program that you can read, with forward and backward part. It takes NumPy's arrays,
tensors of PyTorch (autograd follows them), arrays of JAX and `pk.Array`s, and can be called inside of `@pk.jit`
programs. Read next: `function`, which makes these; `gated`, the shortest; `attention`, the longest.
"""

from __future__ import annotations

from pykern.library.attention import flash_attention
from pykern.library.cross_entropy import linear_cross_entropy
from pykern.library.dropout import softmax_dropout
from pykern.library.gated import geglu, swiglu, swiglu_linear
from pykern.library.norms import layernorm_linear, residual_layernorm, residual_rmsnorm, rmsnorm_rope

__all__ = [
    "flash_attention",
    "geglu",
    "layernorm_linear",
    "linear_cross_entropy",
    "residual_layernorm",
    "residual_rmsnorm",
    "rmsnorm_rope",
    "softmax_dropout",
    "swiglu",
    "swiglu_linear",
]
