"""On which ops an attribute may stand: functions, arguments of functions, loops, ops of a name.

Comes in: an op. Goes out: whether it is of the kind. Read next: `attributes` (which attribute stands where).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class Place:
    """A kind of op, as messages and the reference name it, and whether an op is of it."""

    says: str
    fits: Callable[[ir.Operation], bool]


def ops(says: str, *beginnings: str) -> Place:
    """The ops whose names begin with one of these."""
    return Place(says, lambda op: op.name.startswith(beginnings))


def _is_function(op: ir.Operation) -> bool:
    return "sym_name" in op.attributes and "function_type" in op.attributes


def _has_body(op: ir.Operation) -> bool:
    return _is_function(op) and bool(len(op.regions)) and bool(len(op.regions[0].blocks))


FUNCTION = Place("a function", _is_function)
FUNCTION_BODY = Place("a function with a body", _has_body)
ARGUMENT = Place("an argument of a function", lambda op: False)
"""No op: the attribute stands in the function's `arg_attrs`."""
LOOP = ops("a loop", "scf.for", "scf.while", "scf.parallel")
ATOMIC = ops("an atomic", "kern.atomic_")
TAPE_ACCESS = ops("a push or a pop", "kern.push", "kern.pop")
BUFFER = ops("private memory", "kern.private")
SHARED = ops("shared memory", "kern.shared")
ROW = ops("a row of an array", "memref.subview")
STRUCTURED = ops("an op of linalg", "linalg.")
ANY = Place("an op", lambda op: True)
