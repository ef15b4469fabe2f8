"""PyTorch's dtypes and pykern's.

Comes in: one of them. Goes out: the other. Raises `KernelTypeError` for those that pykern has not.
"""

from __future__ import annotations

from typing import Any

from pykern.errors import KernelTypeError
from pykern.torch.framework import torch
from pykern.types import BY_NAME, DType

_BY_NAME = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "int": "int64", "float": "float64",
}  # fmt: skip
_TO_TORCH = {ours: getattr(torch, theirs) for ours, theirs in _BY_NAME.items() if hasattr(torch, theirs)}
_FROM_TORCH = {theirs: ours for ours, theirs in reversed(_TO_TORCH.items())}


def torch_dtype(name: str) -> Any:
    """PyTorch's dtype of a name of pykern's, or of NumPy's."""
    return _TO_TORCH[name] if name in _TO_TORCH else getattr(torch, name)


def dtype_of(dtype: Any) -> DType:
    """pykern's type of a dtype of PyTorch's."""
    name = _FROM_TORCH.get(dtype)
    if name is None:
        raise KernelTypeError(f"kernels have no {dtype}", hint="convert it: x.to(torch.float32)")
    return BY_NAME[name]
