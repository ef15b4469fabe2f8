"""Which types stand for an array, and how the compiled code finds the memory of their objects.

Comes in: an object that a launch took, by Python's way: its type is known from then on. Goes out: the dict of the
runtime's table ("kinds") that `pykern.lowering.llvm.adapt` looks types up in. What decides whether an object is taken,
and is not a matter of its type alone, is asked there for each call; types for which that is not possible stay unknown.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from pykern.arrays.foreign import has_interface
from pykern.data.abi import FOREIGN, TABLE_INDEX
from pykern.launching.torch_layout import register_torch
from pykern.runtime.cpu_table import keep, kinds, table
from pykern.runtime.other_libraries import is_jax_array, is_tensor

_TO_NUMPY = "_single_device_array_to_np_array_did_copy"
"""A method of JAX's arrays, also of those that have no buffer (bf16, fp8): NumPy's array, and whether it is a copy."""
MOST_TYPES = 1000
"""They live as long as the process then."""


def learn(value: Any) -> None:
    """A launch has taken this object as an array on the CPU."""
    kind = type(value)
    if kind not in kinds and len(kinds) < MOST_TYPES and (found := _kind(value, kind)):
        kinds[kind] = found


@functools.cache
def _register_jax() -> None:
    """What makes arrays of JAX of a program's results."""
    from pykern.arrays.jax_arrays import with_jax_arrays  # here: it needs JAX

    table()[TABLE_INDEX["jax.given_arrays"]] = id(keep(with_jax_arrays))


def _kind(value: Any, kind: type) -> int:
    if isinstance(value, np.ndarray):
        return FOREIGN["subclass"]
    if is_tensor(value):
        torch = sys.modules["torch"]
        plain = kind is torch.Tensor or kind is torch.nn.Parameter
        return FOREIGN["tensor"] if plain and register_torch() else 0
    if is_jax_array(value):
        method = FOREIGN["jax"] if hasattr(kind, _TO_NUMPY) else 0
        if not method:
            return 0  # programs would not be told that they are given arrays of JAX
        _register_jax()
        return FOREIGN["buffer"] | method | FOREIGN["dlpack"] | FOREIGN["readonly"]
    if hasattr(kind, "__cuda_array_interface__"):
        return 0  # it may have a mask
    if hasattr(kind, "__dlpack__"):
        return FOREIGN["dlpack"]
    if has_interface(value):
        return FOREIGN["interface"]
    return FOREIGN["buffer"]
