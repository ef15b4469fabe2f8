"""Which tensors of PyTorch a launch takes: those whose elements lie in memory, with nothing left to be done to them.

Comes in: a tensor. Goes out: nothing, or `KernelTypeError`. Imported only where PyTorch is there already.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pykern.arrays.refused import refused
from pykern.runtime.written import Borrowed
from pykern.types import BY_NAME

torch: Any = sys.modules["torch"]


def check_tensor(name: str, tensor: Any) -> None:
    """Refuse a tensor that is more, or less, than its memory. Raises `KernelTypeError`."""
    for applies, what, instead in _refusals():
        if applies(tensor):
            raise refused(name, what, instead.format(name=name))


def view_of(tensor: Any) -> Any:
    """A NumPy array of a tensor's memory, which knows the tensor: see `pykern.runtime.written`. PyTorch's own way,
    `numpy()`, would forbid for ever that the memory is resized, as fully sharded models do."""
    if _is_followed(tensor) or not tensor.is_cpu or tensor.is_neg() or tensor.is_conj():
        return torch.Tensor.numpy(tensor)  # raises, and says why
    text, size, view_as = _elements(tensor.dtype)
    strides = None if tensor.is_contiguous() else tuple([size * stride for stride in tensor.stride()])
    array = np.asarray(_Lent(tensor, strides, text))
    return array if view_as is None else array.view(view_as)


class _Lent(Borrowed):
    """A tensor's elements."""

    def __init__(self, tensor: Any, strides: tuple[int, ...] | None, text: str) -> None:
        self.owner = tensor
        place = {"data": (tensor.data_ptr(), False), "shape": tuple(tensor.shape), "strides": strides}
        self.__array_interface__ = {**place, "typestr": text, "version": 3}


def tensor_of(array: Any) -> Any:
    """A tensor over the memory of a NumPy array: `view_of` the other way round."""
    theirs = _LONG.get(array.dtype)
    if theirs is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(f"i{array.itemsize}")).view(theirs)


def with_tensors(value: Any) -> Any:
    """A program's value with tensors over the memory of its arrays; numbers stay numbers."""
    if isinstance(value, np.ndarray):
        return tensor_of(value)
    if getattr(value, "__pykern_array__", False):
        return torch.from_dlpack(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(with_tensors, value))
    if isinstance(value, tuple | list):
        return type(value)(map(with_tensors, value))
    if isinstance(value, dict):
        return {key: with_tensors(item) for key, item in value.items()}
    return value


_SHORT = {
    getattr(torch, theirs): ours
    for theirs, ours in (("bfloat16", "bf16"), ("float8_e4m3fn", "f8e4m3"), ("float8_e5m2", "f8e5m2"))
    if hasattr(torch, theirs)
}
"""Dtypes that PyTorch does not give to NumPy."""


@functools.cache
def _elements(dtype: Any) -> tuple[str, int, np.dtype | None]:
    """NumPy's word for the elements, their size, and as what they are seen then. Raises TypeError where it has none."""
    ours = _SHORT.get(dtype)
    if ours is None:
        found = np.dtype(str(dtype).removeprefix("torch."))
        return found.str, found.itemsize, None
    return (
        f"|u{dtype.itemsize}" if dtype.itemsize == 1 else f"<u{dtype.itemsize}",
        dtype.itemsize,
        BY_NAME[ours].numpy,
    )


_LONG = {BY_NAME[ours].numpy: theirs for theirs, ours in _SHORT.items()}


_is_below = torch._C._dispatch_tls_is_dispatch_key_excluded
_AUTOGRAD = torch._C.DispatchKey.AutogradFunctionality


def _is_wrapped(tensor: Any) -> bool:
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor) or torch._is_functional_tensor(tensor)


def _dispatches(tensor: Any) -> bool:
    return type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def _is_followed(tensor: Any) -> bool:
    """Whether autograd follows what is computed of a tensor; below `torch.no_grad` it does not."""
    return tensor.requires_grad and torch.is_grad_enabled()


def _has_tangent(tensor: Any) -> bool:
    """Below autograd, which operators are called from, tangents are taken care of, and cannot be looked at."""
    forward_ad = torch.autograd.forward_ad
    if forward_ad._current_level < 0 or tensor.is_inference() or _is_below(_AUTOGRAD):
        return False
    return forward_ad.unpack_dual(tensor).tangent is not None


def _is_freed(tensor: Any) -> bool:
    reach = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    needed = (tensor.storage_offset() + reach + 1) * tensor.element_size() if tensor.numel() else 0
    return tensor.untyped_storage().nbytes() < needed


_Refusal = tuple[Callable[[Any], bool], str, str]


def _refusals() -> Iterator[_Refusal]:
    """In this order: what stands first may make the questions after it fail."""
    yield (
        _is_wrapped,
        "traced by torch.func (vmap, grad, functionalize), which has no values of its own",
        "call pykern outside of the transformed function, or in a torch.autograd.Function or custom operator",
    )
    yield (
        lambda t: t.device.type == "meta",
        "a tensor on the device meta, which has no values",
        "make it on a device: {name}.to_empty(device='cpu') or torch.empty_like({name}, device='cpu')",
    )
    yield (
        _dispatches,
        "a tensor of a class with operators of its own (__torch_dispatch__), such as FakeTensor or DTensor",
        "pass the plain tensor it stands for",
    )
    yield lambda t: t.is_nested, "a nested tensor", "pass {name}.to_padded_tensor(0), or its parts one by one"
    yield (
        lambda t: t.layout is not torch.strided,
        "a sparse tensor or one of another layout than torch.strided",
        "pass {name}.to_dense(), or its indices and values",
    )
    yield lambda t: t.is_quantized, "a quantised tensor", "pass {name}.dequantize(), or {name}.int_repr()"
    yield (
        _is_followed,
        "a tensor that requires a gradient, which pykern's work would not be part of",
        "make an operator of it, pykern.torch.op, or pass {name}.detach(), which has no gradient",
    )
    yield (
        _has_tangent,
        "a dual tensor of forward-mode differentiation, whose tangent would be lost",
        "pass its primal, torch.autograd.forward_ad.unpack_dual({name}).primal, and compute with pk.jvp",
    )
    yield (
        lambda t: t.is_neg(),
        "a view whose sign is still to be changed (the imaginary part of a conjugate)",
        "pass {name}.resolve_neg()",
    )
    yield (
        lambda t: t._is_zerotensor(),
        "a tensor of zeros without memory, as derivatives have them",
        "pass torch.zeros({name}.shape, dtype={name}.dtype)",
    )
    yield lambda t: t.is_conj(), "a conjugate that is still to be taken", "pass {name}.resolve_conj()"
    yield (
        _is_freed,
        "a tensor whose memory was given back (its storage was resized)",
        "pass a tensor that has its memory",
    )
