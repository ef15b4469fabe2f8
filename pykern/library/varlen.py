"""Attention in sequences of several lengths that stand one behind the other, without padding.

Comes in: the queries, keys and values of all sequences, and where each begins. Goes out: attention within each
sequence. Read next: `blocked_attention`, which goes through the blocks of each.

Source: T. Dao, FlashAttention-2, arXiv 2307.08691, section 3.1.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.attention import reach
from pykern.library.blocked_attention import differentiable
from pykern.library.checks import is_integer, scaling, shared_heads
from pykern.library.function import library_function
from pykern.library.precision import alike


@library_function()
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
    assert len(q.shape) == 3 and len(k.shape) == 3 and len(v.shape) == 3, (
        "`q`, `k` and `v` have three axes: (length, heads, head size)"
    )
    n, heads, d = q.shape
    m, shared, e = v.shape
    assert k.shape == (m, shared, d), "`k`: keys are as values, with the head size of queries"
    ends = cu_seqlens_q if cu_seqlens_k is None else cu_seqlens_k
    assert is_integer(cu_seqlens_q) and is_integer(ends), (
        "`cu_seqlens_q` and `cu_seqlens_k` have integers: where each sequence begins"
    )
    assert len(cu_seqlens_q.shape) == 1 and cu_seqlens_q.shape[0] >= 1, (
        "`cu_seqlens_q` has (sequences + 1) numbers"
    )
    assert ends.shape == cu_seqlens_q.shape, (
        "`cu_seqlens_q` and `cu_seqlens_k` have the same number of sequences"
    )
    shared_heads(heads, shared)
    scaling(scale, softcap)
    if n == 0 or m == 0 or heads == 0:
        return pk.zeros((n, heads, e), q.dtype)
    queries, keys, values = alike((q, k, v))
    queries = pk.transpose(queries.reshape(n, shared, heads // shared, d), (1, 2, 0, 3))
    keys, values = pk.transpose(keys, (1, 0, 2))[:, None], pk.transpose(values, (1, 0, 2))[:, None]
    before, behind = reach(causal, window)
    assert d >= 1 or scale is not None, "the head size of `q` is 1 at least: the scale is 1 / sqrt(d)"
    factor = 1 / d**0.5 if scale is None else scale
    o = differentiable(queries, keys, values, None, cu_seqlens_q, ends, True, factor, softcap, before, behind)
    return pk.transpose(o, (2, 0, 1, 3)).reshape(n, heads, e).astype(q.dtype)
