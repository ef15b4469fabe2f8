"""The mark of a function that is a name of the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def builtin(function: _F) -> _F:
    """Make a function a name of the language, its own."""
    function.__pykern_builtin__ = function.__name__  # type: ignore[attr-defined]
    return function
