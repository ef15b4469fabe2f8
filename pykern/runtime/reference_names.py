"""Does a kernel meet? Found by following the names its code reads, through the functions it calls."""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Iterator
from typing import Any

CONVERGENT_NAMES = frozenset(
    {"barrier", "shared", "subgroup_reduce", "subgroup_scan", "subgroup_shuffle", "subgroup_broadcast",
     "group_reduce"}
)  # fmt: skip
SHARED_NAMES = frozenset({"shared"})
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_BETWEEN = ("PRECALL", "PUSH_NULL", "CACHE", "EXTENDED_ARG", "NOP")


def meets(
    function: types.FunctionType, seen: set[int] | None = None, names: frozenset[str] = CONVERGENT_NAMES
) -> bool:
    """Whether the function, or a `@pk.func` it reaches, uses something that work-items do together."""
    seen = set() if seen is None else seen
    if id(function.__code__) in seen:
        return False
    seen.add(id(function.__code__))
    for found in _objects(function, function.__code__):
        name = getattr(found, "__pykern_builtin__", None)
        if name in names:
            return True
        inner = getattr(found, "__pykern_function__", found) if name is None else None
        if isinstance(inner, types.FunctionType) and meets(inner, seen, names):
            return True
    return False


def _objects(function: types.FunctionType, code: types.CodeType) -> Iterator[Any]:
    """What the names and dotted names of the code mean now."""
    value: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in _GLOBALS:
            value = _lookup(function, instruction.argval)
            yield value
        elif instruction.opname in _ATTRIBUTES:
            value = getattr(value, instruction.argval, None)
            yield value
        elif instruction.opname not in _BETWEEN:
            value = None
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _objects(function, inner)


def _lookup(function: types.FunctionType, name: str) -> Any:
    if name in function.__code__.co_freevars:
        try:
            return (function.__closure__ or ())[function.__code__.co_freevars.index(name)].cell_contents
        except ValueError:  # not assigned yet
            return None
    return function.__globals__.get(name, getattr(builtins, name, None))
