"""Calls of an operator on batches: one call after the other, for each element of the batch.

Comes in: an operation, and arguments of which some have a dimension more. Goes out: results with that dimension.
`torch.vmap` says itself where it is (`mapped`). Batched gradients (``torch.autograd.grad(..., is_grads_batched=True)``,
``torch.autograd.functional.jacobian(..., vectorize=True)``) hide it in tensors of an older kind (`hidden`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from pykern.errors import NotDifferentiable
from pykern.torch.framework import torch
from pykern.torch.operation import Operation, as_tuple


def mapped(operation: Operation, arguments: Sequence[Any], dims: Sequence[Any], size: int) -> tuple[Any, ...]:
    """The results, stacked; `dims` has the mapped dimension of each argument, or None."""
    _refuse_none(operation, size)
    rows = [
        as_tuple(operation.overload(*map(_at, arguments, dims, [n] * len(arguments)))) for n in range(size)
    ]
    return tuple(torch.stack(found) for found in zip(*rows, strict=True))


def hidden(operation: Operation, arguments: Sequence[Any]) -> Sequence[Any]:
    """The results of a call in which tensors hide dimensions, one for each level that is open."""
    levels = range(1, _open_levels() + 1)
    shown = [_shown(a, levels) if isinstance(a, torch.Tensor) else a for a in arguments]
    tensors = [a for a in shown if isinstance(a, torch.Tensor)]
    sizes = [max((t.shape[n] for t in tensors), default=1) for n in range(len(levels))]
    _refuse_none(operation, min((t.shape[n] for t in tensors for n in range(len(levels))), default=1))
    rows = [
        as_tuple(operation.overload(*[_element(a, place) for a in shown]))
        for place in itertools.product(*map(range, sizes))
    ]
    results = [torch.stack(found).unflatten(0, sizes) for found in zip(*rows, strict=True)]
    for level in levels:
        results = [torch._add_batch_dim(result, 0, level) for result in results]
    return results


def _refuse_none(operation: Operation, size: int) -> None:
    if size == 0:
        raise NotDifferentiable(
            f"`{operation.name}` under torch.vmap has no elements to map over",
            hint="call it where the mapped dimension is not empty",
        )


def _at(argument: Any, dim: Any, n: int) -> Any:
    return argument.select(dim, n) if isinstance(argument, torch.Tensor) and dim is not None else argument


def _open_levels() -> int:
    count = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    return count


def _shown(tensor: Any, levels: range) -> Any:
    """The tensor with a dimension for each level in front, of length 1 where it hides none of that level."""
    for level in reversed(levels):
        tensor = torch._remove_batch_dim(tensor, level, 1, 0)
    return tensor


def _element(argument: Any, place: tuple[int, ...]) -> Any:
    if not isinstance(argument, torch.Tensor):
        return argument
    return argument[tuple(n if length > 1 else 0 for n, length in zip(place, argument.shape, strict=False))]
