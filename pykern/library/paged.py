"""Attention of single queries to keys that lie in pages: a step of decoding.

Comes in: a query of each sequence, pages of keys and values that all sequences share, and which pages hold a
sequence's. Goes out: attention to the keys that are there. Only pages that hold keys are read, and have gradients.

Source: W. Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, arXiv
2309.06180, section 4.1.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.blocked_attention import block_gradients, capped
from pykern.library.checks import is_integer, is_whole, scaling, shared_heads
from pykern.library.function import library_function
from pykern.library.precision import wide
from pykern.library.running_softmax import added, finished, started


def places(number: Any, page: Any, first: Any, length: Any) -> Any:
    """Which keys of a page are taken."""
    place = number * page + pk.arange(page)
    return (place >= first) & (place < length)


def bounds(length: Any, page: Any, pages: Any, window: Any) -> Any:
    """The first key that is taken, its page, and the page behind the last one."""
    first = 0 if window is None else pk.maximum(length - window, 0)
    return first, first // page, pk.minimum((length + page - 1) // page, pages)


def forward(
    q: Any, k_pages: Any, v_pages: Any, block_table: Any, lengths: Any, scale: Any, window: Any, softcap: Any
) -> Any:
    """The value, and what the gradients need. Queries are (batch, shared heads, queries of a shared head, d)."""
    page, pages, e = v_pages.shape[1], block_table.shape[1], v_pages.shape[3]
    o, sums = pk.zeros((q.shape[0], q.shape[1], q.shape[2], e), q.dtype), pk.zeros(q.shape[:3], q.dtype)
    for sequence in pk.range(q.shape[0]):
        first, begin, end = bounds(lengths[sequence], page, pages, window)
        top, total, values = started(q[sequence], e)
        for number in pk.range(begin, end):
            at = block_table[sequence, number]
            k, v = pk.swapaxes(k_pages[at], 0, 1), pk.swapaxes(v_pages[at], 0, 1)
            scores = capped(q[sequence], wide(k), scale, softcap)
            scores = pk.where(places(number, page, first, lengths[sequence]), scores, -pk.inf)
            top, total, values = added(top, total, values, scores, wide(v))
        o[sequence] = finished(total, values)
        sums[sequence] = (top + pk.log(total))[..., 0]
    return o, (q, k_pages, v_pages, block_table, lengths, scale, window, softcap, o, sums)


def attend(
    q: Any, k_pages: Any, v_pages: Any, block_table: Any, lengths: Any, scale: Any, window: Any, softcap: Any
) -> Any:
    """The forward part alone."""
    return forward(q, k_pages, v_pages, block_table, lengths, scale, window, softcap)[0]


def backward(kept: Any, g: Any) -> Any:
    """Gradients by queries and pages; a page that several sequences have gets the sum, in their order."""
    q, k_pages, v_pages, block_table, lengths, scale, window, softcap, o, sums = kept
    page, pages = v_pages.shape[1], block_table.shape[1]
    dq, dk, dv = pk.zeros_like(q), pk.zeros_like(k_pages), pk.zeros_like(v_pages)
    slopes = (g * o).sum(axis=-1)
    for sequence in pk.range(q.shape[0]):
        first, begin, end = bounds(lengths[sequence], page, pages, window)
        some, of_some = q[sequence][:, :, None], g[sequence][:, :, None]
        slope, sum_ = slopes[sequence][:, :, None, None], sums[sequence][:, :, None, None]
        of_query = pk.zeros_like(some)
        for number in pk.range(begin, end):
            at = block_table[sequence, number]
            k = pk.swapaxes(wide(k_pages[at]), 0, 1)[:, None]
            v = pk.swapaxes(wide(v_pages[at]), 0, 1)[:, None]
            here = places(number, page, first, lengths[sequence])
            of_q, of_k, of_v, _ = block_gradients(
                some, k, v, of_some, slope, sum_, None, here, scale, softcap
            )
            of_query = of_query + of_q
            dk[at] = dk[at] + pk.swapaxes(of_k[:, 0], 0, 1).astype(dk.dtype)
            dv[at] = dv[at] + pk.swapaxes(of_v[:, 0], 0, 1).astype(dv.dtype)
        dq[sequence] = of_query[:, :, 0]
    return dq, dk, dv, None, None, None, None, None


differentiable = pk.custom_vjp(attend)
differentiable.defvjp(forward, backward)


@library_function()
def paged_attention(
    q: Any,
    k_pages: Any,
    v_pages: Any,
    block_table: Any,
    lengths: Any,
    *,
    scale: pk.static = None,
    window: pk.static = None,
    softcap: pk.static = None,
) -> Any:
    """Attention of the newest query of each sequence to the keys of the sequence, which lie in pages.

    `q` is (batch, heads, d); `k_pages` is (pages, page, kv_heads, d), `v_pages` is (pages, page, kv_heads, e);
    `block_table` is (batch, most pages of a sequence), the pages of each sequence in order; `lengths` is (batch,),
    how many keys each sequence has, with that of the query. The result is (batch, heads, e), of the dtype of `q`; it
    is zero where there are no keys. With `window`, an integer, the last `window` keys are taken; `scale` and
    `softcap` are as in `flash_attention`.
    """
    assert len(q.shape) == 3, "`q` is (batch, heads, d)"
    assert len(k_pages.shape) == 4 and len(v_pages.shape) == 4, (
        "`k_pages` and `v_pages` are (pages, page, kv_heads, head size)"
    )
    batch, heads, d = q.shape
    shared, e = v_pages.shape[2], v_pages.shape[3]
    assert k_pages.shape[:3] == v_pages.shape[:3], "`k_pages` has as many pages, keys and heads as `v_pages`"
    assert k_pages.shape[3] == d, "`k_pages`: keys have the head size of queries"
    assert is_integer(block_table) and is_integer(lengths), "`block_table` and `lengths` have integers"
    assert len(block_table.shape) == 2 and block_table.shape[0] == batch, (
        "`block_table` has a row for each sequence"
    )
    assert lengths.shape == (batch,), "`lengths` has a number for each sequence"
    assert window is None or is_whole(window), "a window is an integer from 1 on, the newest keys"
    assert window is None or window >= 1, "a window is an integer from 1 on, the newest keys"
    scaling(scale, softcap)
    shared_heads(heads, shared)
    if batch == 0 or heads == 0:
        return pk.zeros((batch, heads, e), q.dtype)
    assert d >= 1 or scale is not None, "the head size of `q` is 1 at least: the scale is 1 / sqrt(d)"
    factor = 1 / d**0.5 if scale is None else scale
    queries = wide(q).reshape(batch, shared, heads // shared, d)
    assert queries.dtype == wide(k_pages[:0]).dtype and queries.dtype == wide(v_pages[:0]).dtype, (
        "`q`, `k_pages` and `v_pages` are all f64, or none of them is: convert one of them"
    )
    o = differentiable(queries, k_pages, v_pages, block_table, lengths, factor, window, softcap)
    return o.reshape(batch, heads, e).astype(q.dtype)
