"""Whether an object is an array of another library, without importing that library.

A library that is being imported by another thread, or a module that only has its name, has no such class yet: then the
object is none of its arrays.
"""

from __future__ import annotations

import sys
from typing import Any


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch."""
    return _is(value, "torch", "Tensor")


def is_jax_array(value: Any) -> bool:
    """Whether it is an array of JAX, one that is being traced too."""
    return _is(value, "jax", "Array")


def is_jax_tracer(value: Any) -> bool:
    """Whether it stands for an array of JAX that has no values yet."""
    return _is(value, "jax.core", "Tracer")


def is_opencl_memory(value: Any) -> bool:
    """Whether it is a buffer or an image of pyopencl."""
    return _is(value, "pyopencl", "MemoryObjectHolder")


def is_opencl_array(value: Any) -> bool:
    """Whether it is an array of pyopencl."""
    return _is(value, "pyopencl.array", "Array")


def _is(value: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)
