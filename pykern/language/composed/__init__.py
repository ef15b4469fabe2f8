"""Functions of NumPy that array programs translate from a text: plain Python over other functions of NumPy.

Each file defines functions that are called as NumPy calls them, with its parameters. A program that calls
``np.unwrap`` translates the function `unwrap` of these files as if the user had written it, so derivatives, devices and
fusion need nothing of their own. A function whose name begins with an underscore serves others of its file. NumPy
itself is the reference: on the device `python` NumPy's own functions run.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from functools import cache
from typing import Any

FILES = {
    "rearranged": "", "indices": "", "numbers": "", "statistics": "", "polynomials": "", "tapers": "",
    "writes": "", "linalg": "linalg.", "factors": "linalg.", "fourier": "fft.",
}  # fmt: skip
"""The files, and what stands before their functions' names in NumPy."""
_FOLDER = os.path.dirname(__file__)


def composed(value: object) -> types.FunctionType | None:
    """The text for a function of NumPy; None for all else."""
    if "numpy" not in sys.modules or not callable(value):
        return None
    try:
        return _functions().get(value)
    except TypeError:  # not hashable
        return None


@cache
def _functions() -> dict[Any, types.FunctionType]:
    import numpy

    found = {}
    for file, prefix in FILES.items():
        module = importlib.import_module(f"{__name__}.{file}")
        place = getattr(numpy, prefix.removesuffix(".")) if prefix else numpy
        for name, function in vars(module).items():
            own = isinstance(function, types.FunctionType) and function.__module__ == module.__name__
            if own and not name.startswith("_") and hasattr(place, name):
                found[getattr(place, name)] = function
    return found


def is_composed(file: str) -> bool:
    """Whether a file has such texts: errors in them stand where the user called the function."""
    return os.path.dirname(file) == _FOLDER


def names() -> list[str]:
    """The functions of NumPy that have a text, as ``linalg.pinv``."""
    prefixes = {f"{__name__}.{file}": prefix for file, prefix in FILES.items()}
    return sorted(f"{prefixes[function.__module__]}{function.__name__}" for function in _functions().values())
