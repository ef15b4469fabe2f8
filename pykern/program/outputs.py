"""What array programs give: arrays of the library that they are given, and `out=` itself.

Comes in: the arguments of a call, and what it gives as `out`. Goes out: for tensors tensors; `out` with views in their
places, and, for the value that the program returns, which object each view stands for. Compiled code does the same:
`pykern.lowering.llvm.adapt.outputs` and `after_launch`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pykern.launching.arguments import fields_of, is_array
from pykern.runtime.other_libraries import is_jax_array, is_tensor

Pairs = list[tuple[np.ndarray, Any]]


def as_given(value: Any, library: str) -> Any:
    """The value with arrays of the library for its own; `library` is what `library_of` gives. Tensors are not copied,
    nor are arrays of JAX that begin at a multiple of 64 bytes."""
    if library == "torch":
        from pykern.arrays.torch_tensors import with_tensors  # here: it needs PyTorch

        return with_tensors(value)
    if library == "jax":
        from pykern.arrays.jax_arrays import with_jax_arrays  # here: it needs JAX

        return with_jax_arrays(value)
    return value


def library_of(arguments: Iterable[Any]) -> str:
    """The library whose arrays a call is given: "torch" where one is a tensor or holds one, else "jax", else ""."""
    there = [name for name in ("torch", "jax") if name in sys.modules]
    if not there:
        return ""
    given = list(arguments)
    return next((name for name in there if any(_holds(value, _IS[name]) for value in given)), "")


_IS = {"torch": is_tensor, "jax": is_jax_array}


def _holds(value: Any, is_array_of: Callable[[Any], bool]) -> bool:
    if isinstance(value, np.ndarray | np.generic | int | float):
        return False
    return is_array_of(value) or any(_holds(v, is_array_of) for _, v in fields_of(value, trees=True) or ())


def viewed(out: Any) -> tuple[Any, Pairs]:
    """`out` with views, and pairs of a view and what it is of. Raises `KernelTypeError` for what cannot be taken."""
    if not isinstance(out, tuple | list):
        view = _view(out)
        return (out, []) if view is None else (view, [(view, out)])
    views = [_view(item) for item in out]
    if all(view is None for view in views):
        return out, []
    pairs = [(view, item) for view, item in zip(views, out, strict=True) if view is not None]
    return [item if view is None else view for view, item in zip(views, out, strict=True)], pairs


def _view(value: Any) -> np.ndarray | None:
    if isinstance(value, np.ndarray):
        return None
    view = is_array("out", value)
    return view if isinstance(view, np.ndarray) else None


def given_back(value: Any, pairs: Pairs) -> Any:
    """The value with the objects themselves in place of their views."""
    for view, of in pairs:
        if value is view:
            return of
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(given_back(item, pairs) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(given_back(item, pairs) for item in value)
    if isinstance(value, dict):
        return {key: given_back(item, pairs) for key, item in value.items()}
    return value
