"""Calls of programs that nothing of PyTorch has to see: the program itself runs, which costs a tenth.

Comes in: a program and arguments. Goes out: its value, or `MISSED` where autograd, a mode, a transformation or a
profile follows, where arguments are others than plain tensors and numbers, and where the value is more than tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pykern.errors import KernelTypeError
from pykern.torch.framework import forward_ad, torch
from pykern.torch.operation import MISSED

_TENSORS = (torch.Tensor, torch.nn.Parameter)
_NUMBERS = (float, int, bool)
_profiler = torch.autograd.profiler


def is_watched() -> bool:
    """Whether something sees every call of PyTorch in this thread."""
    return (
        forward_ad._current_level >= 0
        or _profiler._is_profiler_enabled
        or torch._C._are_functorch_transforms_active()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._len_torch_function_stack() > 0
        or torch._C._is_tracing()
    )


def called(program: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The value of the program, or `MISSED`."""
    is_followed = has_tensor = False
    for argument in arguments:
        kind = type(argument)
        if kind in _TENSORS:
            has_tensor = True
            is_followed = is_followed or argument.requires_grad
        elif kind not in _NUMBERS:
            return MISSED
    if not has_tensor or is_watched():
        return MISSED
    if is_followed:
        if torch.is_grad_enabled():
            return MISSED
        arguments = [a.detach() if type(a) in _TENSORS else a for a in arguments]
    try:
        value = program(*arguments)
    except KernelTypeError:  # negated, without memory, on another device: the dispatcher sees to that
        return MISSED
    of_tensors = type(value) is torch.Tensor or (
        type(value) is tuple and all(type(item) is torch.Tensor for item in value)
    )
    return value if of_tensors else MISSED
