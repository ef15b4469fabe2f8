"""Calls that need nothing of PyTorch: they go to the kernel without its dispatcher.

Comes in: the arguments of an operator. Goes out: whether no gradient, no transformation and no mode has to see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykern.torch.framework import forward_ad, torch

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_transformed = torch._C._are_functorch_transforms_active
_dispatch_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack


def is_direct(arguments: Sequence[Any]) -> bool:
    """Whether the operator's own code may be called with these."""
    if forward_ad._current_level >= 0 or _transformed() or _dispatch_modes() or _function_modes():
        return False
    followed = torch.is_grad_enabled()
    for argument in arguments:
        if isinstance(argument, torch.Tensor) and (
            type(argument) not in _PLAIN or (followed and argument.requires_grad) or argument.is_meta
        ):
            return False
    return True
