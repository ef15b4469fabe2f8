"""Attention in sequences of several lengths that stand one behind the other, without padding.

Comes in: the queries, keys and values of all sequences, and where each begins. Goes out: attention within each
sequence. Blocks of queries go through the blocks of keys of their own sequence that mask and window leave; the
backward part does the same with scores computed again. Blocks are added up in order, so that gradients have the same
bits in every run. A block at the end of the arrays is moved back into them, and counts only what is its own.

Source: T. Dao, FlashAttention-2, arXiv 2307.08691, section 3.1.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.attention import capped, reach
from pykern.library.function import library_function
from pykern.library.precision import wide
from pykern.library.running_softmax import added, finished, logarithm, started

QUERIES = 64
"""Queries of a block."""
KEYS = 64
"""Keys of a block."""


def block(low: Any, end: Any, size: int, length: int) -> Any:
    """Where the block of `size` rows from `low` on begins, its rows, and which of them are its own, before `end`."""
    start = pk.minimum(low, length - size)
    rows = start + pk.arange(size)
    return start, rows, (rows >= low) & (rows < end)


def count(low: Any, end: Any, size: int) -> Any:
    """The number of blocks from `low` to `end`."""
    return (pk.maximum(end - low, 0) + size - 1) // size


def keys_of(low: Any, end: Any, keys: Any, before: Any, behind: Any) -> Any:
    """The keys, from .. to, that queries take which stand at low .. end among the keys."""
    first, last = keys
    if before is not None:
        first = pk.maximum(first, low - before)
    if behind is not None:
        last = pk.minimum(last, end + behind)
    return first, last


def taken(query: Any, key: Any, own_queries: Any, own_keys: Any, before: Any, behind: Any) -> Any:
    """Which keys each query of a block takes, of their places among the keys."""
    here = own_queries[:, None] & own_keys[None, :]
    distance = key[None, :] - query[:, None]
    if behind is not None:
        here = here & (distance <= behind)
    if before is not None:
        here = here & (distance >= -before)
    return here


def forward(
    q: Any, k: Any, v: Any, queries: Any, keys: Any, scale: Any, softcap: Any, before: Any, behind: Any
) -> Any:
    """The value, and what the gradients need. Queries are (shared heads, queries of a shared head, n, d)."""
    n, m = q.shape[2], k.shape[2]
    size, width = min(QUERIES, n), min(KEYS, m)
    o = pk.zeros((q.shape[0], q.shape[1], n, v.shape[3]), q.dtype)
    sums = pk.full((q.shape[0], q.shape[1], n, 1), pk.inf, q.dtype)
    for sequence in pk.range(queries.shape[0] - 1):
        end, shift = queries[sequence + 1], keys[sequence + 1] - queries[sequence + 1]
        for number in pk.range(count(queries[sequence], end, size)):
            low = queries[sequence] + number * size
            start, rows, own = block(low, end, size, n)
            part = q[:, :, start : start + size]
            first, last = keys_of(
                low + shift,
                pk.minimum(low + size, end) + shift,
                (keys[sequence], keys[sequence + 1]),
                before,
                behind,
            )
            top, total, values = started(part, v.shape[3])
            for step in pk.range(count(first, last, width)):
                at, columns, theirs = block(first + step * width, last, width, m)
                here = taken(rows + shift, columns, own, theirs, before, behind)
                scores = pk.where(here, capped(part, k[:, :, at : at + width], scale, softcap), -pk.inf)
                top, total, values = added(top, total, values, scores, v[:, :, at : at + width])
            own = own[:, None]
            o[:, :, start : start + size] = pk.where(
                own, finished(total, values), o[:, :, start : start + size]
            )
            sums[:, :, start : start + size] = pk.where(
                own, logarithm(top, total), sums[:, :, start : start + size]
            )
    return o, (q, k, v, o, sums, queries, keys, scale, softcap, before, behind)


def attend(
    q: Any, k: Any, v: Any, queries: Any, keys: Any, scale: Any, softcap: Any, before: Any, behind: Any
) -> Any:
    """The forward part alone."""
    return forward(q, k, v, queries, keys, scale, softcap, before, behind)[0]


def block_gradients(
    q: Any, k: Any, v: Any, g: Any, slope: Any, sums: Any, here: Any, scale: Any, softcap: Any
) -> Any:
    """What a block of queries and keys adds to the gradients by queries, keys and values; `slope` is the sum of the
    products of the values and their gradients."""
    plain = capped(q, k, scale, softcap)
    p = pk.where(here, pk.exp(plain - sums), 0)
    ds = p * (g @ pk.swapaxes(v, -1, -2) - slope) * scale
    if softcap is not None:
        ds = ds * (1 - (plain / softcap) ** 2)
    of_k = (pk.swapaxes(ds, -1, -2) @ q).sum(axis=1, keepdims=True)
    return ds @ k, of_k, (pk.swapaxes(p, -1, -2) @ g).sum(axis=1, keepdims=True)


def backward(kept: Any, g: Any) -> Any:
    """Gradients by queries, keys and values."""
    q, k, v, o, sums, queries, keys, scale, softcap, before, behind = kept
    n, m = q.shape[2], k.shape[2]
    size, width = min(QUERIES, n), min(KEYS, m)
    dq, dk, dv = pk.zeros_like(q), pk.zeros_like(k), pk.zeros_like(v)
    slopes = (g * o).sum(axis=-1, keepdims=True)
    for sequence in pk.range(queries.shape[0] - 1):
        end, shift = queries[sequence + 1], keys[sequence + 1] - queries[sequence + 1]
        for number in pk.range(count(queries[sequence], end, size)):
            low = queries[sequence] + number * size
            start, rows, own = block(low, end, size, n)
            stop = start + size
            part, of_part, slope = q[:, :, start:stop], g[:, :, start:stop], slopes[:, :, start:stop]
            first, last = keys_of(
                low + shift,
                pk.minimum(low + size, end) + shift,
                (keys[sequence], keys[sequence + 1]),
                before,
                behind,
            )
            total = pk.zeros_like(part)
            for step in pk.range(count(first, last, width)):
                at, columns, theirs = block(first + step * width, last, width, m)
                here = taken(rows + shift, columns, own, theirs, before, behind)
                some_k, some_v = k[:, :, at : at + width], v[:, :, at : at + width]
                of_q, of_k, of_v = block_gradients(
                    part, some_k, some_v, of_part, slope, sums[:, :, start:stop], here, scale, softcap
                )
                total = total + of_q
                dk[:, :, at : at + width] = dk[:, :, at : at + width] + of_k
                dv[:, :, at : at + width] = dv[:, :, at : at + width] + of_v
            dq[:, :, start:stop] = dq[:, :, start:stop] + total
    return dq, dk, dv, None, None, None, None, None, None


differentiable = pk.custom_vjp(attend)
differentiable.defvjp(forward, backward)


@library_function
def varlen_attention(
    q: Any,
    k: Any,
    v: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any = None,
    *,
    causal: pk.static = False,
    scale: pk.static = None,
    window: pk.static = None,
    softcap: pk.static = None,
) -> Any:
    """`flash_attention` within each of several sequences that stand one behind the other.

    `q` is (n, heads, d), `k` is (m, kv_heads, d), `v` is (m, kv_heads, e): the rows of all sequences. `cu_seqlens_q`
    and `cu_seqlens_k` (the same if None) are (sequences + 1,), integers that do not fall: where each sequence begins,
    and where the last one ends. The result is (n, heads, e), of the dtype of `q`; queries that take no key, and rows
    behind the last sequence, are zero. The other arguments are as in `flash_attention`.
    """
    n, heads, d = q.shape
    m, shared, e = v.shape
    assert heads % shared == 0, "the number of heads is a multiple of that of keys and values"
    if n == 0 or m == 0 or heads == 0:
        return pk.zeros((n, heads, e), q.dtype)
    queries = pk.transpose(wide(q).reshape(n, shared, heads // shared, d), (1, 2, 0, 3))
    keys, values = pk.transpose(wide(k), (1, 0, 2))[:, None], pk.transpose(wide(v), (1, 0, 2))[:, None]
    before, behind = reach(causal, window)
    factor = 1 / d**0.5 if scale is None else scale
    ends = cu_seqlens_q if cu_seqlens_k is None else cu_seqlens_k
    o = differentiable(queries, keys, values, cu_seqlens_q, ends, factor, softcap, before, behind)
    return pk.transpose(o, (2, 0, 1, 3)).reshape(n, heads, e).astype(q.dtype)
