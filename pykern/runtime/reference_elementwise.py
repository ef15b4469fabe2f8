"""Functions of numbers on NumPy arrays, element by element: what array programs on the reference device call.

Comes in: a function of the language that takes scalars. Goes out: one that takes arrays, too, and broadcasts.
Python's own numbers stay weak, the type of the result is what the function gives for one element.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def on_arrays(function: Callable, dtype: str | None = None) -> Callable:
    """The function, of arrays as well. `dtype`: what arrays of results hold where elements do not say."""

    @functools.wraps(function)
    def either(*args: Any, **keywords: Any) -> Any:
        for value in args:
            if getattr(value, "ndim", 0):
                if getattr(value, "is_row_of_kernel", False):
                    return _each_of_rows(function, args, keywords)
                if _is_numpys(type(value)):
                    return _each(function, args, keywords, dtype)
        return function(*args, **keywords)

    return either


def _each_of_rows(function: Callable, args: tuple, keywords: dict[str, Any]) -> Any:
    from pykern.runtime.reference_rows import each

    return each(lambda *numbers: function(*numbers, **keywords), args)


def _is_numpys(kind: type) -> bool:
    return any(base.__module__ == "numpy" and base.__name__ == "ndarray" for base in kind.__mro__)


def _each(function: Callable, args: tuple, keywords: dict[str, Any], dtype: str | None) -> Any:
    import numpy as np

    taken = [n for n, value in enumerate(args) if isinstance(value, np.ndarray)]
    arrays = np.broadcast_arrays(*(args[n] for n in taken))

    def at(elements: list[Any]) -> Any:
        given = list(args)
        for n, element in zip(taken, elements, strict=True):
            given[n] = element
        return function(*given, **keywords)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample = at([a.dtype.type(1) for a in arrays])
        results = [at(list(elements)) for elements in zip(*(a.flat for a in arrays), strict=True)]
    shape = arrays[0].shape
    kind = next(
        (type(array) for array in (args[n] for n in taken) if type(array) is not np.ndarray), np.ndarray
    )
    if isinstance(sample, tuple):
        columns = zip(*results, strict=True) if results else ((),) * len(sample)
        return tuple(_array(c, s, shape, dtype).view(kind) for c, s in zip(columns, sample, strict=True))
    return _array(results, sample, shape, dtype).view(kind)


def _array(results: Any, sample: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    import numpy as np

    return np.array(list(results), dtype or np.asarray(sample).dtype).reshape(shape)


def update_each(x: Any, index: Any, value: Any, change: Callable[[Any, Any], Any]) -> None:
    """``x[index] = change(x[index], value)``, element by element. `index` has arrays of indices for the first axes, or
    integers, tiles and ``...``."""
    import numpy as np

    values = np.asarray(value).astype(x.dtype, copy=False)
    places = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(p, np.ndarray) and p.ndim for p in places):
        named = x[index]
        values = np.broadcast_to(values, np.shape(named))
        made = [change(old, new) for old, new in zip(np.ravel(named), np.ravel(values), strict=True)]
        x[index] = np.array(made, x.dtype).reshape(np.shape(named))
        return
    places = np.broadcast_arrays(*places)
    rest = x.shape[len(places) :]
    values = np.broadcast_to(values, (*places[0].shape, *rest))
    for at in np.ndindex(values.shape):
        ahead = at[: places[0].ndim]
        place = (*(p[ahead] for p in places), *at[len(ahead) :])
        x[place] = change(x[place], values[at])
