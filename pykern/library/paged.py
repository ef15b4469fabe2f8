"""Attention of single queries to keys that lie in pages: a step of decoding.

Comes in: a query of each sequence, pages of keys and values that all sequences share, and which pages hold a
sequence's. Goes out: attention to the keys that are there. Only pages that hold keys are read.

Source: W. Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention, arXiv
2309.06180, section 4.1.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.blocked_attention import capped
from pykern.library.function import library_function
from pykern.library.precision import wide
from pykern.library.running_softmax import added, finished, started


@library_function
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
    batch, heads, d = q.shape
    page, shared, e = v_pages.shape[1], v_pages.shape[2], v_pages.shape[3]
    assert heads % shared == 0, "the number of heads is a multiple of that of keys and values"
    factor = 1 / d**0.5 if scale is None else scale
    queries = wide(q).reshape(batch, shared, heads // shared, d)
    o = pk.zeros((batch, shared, heads // shared, e), queries.dtype)
    for sequence in pk.range(batch):
        length = lengths[sequence]
        first = 0 if window is None else pk.maximum(length - window, 0)
        top, total, values = started(queries[sequence], e)
        for number in pk.range(first // page, (length + page - 1) // page):
            at = block_table[sequence, number]
            k, v = pk.swapaxes(wide(k_pages[at]), 0, 1), pk.swapaxes(wide(v_pages[at]), 0, 1)
            place = number * page + pk.arange(page)
            scores = capped(queries[sequence], k, factor, softcap)
            scores = pk.where((place >= first) & (place < length), scores, -pk.inf)
            top, total, values = added(top, total, values, scores, v)
        o[sequence] = finished(total, values)
    return o.reshape(batch, heads, e).astype(q.dtype)
