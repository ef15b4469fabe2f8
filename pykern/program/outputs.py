"""`out=` of array programs: arrays of other libraries and of pykern's own, of which the program sees NumPy's views.

Comes in: what a call gives as `out`. Goes out: the same with views in their places, and, for the value that the program
returns, which object each view stands for. Compiled code does the same: `pykern.lowering.llvm.adapt.outputs`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.launching.arguments import is_array

Pairs = list[tuple[np.ndarray, Any]]


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
