"""Softmax with dropout behind it, whose mask is never stored.

Source: N. Srivastava et al., Dropout, JMLR 15 (2014).
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.checks import not_negative_seed, one_axis, probability
from pykern.library.function import library_function
from pykern.library.precision import wide


@library_function(p=probability, seed=not_negative_seed)
def softmax_dropout(x: Any, p: Any, *, seed: Any, axis: pk.static = -1) -> Any:
    """Softmax along `axis`; each element is then 0 with probability `p`, below 1, else divided by ``1 - p``.

    `x` is a float array; the result has its shape and dtype. Which elements are dropped follows from `seed` (an
    integer from 0 on) and the shape alone, by Philox: it is the same in the derivative, in every run and on every
    device. A `p` that is no such probability, and that only the run of a program shows, gives NaN.
    """
    probability(p)
    not_negative_seed(seed)
    one_axis(x, axis)
    if x.size == 0:
        return x.copy()
    a = wide(x)
    e = pk.exp(a - a.max(axis=axis, keepdims=True))
    y = e / e.sum(axis=axis, keepdims=True)
    chance = pk.where((p >= 0) & (p < 1), p, pk.nan)
    is_dropped = pk.random(seed, pk.arange(x.size)).reshape(x.shape) < chance
    return pk.where(is_dropped, 0, y / (1 - chance)).astype(x.dtype)
