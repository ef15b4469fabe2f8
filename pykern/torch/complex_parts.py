"""Complex tensors as real ones with an axis more, of length 2, for the real and the imaginary part.

Operators take and give such pairs, so that their derivatives are of real numbers; what is around them is PyTorch's own
`view_as_real` and `view_as_complex`, whose derivatives follow PyTorch's convention: the gradient of a real function by
z = x + iy is its derivative by x, plus i times that by y.
"""

from __future__ import annotations

from typing import Any

from pykern.torch.framework import torch


def is_inexact(tensor: Any) -> bool:
    """Whether it holds real or complex numbers, which gradients are of."""
    return tensor.is_floating_point() or tensor.is_complex()


def parts_of(tensor: Any) -> Any:
    """The parts of a complex tensor, the same memory where no conjugate is still to be taken; others as they are."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def whole(parts: Any) -> Any:
    """The complex tensor of its parts: the same memory where both lie side by side."""
    strides = parts.stride()
    apart = strides[-1] != 1 or parts.storage_offset() % 2 or any(stride % 2 for stride in strides[:-1])
    return torch.view_as_complex(parts.clone(memory_format=torch.contiguous_format) if apart else parts)


def wholes(kinds: str, tensors: Any) -> list[Any]:
    """The tensors with those of kind C, which are parts, put together."""
    return [whole(t) if kind == "C" else t for kind, t in zip(kinds, tensors, strict=True)]
