"""Arguments of a launch in place that lie in one memory, where autograd or a transformation follows the launch.

Comes in: the arguments, and which of them are written. Goes out: which of the others lie in memory that is written:
autograd would find them changed when it comes back. What reads the very elements that the launch writes is refused: a
derivative knows arguments by their values of before, and the launch may read them after it wrote them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from pykern.arrays.torch_tensors import view_of
from pykern.errors import KernelTypeError
from pykern.torch.framework import torch

MOST_STEPS = 10_000
"""How long NumPy may look for an element that two views share."""


def beside_written(names: Sequence[str], arguments: Sequence[Any], written: Sequence[int]) -> list[int]:
    """The arguments that are only read and lie in memory that is written. Raises `KernelTypeError`."""
    found = []
    for n, read in enumerate(arguments):
        if n in written or not isinstance(read, torch.Tensor):
            continue
        for target in written:
            if _shares(arguments[target], read):
                raise KernelTypeError(
                    f"`{names[target]}` is written where `{names[n]}` is read, and gradients follow both",
                    hint=f"pass a copy: {names[n]}.clone()",
                )
        if any(_is_beside(arguments[target], read) for target in written):
            found.append(n)
    return found


def _is_beside(target: Any, read: Any) -> bool:
    """Whether two tensors of the CPU are views of one memory."""
    plain = all(type(t) in (torch.Tensor, torch.nn.Parameter) and t.is_cpu for t in (target, read))
    if not plain or torch._C._are_functorch_transforms_active():
        return False
    return target.untyped_storage().data_ptr() == read.untyped_storage().data_ptr() and read.numel() > 0


def _shares(target: Any, read: Any) -> bool:
    if target is read or not _is_beside(target, read):
        return target is read
    views = [_elements(t) for t in (target, read)]
    try:
        return np.shares_memory(*views, max_work=cast(Any, MOST_STEPS))
    except np.exceptions.TooHardError:
        return True


def _elements(tensor: Any) -> np.ndarray:
    """Where they lie; a sign that is left to be changed is no matter."""
    tensor = tensor.detach()
    return view_of(torch._neg_view(tensor) if tensor.is_neg() else tensor)
