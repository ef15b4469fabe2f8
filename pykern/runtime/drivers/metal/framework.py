"""What a process reaches Metal by: the framework's module, and what PyObjC has beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Framework:
    """`metal` has the framework's functions, classes and constants. `pool` makes a pool that objects are released with
    which Objective-C hands out for a while; `errors` are what calls raise."""

    metal: Any
    pool: Callable[[], AbstractContextManager[Any]]
    errors: tuple[type[Exception], ...]
