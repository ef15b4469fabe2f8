"""What a captured name meant, and whether it still does: the names, closure cells and attributes that a function reads.

Comes in: a function and a dotted path it reads (``cfg.model.n``). Goes out: the object the path names, and the
`Guard`s over each step. A launch through Python reads the guards again; compiled entries compare addresses
(`pykern.runtime.launchable`) where reading runs none of the user's code. Read next: `pykern.capture.functions`.
"""

from __future__ import annotations

import builtins
import enum
import sys
import types
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pykern.data.records import record
from pykern.runtime.launchable import ABSENT, ATTRIBUTE, CELL, NAME, Guarded

MISSING = ABSENT
"""The value of a name or an attribute that is not there."""

_OF_MEMBERS = {"value": "_value_", "name": "_name_"}
"""Where the members of enums keep what their properties give."""
_FIELD = vars(namedtuple("Pair", "first second"))["first"]
_READ_BY_C = (types.MemberDescriptorType, types.GetSetDescriptorType, type(_FIELD))
"""Descriptors of which Python's own C code reads the value: ``__slots__``, fields of named tuples."""


@record
class Guard:
    """One step of a path: the entry `name` of the dict `owner`, the cell's content, or the attribute, is `value`."""

    kind: int
    owner: Any
    name: str
    value: object
    computed: bool = False
    """Reading it runs code (a property, ``__getattr__``) or makes a new object each time: no entry may look."""

    def read(self) -> object:
        """What is found now, `MISSING` where there is nothing."""
        if self.kind == NAME:
            return self.owner.get(self.name, MISSING)
        if self.kind == CELL:
            return _content(self.owner)
        return getattr(self.owner, self.name, MISSING)

    @property
    def step(self) -> tuple[int, int, str]:
        """Two guards of one step look at the same place."""
        return self.kind, id(self.owner), self.name

    def cells(self) -> Guarded:
        """As `pykern.runtime.launchable.install` takes it."""
        return self.kind, self.owner, sys.intern(self.name), self.value


class Guards:
    """The guards found so far, one for each step."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int, str], Guard] = {}

    def add(self, guard: Guard) -> object:
        """Keep the guard, unless its step is guarded already; gives the value that step had."""
        return self._found.setdefault(guard.step, guard).value

    def listed(self) -> list[Guard]:
        return list(self._found.values())


def resolve(function: Any, path: str, guards: Guards) -> object:
    """The object that a dotted path names in the function, or `MISSING`. What may change on the way is guarded."""
    first, *rest = path.split(".")
    value = _global_or_cell(function, first, guards)
    for attribute in rest:
        if value is MISSING:
            return MISSING
        value = _attribute(value, attribute, guards)
    return value


def guard_defaults(function: Any, guards: Guards) -> None:
    """The defaults of a function that has some. One that has none is always called with all arguments."""
    for name in ("__defaults__", "__kwdefaults__"):
        if (value := getattr(function, name, None)) is not None:
            guards.add(Guard(ATTRIBUTE, function, name, value))
    for name, value in (getattr(function, "__kwdefaults__", None) or {}).items():
        guards.add(Guard(NAME, function.__kwdefaults__, name, value))


def renewed(guards: list[Guard], same: Callable[[object, object], bool]) -> list[Guard] | None:
    """The guards with the objects found now, where these mean the same as before; None where one does not.

    The very same list where nothing changed but what is computed.
    """
    found = []
    changed = False
    for guard in guards:
        value = guard.read()
        if value is guard.value:
            found.append(guard)
            continue
        if not same(value, guard.value):
            return None
        found.append(replace(guard, value=value))
        changed = changed or not guard.computed
    return found if changed else guards


def _global_or_cell(function: Any, name: str, guards: Guards) -> object:
    code, namespace = function.__code__, function.__globals__
    if name in code.co_freevars:
        cell = function.__closure__[code.co_freevars.index(name)]
        return guards.add(Guard(CELL, cell, name, _content(cell)))
    value = namespace.get(name, MISSING)
    if isinstance(value, types.ModuleType) and value.__name__ == "pykern":
        return value  # without it there were no kernel
    guards.add(Guard(NAME, namespace, name, value))
    if value is not MISSING:
        return value
    value = vars(builtins).get(name, MISSING)
    if getattr(value, "__module__", "") != "builtins":  # not Python's own
        guards.add(Guard(NAME, vars(builtins), name, value))
    return value


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned
        return MISSING


def _attribute(owner: Any, name: str, guards: Guards) -> object:
    if isinstance(owner, types.ModuleType):
        return _of_module(owner, name, guards)
    if isinstance(owner, enum.EnumMeta) and name in owner.__members__:
        return owner.__members__[name]  # which nobody can rebind
    if isinstance(owner, enum.Enum) and _in_classes(type(owner), name) is vars(enum.Enum).get(name):
        name = _OF_MEMBERS.get(name, name)
    value = getattr(owner, name, MISSING)
    if isinstance(value, types.BuiltinMethodType) and type(owner).__module__ == "numpy":
        return value  # ``np.add.at``, which nobody can rebind: a new object each time
    computed = not _is_plain(owner, name) or getattr(owner, name, MISSING) is not value
    return guards.add(Guard(ATTRIBUTE, owner, name, value, computed))


def _of_module(module: types.ModuleType, name: str, guards: Guards) -> object:
    value = getattr(module, name, MISSING)
    if _is_library(module) and not isinstance(value, bool | int | float):
        return value
    in_dict = vars(module).get(name, MISSING) is value
    if in_dict and (value is not MISSING or "__getattr__" not in vars(module)):
        return guards.add(Guard(NAME, vars(module), name, value))
    return guards.add(Guard(ATTRIBUTE, module, name, value, computed=True))


def _is_library(module: types.ModuleType) -> bool:
    """Modules whose functions and types nobody rebinds."""
    return module.__name__.split(".")[0] in ("pykern", "math", "numpy", "builtins")


def _is_plain(owner: Any, name: str) -> bool:
    """Whether Python's own lookup finds the attribute, or finds none, without running a line of anybody's code."""
    kind = type(owner)
    if not isinstance(
        _in_classes(kind, "__getattribute__"), types.WrapperDescriptorType
    ):  # C code, as of object
        return False
    found = _in_classes(kind, name)
    if found is not MISSING and hasattr(type(found), "__get__") and not isinstance(found, _READ_BY_C):
        shadowed = not isinstance(owner, type) and not hasattr(type(found), "__set__")
        if not (shadowed and name in getattr(owner, "__dict__", ())) and not _is_function(found):
            return False
    if isinstance(owner, type):
        own = _in_classes(owner, name)
        if own is not MISSING:
            return not hasattr(type(own), "__get__") or isinstance(own, _READ_BY_C) or _is_function(own)
    there = found is not MISSING or name in getattr(owner, "__dict__", ())
    return there or _in_classes(kind, "__getattr__") is MISSING


def _is_function(found: object) -> bool:
    return isinstance(found, types.FunctionType | staticmethod)


def _in_classes(kind: type, name: str) -> object:
    for one in kind.__mro__:
        if name in vars(one):
            return vars(one)[name]
    return MISSING
