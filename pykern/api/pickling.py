"""Kernels, programs and functions are pickled by their name, and are their own copies: as functions are.

Comes in: an object with ``__wrapped__``, the function it was made of. Goes out: module and name, which another
process imports; it compiles there, or finds the code on disk.
"""

from __future__ import annotations

import functools
import importlib
import pickle
from typing import Any


class ByName:
    """What functions do when they are copied or pickled."""

    __slots__ = ()

    __wrapped__: Any

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict) -> Any:
        return self

    def __reduce__(self) -> tuple:
        module, name = self.__wrapped__.__module__, self.__wrapped__.__qualname__
        try:
            is_found = found(module, name) is self
        except (ImportError, AttributeError):
            is_found = False
        if not is_found:
            raise pickle.PicklingError(
                f"{self!r} is pickled by its name, and `{module}.{name}` is not it: give it that name at the top of a "
                "module, and make derivatives where they are used"
            )
        return found, (module, name)


def found(module: str, name: str) -> Any:
    """The object of this name, ``Outer.inner`` too. Raises `ImportError`, `AttributeError`."""
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))
