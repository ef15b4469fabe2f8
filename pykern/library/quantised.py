"""A linear layer whose weights are integers of 8 or 4 bits with scales.

Comes in: rows, integers, and a scale for each row or each group of neighbours in a row. Goes out: the product with the
numbers that they stand for, which are computed on the way.

Source: T. Dettmers et al., LLM.int8(), arXiv 2208.07339, section 2 (scales of rows); E. Frantar et al., GPTQ, arXiv
2210.17323, section 4 (groups of neighbours).
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.function import library_function
from pykern.library.precision import wide


def halves(packed: Any) -> Any:
    """The signed numbers of 4 bits in bytes, (rows, 2 * n) of (rows, n): the low half of a byte comes first."""
    bytes_ = packed.astype(pk.i32)
    low, high = ((bytes_ & 15) ^ 8) - 8, (((bytes_ >> 4) & 15) ^ 8) - 8
    return pk.stack((low, high), axis=-1).reshape(packed.shape[0], 2 * packed.shape[1])


@library_function()
def quantised_linear(
    x: Any, weight: Any, scale: Any, zero: Any = None, bias: Any = None, *, bits: pk.static = 8
) -> Any:
    """``x @ ((weight - zero) * scale).T + bias`` with weights of 8 or 4 bits.

    `x` is (..., inner), float. With ``bits=8`` `weight` is (outer, inner) of i8 or u8; with ``bits=4`` it is (outer,
    inner // 2), bytes with two signed numbers each, -8 to 7, the lower half first. `scale` and `zero` (0 if None) are
    (outer,) or (outer, groups), where each group has ``inner // groups`` neighbours; `bias` is (outer,) or None.
    The result is (..., outer), of the dtype of `x`. It is differentiable by `x`, `scale`, `zero` and `bias`.
    """
    assert bits == 8 or bits == 4, "bits is 8 or 4"
    assert weight.dtype == pk.i8 or weight.dtype == pk.u8, "`weight` has integers of 8 bits"
    assert len(weight.shape) == 2, "`weight` is (outer, inner), or (outer, inner // 2) with 4 bits"
    a = wide(x)
    numbers = halves(weight) if bits == 4 else weight
    outer, inner = numbers.shape
    assert inner == a.shape[-1], "the rows of `weight` are as long as those of `x`"
    assert scale.shape[:1] == (outer,) and len(scale.shape) <= 2, "`scale` is (outer,) or (outer, groups)"
    groups = 1 if len(scale.shape) == 1 else scale.shape[1]
    assert groups >= 1 and inner % groups == 0, (
        "`scale`: the inner length is a multiple of the number of groups"
    )
    assert zero is None or zero.shape == scale.shape, "`zero` has the shape of `scale`"
    assert bias is None or bias.shape == (outer,), "`bias` has a number for each row of `weight`"
    w = numbers.astype(a.dtype).reshape(outer, groups, -1)
    if zero is not None:
        w = w - wide(zero).astype(a.dtype).reshape(outer, groups, 1)
    w = (w * wide(scale).astype(a.dtype).reshape(outer, groups, 1)).reshape(outer, inner)
    y = a @ w.T
    if bias is not None:
        y = y + wide(bias)
    return y.astype(x.dtype)
