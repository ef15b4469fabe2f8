"""What lower folders ask of upper ones: a few functions by name, each imported at its first use.

Comes in: the table in `pykern/__init__`, which knows every folder. Goes out: the functions. All else that a module
needs it imports, from the folders below its own.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

_homes: dict[str, str] = {}


def provide(homes: dict[str, str]) -> None:
    """Say in which module each function is."""
    _homes.update(homes)


@functools.cache
def provided(name: str) -> Callable[..., Any]:
    """The function of this name."""
    return getattr(importlib.import_module(_homes[name]), name)
