"""Rows of a table by their numbers, and the gradient by the table.

Comes in: numbers and a table. Goes out: the rows. The gradients of rows that are taken several times are added up in
the order of the numbers, so that they have the same bits in every run.

Source: Y. Bengio et al., A Neural Probabilistic Language Model, JMLR 3 (2003).
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.checks import is_integer, is_whole
from pykern.library.function import library_function


@library_function()
def embedding(indices: Any, weight: Any, *, padding_idx: pk.static = None) -> Any:
    """``weight[indices]``: rows of a table.

    `indices` has integers in any shape, `weight` is (rows, n); the result is (..., n), of the dtype of `weight`. The
    row `padding_idx` gets no gradient.
    """
    assert is_integer(indices), "`indices` has integers, the numbers of rows"
    assert len(weight.shape) == 2, "`weight` is (rows, n)"
    assert padding_idx is None or is_whole(padding_idx), "`padding_idx` is the number of a row, or None"
    assert padding_idx is None or (padding_idx >= 0 and padding_idx < weight.shape[0]), (
        "`padding_idx` is the number of a row, from 0 on"
    )
    rows = weight[indices]
    if padding_idx is None:
        return rows
    is_padding = (indices == padding_idx).reshape(*indices.shape, 1)
    return pk.where(is_padding, pk.stop_gradient(rows), rows)
