"""What pays as an array program: every threshold by which the backend leaves to PyTorch what PyTorch does as fast.

Comes in: a node or a part of a graph that rules can write. Goes out: whether it is to become a program. Read next:
`support`, which asks for each operation, and `partition`, which asks for each part.
"""

from __future__ import annotations

import math
from typing import Any

from pykern.torch.backend.framework import Node, Tensor, aten
from pykern.torch.backend.ops import COMPOSITE, ELEMENTWISE, FREE, LONG
from pykern.torch.backend.writer import NotTaken, argument

LEAST = 2
"""Operations that compute, from which on a part is a program."""
LARGE = 1 << 18
"""Elements of a tensor from which on a single function or reduction is one."""
FRESH = 1 << 20
"""Elements of a result from which on any operation element by element is one: a program writes into memory that earlier
results left, or that nothing reads any more, and PyTorch's comes fresh from the system, page by page."""
ROWS = 128
"""Rows of a product from which on it pays to lay out a transposed right factor, such as the weights of a layer."""
SMALL_FACTOR = 1 << 16
"""Elements of a transposed right factor up to which it is laid out in no time that counts."""
JOINED = 4
"""Products of few rows by one factor from which on they are one product: their rows are put together for it."""
ALIKE = 4
"""Parts that begin with a selection from one tensor, from which on PyTorch makes it: to compile a part takes as long as
tens of thousands of such calls."""
MANY = 16
"""Tensors up to which a program puts them together along the first axis: more are as many loops to compile, and PyTorch
copies each in one go."""
SHORT_ROW = 32
"""Elements of a last axis from which on programs put tensors together row by row as fast as PyTorch copies them."""
CACHED = range(1 << 12, 1 << 21)
"""Elements of a tensor that is copied in the cache: a smaller one costs a call, a larger one its way to memory."""


def check_cost(node: Node, values: Any) -> None:
    """Raise `NotTaken` where PyTorch does an operation faster, whatever is computed around it. `values` gives the
    lengths and strides of a node."""
    if node.target in (aten.mm.default, aten.addmm.default):
        _check_product(node, values)
    if node.target is aten.cat.default:
        _check_concatenation(values(node), argument(node, 1, "dim", 0), len(node.args[0]))


def _check_product(node: Node, values: Any) -> None:
    left, right = (values(each) for each in node.args[-2:])
    is_transposed = right.stride(0) < right.stride(1)
    if is_transposed and left.shape[0] < ROWS and right.numel() > SMALL_FACTOR:
        raise NotTaken(f"a product of fewer than {ROWS} rows by a large factor that is transposed")


def _check_concatenation(made: Tensor, dim: int, count: int) -> None:
    """Along the last axis rows become longer; along another one that is not the first PyTorch copies whole blocks."""
    if dim % made.dim() == 0 and count > MANY:
        raise NotTaken(f"more than {MANY} tensors, which PyTorch puts together as blocks")
    if dim % made.dim() in (0, made.dim() - 1) or made.shape[-1] >= SHORT_ROW:
        return
    if made.numel() in CACHED:
        raise NotTaken("tensors of short rows, which PyTorch puts together as blocks")


def is_worth_joining(products: list[Node]) -> bool:
    """Whether products of matrices by one factor are to be one: there are several, and each reads more of the factor
    than of its own rows."""
    rows = [node.args[-2].meta["val"].shape[0] for node in products]
    return len(products) >= JOINED and max(rows) < ROWS


def is_profitable(part: list[Node], values: Any) -> bool:
    """Whether a part has at least two operations that compute, or one that goes over its elements more than once (a
    norm, a softmax, pooling), or one function or reduction of a large tensor, or one with a very large result.
    Another operation alone costs a call either way, and PyTorch's own is as fast; so is its product of matrices."""
    computing = [node for node in part if node.target not in FREE]
    if len(computing) != 1:
        return len(computing) >= LEAST
    [only] = computing
    if LEAST <= 1 or only.target in COMPOSITE:
        return True
    if only.target in ELEMENTWISE and _elements(values(only)) >= FRESH:
        return True
    return only.target in LONG and max(_elements(values(n)) for n in (only, *only.all_input_nodes)) >= LARGE


def _elements(value: Any) -> int:
    tensors = value if isinstance(value, list) else [value]
    return max(math.prod(t.shape) if isinstance(t, Tensor) else 0 for t in tensors)
