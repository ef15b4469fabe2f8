"""Arrays of JAX over the memory of NumPy's. Imported only where JAX is there already."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

jax: Any = importlib.import_module("jax")


def with_jax_arrays(value: Any) -> Any:
    """A program's value with arrays of JAX for its own; numbers stay numbers, and 64 bits become 32 where JAX has no
    others."""
    return jax.tree.map(_array_of, value)


def _array_of(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if jax.dtypes.canonicalize_dtype(value.dtype) != value.dtype or value.dtype.kind not in "fiu":
        return jax.numpy.asarray(value)  # what DLPack has no name for, or JAX another
    return jax.numpy.from_dlpack(value)
