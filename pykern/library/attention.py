"""Attention without the matrix of scores in memory, forward and backward.

Comes in: queries, keys and values. Goes out: sums of values, weighted by the softmax of scores. The compiler
computes the forward part in tiles with a running softmax; the backward part computes the scores of a block of
queries again, so that memory is linear in the number of keys, and adds up the blocks in order, so that gradients
are the same in every run.

Sources: T. Dao et al., FlashAttention, arXiv 2205.14135, section 3.1 and appendix B (the derivative); J. Ainslie et
al., GQA, arXiv 2305.13245 (shared heads); O. Press et al., ALiBi, arXiv 2108.12409 (a `bias`); Gemma 2, arXiv
2408.00118 (`softcap`).
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.function import library_function
from pykern.library.precision import wide

BLOCK = 64
"""Queries whose scores the backward part computes together."""


def capped(q: Any, k: Any, scale: Any, softcap: Any) -> Any:
    """The scores before bias and mask."""
    s = (q @ pk.swapaxes(k, -1, -2)) * scale
    if softcap is not None:
        s = softcap * pk.tanh(s / softcap)
    return s


def masked(s: Any, bias: Any, first: Any, before: Any, behind: Any) -> Any:
    """The scores with their bias, minus infinity where they are not taken. `first` is the position of the first
    query; keys are taken up to `before` positions before a query and `behind` positions behind it, None: all."""
    if bias is not None:
        s = pk.where(bias, s, -pk.inf) if bias.dtype == pk.bool_ else s + bias
    if before is not None or behind is not None:
        distance = pk.arange(s.shape[-1]) - (first + pk.arange(s.shape[-2]))[:, None]
        if behind is not None:
            s = pk.where(distance <= behind, s, -pk.inf)
        if before is not None:
            s = pk.where(distance >= -before, s, -pk.inf)
    return s


def attend(q: Any, k: Any, v: Any, bias: Any, scale: Any, softcap: Any, before: Any, behind: Any) -> Any:
    """The forward part. Queries are (batch, shared heads, queries of a shared head, n, d)."""
    s = masked(capped(q, k, scale, softcap), bias, k.shape[-2] - q.shape[-2], before, behind)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def rows(bias: Any, start: Any, stop: Any) -> Any:
    """The part of a bias for a block of queries."""
    if bias is None or bias.shape[-2] == 1:
        return bias
    return bias[..., start:stop, :]


def block_gradients(kept: Any, g: Any, start: Any, stop: Any) -> Any:
    """Gradients by the queries of a block, and what the block adds to those by keys, values and scores with a bias."""
    q, k, v, o, bias, scale, softcap, before, behind = kept
    q, g, o = q[..., start:stop, :], g[..., start:stop, :], o[..., start:stop, :]
    plain = capped(q, k, scale, softcap)
    s = masked(plain, rows(bias, start, stop), start + (k.shape[-2] - kept[0].shape[-2]), before, behind)
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    dv = (pk.swapaxes(p, -1, -2) @ g).sum(axis=2, keepdims=True)
    db = p * (g @ pk.swapaxes(v, -1, -2) - (g * o).sum(axis=-1, keepdims=True))
    ds = db * scale
    if softcap is not None:
        ds = ds * (1 - (plain / softcap) ** 2)
    if before is not None or behind is not None or (bias is not None and bias.dtype == pk.bool_):
        ds = pk.where(s == -pk.inf, 0, ds)  # not NaN where no key of a query is taken
    return ds @ k, (pk.swapaxes(ds, -1, -2) @ q).sum(axis=2, keepdims=True), dv, db


def reduced(x: Any, bias: Any) -> Any:
    """`x` summed over the axes along which the bias was repeated, but for that of the queries."""
    for axis in (0, 1, 2, 4):
        if bias.shape[axis] == 1 and x.shape[axis] != 1:
            x = x.sum(axis=axis, keepdims=True)
    return x


def add_block(dq: Any, dk: Any, dv: Any, db: Any, kept: Any, g: Any, start: Any, stop: Any) -> Any:
    """The gradients with those of a block."""
    bias = kept[4]
    of_q, of_k, of_v, of_s = block_gradients(kept, g, start, stop)
    dq[..., start:stop, :] = of_q
    if db is not None:
        of_s = reduced(of_s, bias)
        if bias.shape[-2] == 1:
            db = db + of_s.sum(axis=3, keepdims=True)
        else:
            db[..., start:stop, :] = of_s
    return dq, dk + of_k, dv + of_v, db


def forward(q: Any, k: Any, v: Any, bias: Any, scale: Any, softcap: Any, before: Any, behind: Any) -> Any:
    """The value, and what the gradients need: nothing as large as the scores."""
    o = attend(q, k, v, bias, scale, softcap, before, behind)
    return o, (q, k, v, o, bias, scale, softcap, before, behind)


def backward(kept: Any, g: Any) -> Any:
    """Gradients by queries, keys, values and a bias."""
    q, k, v, bias = kept[0], kept[1], kept[2], kept[4]
    dq, dk, dv = pk.zeros_like(q), pk.zeros_like(k), pk.zeros_like(v)
    db = None if bias is None or bias.dtype == pk.bool_ else pk.zeros_like(bias)
    n = q.shape[-2]
    whole = n - n % BLOCK
    if whole:
        for block in pk.range(n // BLOCK):
            start = block * BLOCK
            dq, dk, dv, db = add_block(dq, dk, dv, db, kept, g, start, start + BLOCK)
    if whole != n:
        dq, dk, dv, db = add_block(dq, dk, dv, db, kept, g, whole, n)
    return dq, dk, dv, db, None, None, None, None


differentiable = pk.custom_vjp(attend)
differentiable.defvjp(forward, backward)


@library_function
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
    batch, heads, n, d = q.shape
    shared, m = k.shape[1], k.shape[2]
    assert heads % shared == 0, "the number of heads is a multiple of that of keys and values"
    queries = wide(q).reshape(batch, shared, heads // shared, n, d)
    keys, values = wide(k).reshape(batch, shared, 1, m, d), wide(v).reshape(batch, shared, 1, m, v.shape[3])
    if bias is not None:
        bias = in_heads(bias if bias.dtype == pk.bool_ else wide(bias), shared, heads // shared)
    if m == 0 or n == 0 or batch == 0:
        return pk.zeros((batch, heads, n, v.shape[3]), q.dtype)
    factor = 1 / d**0.5 if scale is None else scale
    before, behind = reach(causal, window)
    o = differentiable(queries, keys, values, bias, factor, softcap, before, behind)
    return o.reshape(batch, heads, n, v.shape[3]).astype(q.dtype)


def reach(causal: Any, window: Any) -> Any:
    """How many positions before and behind a query keys are taken; None: all."""
    before, behind = None, None
    if isinstance(window, tuple):
        before, behind = [None if side < 0 else side for side in window]
    elif window is not None:
        before, behind = window - 1, window - 1
    if causal:
        behind = 0 if behind is None else min(behind, 0)
    return before, behind


def in_heads(bias: Any, shared: int, group: int) -> Any:
    """A bias that broadcasts to (batch, heads, n, m), with the heads as two axes."""
    for _ in range(4 - len(bias.shape)):
        bias = bias[None]
    batch, heads, n, m = bias.shape
    if heads == 1:
        return bias.reshape(batch, 1, 1, n, m)
    return bias.reshape(batch, shared, group, n, m)
