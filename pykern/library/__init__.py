"""Fused layers: ``from pykern import library as pl``.

Each function is an array program that you can read, with forward and backward part. It takes NumPy's arrays,
tensors of PyTorch (autograd follows them), arrays of JAX and `pk.Array`s, and can be called inside of `@pk.jit`
programs. Read next: `function`, which makes these; `gated`, the shortest; `attention`, the longest.
"""

from __future__ import annotations

from pykern.library.attention import flash_attention
from pykern.library.config import Config, required_shared_memory, validate_config
from pykern.library.cross_entropy import linear_cross_entropy
from pykern.library.dropout import softmax_dropout
from pykern.library.embedding import embedding
from pykern.library.gated import geglu, swiglu, swiglu_linear
from pykern.library.grouped import grouped_linear
from pykern.library.norms import (
    group_norm,
    layernorm_linear,
    residual_layernorm,
    residual_rmsnorm,
    rmsnorm_rope,
)
from pykern.library.optimiser import adamw
from pykern.library.paged import paged_attention
from pykern.library.quantised import quantised_linear
from pykern.library.varlen import varlen_attention

__all__ = [
    "Config",
    "adamw",
    "embedding",
    "flash_attention",
    "geglu",
    "group_norm",
    "grouped_linear",
    "layernorm_linear",
    "linear_cross_entropy",
    "paged_attention",
    "quantised_linear",
    "required_shared_memory",
    "residual_layernorm",
    "residual_rmsnorm",
    "rmsnorm_rope",
    "softmax_dropout",
    "swiglu",
    "swiglu_linear",
    "validate_config",
    "varlen_attention",
]
