"""Attention a block of queries and a block of keys at a time, forward and backward.

Comes in: queries, keys and values, in one sequence or in several that stand one behind the other. Goes out: attention,
the logarithms of the sums of exponentials, and gradients. Blocks of queries go through the blocks of keys of their own
sequence that mask and window leave; the backward part does the same with scores computed again. Blocks are added up in
order, so that gradients have the same bits in every run. Read next: `blocks`, which says where they lie.

Sources: T. Dao, FlashAttention-2, arXiv 2307.08691, section 3.1; the derivative is of T. Dao et al., FlashAttention,
arXiv 2205.14135, appendix B.
"""

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.blocks import block, count
from pykern.library.running_softmax import added, started

QUERIES = 64
"""Queries of a block."""
KEYS = 64
"""Keys of a block."""


def capped(q: Any, k: Any, scale: Any, softcap: Any) -> Any:
    """The scores before bias and mask."""
    s = (q @ pk.swapaxes(k, -1, -2)) * scale
    if softcap is not None:
        s = softcap * pk.tanh(s / softcap)
    return s


def biased(s: Any, bias: Any) -> Any:
    """The scores with a bias; one of bool says which are taken."""
    if bias is None:
        return s
    return pk.where(bias, s, -pk.inf) if bias.dtype == pk.bool_ else s + bias


def keys_of(low: Any, end: Any, first: Any, last: Any, before: Any, behind: Any) -> Any:
    """The keys, of those from `first` to `last`, that queries take which stand at low .. end among the keys."""
    if before is not None:
        first = pk.maximum(first, low - before)
    if behind is not None:
        last = pk.minimum(last, end + behind)
    return first, last


def taken(query: Any, key: Any, own_queries: Any, own_keys: Any, before: Any, behind: Any) -> Any:
    """Which keys each query of a block takes; `query` and `key` are places among the keys."""
    here = own_queries[:, None] & own_keys[None, :]
    distance = key[None, :] - query[:, None]
    if behind is not None:
        here = here & (distance <= behind)
    if before is not None:
        here = here & (distance >= -before)
    return here


def span(extent: int, start: Any, size: int) -> Any:
    """Which part of an axis of a bias a block has: all of an axis of length 1."""
    return (0, 1) if extent == 1 else (start, size)


def part(bias: Any, start: Any, size: int, at: Any, width: int) -> Any:
    """The bias of a block."""
    if bias is None:
        return None
    row, rows = span(bias.shape[-2], start, size)
    column, columns = span(bias.shape[-1], at, width)
    return bias[..., row : row + rows, column : column + columns]


def forward(
    q: Any,
    k: Any,
    v: Any,
    bias: Any,
    queries: Any,
    keys: Any,
    zero: Any,
    scale: Any,
    softcap: Any,
    before: Any,
    behind: Any,
) -> Any:
    """The value, and what the gradients need. Queries are (..., queries of a shared head, n, d), keys (..., 1, m, d).
    `queries` and `keys` say where sequences begin and end. A query of which no key is taken gives zero where `zero`,
    else NaN."""
    n, m = q.shape[-2], k.shape[-2]
    size, width = min(QUERIES, n), min(KEYS, m)
    o = pk.zeros_like(q[..., :1]) + pk.zeros((v.shape[-1],), q.dtype)
    sums = pk.zeros_like(q[..., :1]) + pk.inf
    for sequence in pk.range(queries.shape[0] - 1):
        end, shift = queries[sequence + 1], keys[sequence + 1] - queries[sequence + 1]
        for number in pk.range(count(queries[sequence], end, size)):
            low = queries[sequence] + number * size
            start, rows, own = block(low, end, size, n)
            some = q[..., start : start + size, :]
            at, until = low + shift, pk.minimum(low + size, end) + shift
            first, last = keys_of(at, until, keys[sequence], keys[sequence + 1], before, behind)
            top, total, values = started(some, v.shape[-1])
            for step in pk.range(count(first, last, width)):
                at, columns, theirs = block(first + step * width, last, width, m)
                here = taken(rows + shift, columns, own, theirs, before, behind)
                s = capped(some, k[..., at : at + width, :], scale, softcap)
                s = pk.where(here, biased(s, part(bias, start, size, at, width)), -pk.inf)
                top, total, values = added(top, total, values, s, v[..., at : at + width, :])
            own, logarithm = own[:, None], top + pk.log(total)
            if zero:
                logarithm, total = pk.where(total == 0, pk.inf, logarithm), pk.where(total == 0, 1, total)
            o[..., start : start + size, :] = pk.where(own, values / total, o[..., start : start + size, :])
            sums[..., start : start + size, :] = pk.where(own, logarithm, sums[..., start : start + size, :])
    return o, (q, k, v, o, sums, bias, queries, keys, scale, softcap, before, behind)


def attend(
    q: Any,
    k: Any,
    v: Any,
    bias: Any,
    queries: Any,
    keys: Any,
    zero: Any,
    scale: Any,
    softcap: Any,
    before: Any,
    behind: Any,
) -> Any:
    """The forward part alone."""
    return forward(q, k, v, bias, queries, keys, zero, scale, softcap, before, behind)[0]


def block_gradients(
    q: Any, k: Any, v: Any, g: Any, slope: Any, sums: Any, bias: Any, here: Any, scale: Any, softcap: Any
) -> Any:
    """What a block of queries and keys adds to the gradients by queries, keys, values and scores with a bias; `slope`
    is the sum of the products of the values and their gradients."""
    plain = capped(q, k, scale, softcap)
    s = pk.where(here, biased(plain, bias), -pk.inf)
    p = pk.exp(s - sums)
    db = pk.where(s == -pk.inf, 0, p * (g @ pk.swapaxes(v, -1, -2) - slope))
    ds = db * scale
    if softcap is not None:
        ds = ds * (1 - (plain / softcap) ** 2)
    of_k = (pk.swapaxes(ds, -1, -2) @ q).sum(axis=-3, keepdims=True)
    return ds @ k, of_k, (pk.swapaxes(p, -1, -2) @ g).sum(axis=-3, keepdims=True), db


def reduced(x: Any, bias: Any) -> Any:
    """`x` summed over the axes along which the bias was repeated."""
    for axis in range(len(bias.shape)):
        if bias.shape[axis] == 1 and x.shape[axis] != 1:
            x = x.sum(axis=axis, keepdims=True)
    return x


def backward(kept: Any, g: Any) -> Any:
    """Gradients by queries, keys, values and a bias."""
    q, k, v, o, sums, bias, queries, keys, scale, softcap, before, behind = kept
    n, m = q.shape[-2], k.shape[-2]
    size, width = min(QUERIES, n), min(KEYS, m)
    dq, dk, dv = pk.zeros_like(q), pk.zeros_like(k), pk.zeros_like(v)
    db = None if bias is None or bias.dtype == pk.bool_ else pk.zeros_like(bias)
    slopes = (g * o).sum(axis=-1, keepdims=True)
    for sequence in pk.range(queries.shape[0] - 1):
        end, shift = queries[sequence + 1], keys[sequence + 1] - queries[sequence + 1]
        for number in pk.range(count(queries[sequence], end, size)):
            low = queries[sequence] + number * size
            start, rows, own = block(low, end, size, n)
            stop = start + size
            some, of_some = q[..., start:stop, :], g[..., start:stop, :]
            slope, sum_ = slopes[..., start:stop, :], sums[..., start:stop, :]
            at, until = low + shift, pk.minimum(low + size, end) + shift
            first, last = keys_of(at, until, keys[sequence], keys[sequence + 1], before, behind)
            total = pk.zeros_like(some)
            for step in pk.range(count(first, last, width)):
                at, columns, theirs = block(first + step * width, last, width, m)
                here = taken(rows + shift, columns, own, theirs, before, behind)
                some_k, some_v = k[..., at : at + width, :], v[..., at : at + width, :]
                some_bias = part(bias, start, size, at, width)
                of_q, of_k, of_v, of_s = block_gradients(
                    some, some_k, some_v, of_some, slope, sum_, some_bias, here, scale, softcap
                )
                total = total + of_q
                dk[..., at : at + width, :] = dk[..., at : at + width, :] + of_k
                dv[..., at : at + width, :] = dv[..., at : at + width, :] + of_v
                if bias is not None and db is not None:
                    row, height = span(bias.shape[-2], start, size)
                    column, across = span(bias.shape[-1], at, width)
                    added_up = db[..., row : row + height, column : column + across] + reduced(of_s, bias)
                    db[..., row : row + height, column : column + across] = added_up
            dq[..., start:stop, :] = dq[..., start:stop, :] + total
    return dq, dk, dv, db, None, None, None, None, None, None, None


differentiable = pk.custom_vjp(attend)
differentiable.defvjp(forward, backward)
