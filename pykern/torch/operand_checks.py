"""What an operator of a kernel is not given: what PyTorch's dispatcher would refuse without saying what to write.

Comes in: names of arguments, and the arguments. Goes out: nothing, or `KernelTypeError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykern.errors import KernelTypeError
from pykern.torch.framework import torch

_NUMBERS = (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool)


def check_arguments(names: Sequence[str], given: Sequence[Any]) -> None:
    """Take dense tensors and numbers. Raises `KernelTypeError`."""
    for name, value in zip(names, given, strict=False):
        if isinstance(value, torch.Tensor):
            if value.layout is not torch.strided or value.is_quantized:
                raise KernelTypeError(
                    f"`{name}` is a tensor whose elements do not all lie in memory ({value.layout}, {value.dtype})",
                    hint=f"pass {name}.to_dense(), or {name}.dequantize()",
                )
        elif not isinstance(value, _NUMBERS):
            raise KernelTypeError(
                f"`{name}` is {type(value).__name__}, and an operator of PyTorch takes tensors and numbers",
                hint=f"convert it: torch.as_tensor({name})",
            )
