"""Attention without the matrix of scores in memory, forward and backward.

Comes in: queries, keys and values. Goes out: sums of values, weighted by the softmax of scores. The compiler
computes the forward part in tiles with a running softmax; with a derivative, `blocked_attention` goes through blocks.

Sources: T. Dao et al., FlashAttention, arXiv 2205.14135, section 3.1 and appendix B (the derivative); J. Ainslie et
al., GQA, arXiv 2305.13245 (shared heads); O. Press et al., ALiBi, arXiv 2108.12409 (a `bias`); Gemma 2, arXiv
2408.00118 (`softcap`).
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library import blocked_attention
from pykern.library.blocked_attention import biased, capped
from pykern.library.checks import is_whole, scaling, shared_heads
from pykern.library.function import library_function
from pykern.library.precision import alike, wide


def attend(
    q: Any, k: Any, v: Any, bias: Any, scale: Any, softcap: Any, before: Any, behind: Any, like: Any
) -> Any:
    """The forward part. Queries are (batch, shared heads, queries of a shared head, n, d); keys are taken up to
    `before` positions before a query and `behind` positions behind it, None: all. Weights are rounded to the dtype
    of `like`."""
    s = biased(capped(q, k, scale, softcap), bias)
    if before is not None or behind is not None:
        distance = pk.arange(s.shape[-1]) - (k.shape[-2] - q.shape[-2] + pk.arange(s.shape[-2]))[:, None]
        if behind is not None:
            s = pk.where(distance <= behind, s, -pk.inf)
        if before is not None:
            s = pk.where(distance >= -before, s, -pk.inf)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return (weights if like.dtype == weights.dtype else weights.astype(like.dtype).astype(weights.dtype)) @ v


def forward(
    q: Any, k: Any, v: Any, bias: Any, scale: Any, softcap: Any, before: Any, behind: Any, like: Any
) -> Any:
    """The value, and what the gradients need: nothing as large as the scores."""
    queries, keys = pk.arange(2) * q.shape[-2], pk.arange(2) * k.shape[-2]
    return blocked_attention.forward(q, k, v, bias, queries, keys, False, scale, softcap, before, behind)


def backward(kept: Any, g: Any) -> Any:
    """Gradients by queries, keys, values and a bias."""
    found = blocked_attention.backward(kept, g)
    return found[0], found[1], found[2], found[3], None, None, None, None, None


differentiable = pk.custom_vjp(attend)
differentiable.defvjp(forward, backward)


@library_function()
def flash_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: pk.static = False,
    scale: pk.static = None,
    window: pk.static = None,
    bias: Any = None,
    softcap: pk.static = None,
) -> Any:
    """``softmax(q @ k.T * scale + bias) @ v`` for each head, in memory that is linear in the number of queries and
    keys.

        `q` is (batch, heads, n, d), `k` is (batch, kv_heads, m, d), `v` is (batch, kv_heads, m, e); `heads` is a
        multiple of `kv_heads`, and that many neighbouring heads share keys and values (GQA; MQA with one). The result
        is (batch, heads, n, e), of the dtype of `q`.

        The last query stands at the last key, so that a single query attends to all keys before it. `causal` leaves out
        keys behind a query. `window`, an integer, leaves out keys that are that many or more positions away, on both
        sides; a pair ``(before, behind)`` takes those up to so many positions before and behind the query, -1: all.
        `scale` is ``1 / sqrt(d)`` unless given. `softcap` bounds scores to ``softcap * tanh(score / softcap)``.
        `bias` is added to the scores, or, where it is bool, says which are taken; its shape broadcasts to (batch,
        heads, n, m). A query of which no key is taken gives NaN, as a softmax of minus infinities does; without keys
        (m = 0) the result is zero.
    """
    ranks = len(q.shape), len(k.shape), len(v.shape)
    assert ranks == (4, 4, 4), "`q`, `k` and `v` have four axes: (batch, heads, length, head size)"
    batch, heads, n, d = q.shape
    shared, m = k.shape[1], k.shape[2]
    assert k.shape == (batch, shared, m, d), "`k`: keys have the batch and the head size of queries"
    assert v.shape[:3] == k.shape[:3], "`v`: there are as many values as keys"
    scaling(scale, softcap)
    shared_heads(heads, shared)
    assert d >= 1 or scale is not None, "the head size of `q` is 1 at least: the scale is 1 / sqrt(d)"
    assert isinstance(causal, bool), "causal is True or False"
    before, behind = reach(causal, window)
    queries, keys, values = alike((q, k, v))
    queries = queries.reshape(batch, shared, heads // shared, n, d)
    keys, values = keys.reshape(batch, shared, 1, m, d), values.reshape(batch, shared, 1, m, v.shape[3])
    if bias is not None:
        checked_bias(bias, (batch, heads, n, m))
        bias = in_heads(
            bias if bias.dtype == pk.bool_ else wide(bias).astype(queries.dtype), shared, heads // shared
        )
    if m == 0 or n == 0 or batch == 0:
        return pk.zeros((batch, heads, n, v.shape[3]), q.dtype)
    factor = 1 / d**0.5 if scale is None else scale
    o = differentiable(queries, keys, values, bias, factor, softcap, before, behind, v)
    return o.reshape(batch, heads, n, v.shape[3]).astype(q.dtype)


def reach(causal: Any, window: Any) -> Any:
    """How many positions before and behind a query keys are taken; None: all."""
    before, behind = None, None
    if isinstance(window, tuple):
        assert len(window) == 2, "a window is an integer or a pair (before, behind)"
        for side in window:
            assert is_whole(side) and side >= -1, (
                "the sides of a window are integers from 0 on, or -1 for all"
            )
        before, behind = [None if side < 0 else side for side in window]
    elif window is not None:
        assert is_whole(window), "a window is an integer or a pair (before, behind)"
        assert window >= 1, "a window is at least 1, the own position; (before, behind) may be given instead"
        before, behind = window - 1, window - 1
    if causal:
        behind = 0 if behind is None else min(behind, 0)
    return before, behind


def checked_bias(bias: Any, scores: Any) -> None:
    """A bias whose shape has to broadcast to that of the scores."""
    assert len(bias.shape) <= 4, "`bias` broadcasts to (batch, heads, n, m)"
    for k in range(len(bias.shape)):
        extent = bias.shape[len(bias.shape) - 1 - k]
        assert extent == 1 or extent == scores[3 - k], "`bias` broadcasts to (batch, heads, n, m)"


def in_heads(bias: Any, shared: int, group: int) -> Any:
    """A bias that broadcasts to (batch, heads, n, m), with the heads as two axes."""
    for _ in range(4 - len(bias.shape)):
        bias = bias[None]
    batch, heads, n, m = bias.shape
    if heads == 1:
        return bias.reshape(batch, 1, 1, n, m)
    return bias.reshape(batch, shared, group, n, m)
