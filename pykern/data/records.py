"""Frozen dataclasses that are made quickly: half of the time of importing pykern was dataclasses being made.

`dataclass` writes six methods of each class as text and compiles them, before Python 3.13 one by one. `record` writes
three of them; what compares, hashes and shows is the same code for all classes. For modules that each program imports.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

_C = TypeVar("_C", bound=type)

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        return lambda function: function


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: _C) -> _C:
    """``dataclass(frozen=True)``."""
    own = frozenset(cls.__dict__)
    hashed = cls.__dict__.get("__hash__") is not None
    made = dataclasses.dataclass(init=True, repr=False, eq=False, frozen=True)(cls)
    fields = dataclasses.fields(made)
    if "__repr__" not in own:
        made.__repr__ = _repr(tuple(f.name for f in fields if f.repr))
    if "__eq__" not in own:
        made.__eq__ = _eq(_values([f.name for f in fields if f.compare]))
    if not hashed:
        made.__hash__ = _hash(_values([f.name for f in fields if (f.compare if f.hash is None else f.hash)]))
    return made


def _values(names: list[str]) -> Callable[[Any], object]:
    """Of an object's fields, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _eq(values: Callable[[Any], object]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(values: Callable[[Any], object]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    @reprlib.recursive_repr()
    def shown(self: Any) -> str:
        told = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({told})"

    return shown
