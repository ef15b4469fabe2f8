"""Softmax of scores that come a block at a time, as attention over keys that are not of a fixed number takes it.

Comes in: what is known of the rows so far, and the scores and values of a block of keys. Goes out: the same with the
block. Sums are relative to the largest score so far.

Source: M. Milakov and N. Gimelshein, Online normalizer calculation for softmax, arXiv 1805.02867, algorithm 3.
"""

from __future__ import annotations

from typing import Any

import pykern as pk


def started(q: Any, values: int) -> Any:
    """Before the first block: the largest score, the sum of exponentials, and the sum of values weighted by them, of
    queries (..., rows, d) and values of some length."""
    none = pk.zeros_like(q[..., :1])
    return none - pk.inf, none, none + pk.zeros((values,), q.dtype)


def added(top: Any, total: Any, values: Any, scores: Any, block: Any) -> Any:
    """With the scores (..., rows, keys) and values (..., keys, e) of a block; minus infinity is a key that is not
    taken."""
    found = pk.maximum(top, scores.max(axis=-1, keepdims=True))
    base = pk.where(found == -pk.inf, 0, found)
    e, factor = pk.exp(scores - base), pk.exp(top - base)
    return found, total * factor + e.sum(axis=-1, keepdims=True), values * factor + e @ block


def finished(total: Any, values: Any) -> Any:
    """The weighted mean of values; zero where no key was taken."""
    return values / pk.where(total == 0, 1, total)
