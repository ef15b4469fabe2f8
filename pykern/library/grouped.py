"""Linear layers of many experts, each over its own rows: the product of a mixture of experts.

Comes in: rows, sorted by expert, and where the rows of each end. Goes out: each row through its expert. Rows are
taken in `blocks` that lie in one expert. The work is that of the rows, not of rows times experts.

Source: T. Gale et al., MegaBlocks, arXiv 2211.15841, section 4.
"""

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.blocks import block, count
from pykern.library.checks import is_integer
from pykern.library.function import library_function
from pykern.library.precision import alike

ROWS = 64
"""Rows of an expert that are computed together."""


def begin(offsets: Any, expert: Any) -> Any:
    """The first row of an expert."""
    return pk.where(expert > 0, offsets[pk.maximum(expert - 1, 0)], 0)


def multiplied(x: Any, weight: Any, offsets: Any) -> Any:
    """The forward part."""
    rows = x.shape[0]
    size = min(ROWS, rows)
    y = pk.zeros((rows, weight.shape[1]), x.dtype)
    for expert in pk.range(weight.shape[0]):
        first, end = begin(offsets, expert), offsets[expert]
        for number in pk.range(count(first, end, size)):
            start, _, own = block(first + number * size, end, size, rows)
            found = x[start : start + size] @ weight[expert].T
            y[start : start + size] = pk.where(own[:, None], found, y[start : start + size])
    return y


def forward(x: Any, weight: Any, offsets: Any) -> Any:
    """The value, and what the gradients need."""
    return multiplied(x, weight, offsets), (x, weight, offsets)


def backward(kept: Any, g: Any) -> Any:
    """Gradients by rows and weights."""
    x, weight, offsets = kept
    rows = x.shape[0]
    size = min(ROWS, rows)
    dx, dweight = pk.zeros_like(x), pk.zeros_like(weight)
    for expert in pk.range(weight.shape[0]):
        first, end = begin(offsets, expert), offsets[expert]
        for number in pk.range(count(first, end, size)):
            start, _, own = block(first + number * size, end, size, rows)
            of_block = pk.where(own[:, None], g[start : start + size], 0)
            dx[start : start + size] = dx[start : start + size] + of_block @ weight[expert]
            dweight[expert] = dweight[expert] + of_block.T @ x[start : start + size]
    return dx, dweight, None


differentiable = pk.custom_vjp(multiplied)
differentiable.defvjp(forward, backward)


@library_function()
def grouped_linear(x: Any, weight: Any, offsets: Any) -> Any:
    """``x[a:b] @ weight[e].T`` for each expert `e` and its rows `a` .. `b`: a linear layer of many experts.

    `x` is (rows, inner), sorted by expert; `weight` is (experts, outer, inner); `offsets` is (experts,), integers
    that do not fall: the row behind the last one of each expert. The result is (rows, outer), of the dtype of `x`;
    rows behind the last expert's are zero.
    """
    assert len(x.shape) == 2, "`x` is (rows, inner)"
    assert len(weight.shape) == 3, "`weight` is (experts, outer, inner)"
    assert weight.shape[2] == x.shape[1], "the rows of weights are as long as those of `x`"
    assert is_integer(offsets), "`offsets` has integers: the row behind the last one of each expert"
    assert offsets.shape == weight.shape[:1], "`offsets` has a number for each expert"
    if x.shape[0] == 0 or weight.shape[0] == 0:
        return pk.zeros((x.shape[0], weight.shape[1]), x.dtype)
    rows, weights = alike((x, weight))
    return differentiable(rows, weights, offsets).astype(x.dtype)
