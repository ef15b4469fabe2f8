"""Normalisations together with what stands beside them in a transformer: a product, a residual, rotary positions.

Sources: J. L. Ba et al., Layer Normalization, arXiv 1607.06450; B. Zhang and R. Sennrich, RMSNorm, arXiv 1910.07467;
Y. Wu and K. He, Group Normalization, arXiv 1803.08494; J. Su et al., RoFormer (rotary positions), arXiv 2104.09864.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.checks import is_whole, not_negative_eps
from pykern.library.function import library_function
from pykern.library.precision import wide


def checked_row(x: Any, of_last: Any, eps: Any) -> None:
    """What is normalised along the last axis, and an array of what each of its elements is multiplied with."""
    not_negative_eps(eps)
    assert len(x.shape) >= 1, "`x` is an array with one axis at least"
    assert of_last.shape == x.shape[-1:], (
        "gamma, beta or weight is as long as the last axis of `x`, and has one axis"
    )


def normalised(x: Any, gamma: Any, beta: Any, eps: Any) -> Any:
    """Layer normalisation along the last axis."""
    checked_row(x, gamma, eps)
    checked_row(x, beta, eps)
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / pk.sqrt(variance + eps) * gamma + beta


@library_function(eps=not_negative_eps)
def layernorm_linear(x: Any, gamma: Any, beta: Any, weight: Any, bias: Any = None, *, eps: Any = 1e-5) -> Any:
    """Layer normalisation along the last axis, then a linear layer: ``layernorm(x) @ weight.T + bias``.

    `x` is (..., inner); `gamma` and `beta` are (inner,); `weight` is (outer, inner); `bias` is (outer,) or None.
    The result is (..., outer), of the dtype of `x`.
    """
    a = wide(x)
    assert len(weight.shape) == 2, "`weight` is (outer, inner)"
    assert weight.shape[1] == x.shape[-1], "the rows of `weight` are as long as those of `x`"
    y = normalised(a, wide(gamma), wide(beta), eps) @ wide(weight).T
    if bias is not None:
        assert bias.shape == weight.shape[:1], "`bias` has a number for each row of `weight`"
        y = y + wide(bias)
    return y.astype(x.dtype)


@library_function(eps=not_negative_eps)
def residual_layernorm(x: Any, residual: Any, gamma: Any, beta: Any, *, eps: Any = 1e-5) -> Any:
    """``s = x + residual`` and its layer normalisation along the last axis: ``(normalised, s)``.

    `x` and `residual` are (..., n), `gamma` and `beta` are (n,); the results have the shape and dtype of `x`.
    """
    assert x.shape == residual.shape, "`x` and `residual` have one shape"
    s = wide(x) + wide(residual)
    return normalised(s, wide(gamma), wide(beta), eps).astype(x.dtype), s.astype(x.dtype)


@library_function(eps=not_negative_eps)
def residual_rmsnorm(x: Any, residual: Any, weight: Any, *, eps: Any = 1e-6) -> Any:
    """``s = x + residual`` and its normalisation by the root of the mean square: ``(normalised, s)``.

    `x` and `residual` are (..., n), `weight` is (n,); the results have the shape and dtype of `x`.
    """
    assert x.shape == residual.shape, "`x` and `residual` have one shape"
    s = wide(x) + wide(residual)
    checked_row(x, weight, eps)
    y = s / pk.sqrt((s * s).mean(axis=-1, keepdims=True) + eps) * wide(weight)
    return y.astype(x.dtype), s.astype(x.dtype)


@library_function(eps=not_negative_eps)
def group_norm(x: Any, groups: pk.static, weight: Any = None, bias: Any = None, *, eps: Any = 1e-5) -> Any:
    """Normalisation over groups of channels: ``(x - mean) / sqrt(variance + eps) * weight + bias``.

    `x` is (batch, channels, ...); `channels` is a multiple of `groups`, and mean and variance are those of a sample's
    neighbouring ``channels // groups`` channels; `weight` and `bias` are (channels,) or None. The result has the shape
    and dtype of `x`.
    """
    not_negative_eps(eps)
    assert len(x.shape) >= 2, "`x` is (batch, channels, ...)"
    batch, channels = x.shape[0], x.shape[1]
    assert is_whole(groups) and groups >= 1, "`groups` is an integer from 1 on"
    assert weight is None or weight.shape == (channels,), "`weight` has a number for each channel"
    assert bias is None or bias.shape == (channels,), "`bias` has a number for each channel"
    assert channels % groups == 0, "the number of channels is a multiple of that of groups"
    if x.size == 0:
        return x.copy()
    size = channels // groups
    a = wide(x).reshape(batch, groups, size, -1)
    centred = a - a.mean(axis=(2, 3), keepdims=True)
    scale = 1 / pk.sqrt((centred * centred).mean(axis=(2, 3), keepdims=True) + eps)
    if weight is not None:
        scale = scale * wide(weight).reshape(groups, size, 1)  # so that a gradient sums each channel once
    y = centred * scale
    if bias is not None:
        y = y + wide(bias).reshape(groups, size, 1)
    return y.reshape(x.shape).astype(x.dtype)


@library_function(eps=not_negative_eps)
def rmsnorm_rope(x: Any, weight: Any, cos: Any, sin: Any, *, head_dim: pk.static, eps: Any = 1e-6) -> Any:
    """RMS normalisation over the hidden axis, then rotary positions in each head.

    `x` is (batch, n, hidden), `weight` is (hidden,), `cos` and `sin` are (n, head_dim // 2). In each head the first
    half `a` and the second half `b` become ``a * cos - b * sin`` and ``b * cos + a * sin``. The result has the
    shape and dtype of `x`.
    """
    assert len(x.shape) == 3, "`x` is (batch, n, hidden)"
    checked_row(x, weight, eps)
    batch, n, hidden = x.shape
    assert is_whole(head_dim) and head_dim >= 2, "`head_dim` is an even integer from 2 on"
    assert head_dim % 2 == 0, "`head_dim` is even: a head has two halves"
    assert hidden % head_dim == 0, "the hidden length is a multiple of `head_dim`"
    assert cos.shape == (n, head_dim // 2), "`cos` is (n, head_dim // 2)"
    assert sin.shape == (n, head_dim // 2), "`sin` is (n, head_dim // 2)"
    a = wide(x)
    y = a / pk.sqrt((a * a).mean(axis=-1, keepdims=True) + eps) * wide(weight)
    half = head_dim // 2
    heads = y.reshape(batch, n, hidden // head_dim, 2, half)
    c, s = wide(cos).reshape(1, n, 1, half), wide(sin).reshape(1, n, 1, half)
    first, second = heads[:, :, :, 0, :], heads[:, :, :, 1, :]
    turned = pk.stack((first * c - second * s, second * c + first * s), axis=3)
    return turned.reshape(batch, n, hidden).astype(x.dtype)
