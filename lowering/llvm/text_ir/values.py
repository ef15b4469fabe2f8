"""Types and values of LLVM IR, as they are printed.

A value is its type and what it is called where it is used: ``i64 %v3``, ``ptr @state``, ``i1 true``. Instructions take
a Python int as well: a constant of the type that the other operand has, an i64 where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Type:
    """A type that fits in a register; called with a number, a constant of it: ``I32(7)``."""

    name: str
    bits: int

    def __call__(self, number: int) -> Value:
        if self.bits == 1:
            return Value(self, "true" if number & 1 else "false")
        return Value(self, str(number))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Value:
    """A result, an argument, a constant or an address; `str` is an operand with its type."""

    type: Type
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


Operand = Union[Value, int]

VOID = Type("void", 0)
I1, I8, I32, I64 = (Type(f"i{bits}", bits) for bits in (1, 8, 32, 64))
F16, F32, F64 = Type("half", 16), Type("float", 32), Type("double", 64)
PTR = Type("ptr", 64)
NULL = Value(PTR, "null")


def value(operand: Operand, kind: Type = I64) -> Value:
    """The operand; a number as a constant of that type."""
    return kind(operand) if isinstance(operand, int) else operand


def alike(a: Operand, b: Operand) -> tuple[Value, Value]:
    """Two operands of one type."""
    kind = a.type if isinstance(a, Value) else b.type if isinstance(b, Value) else I64
    a, b = value(a, kind), value(b, kind)
    assert a.type == b.type, f"{a} beside {b}"
    return a, b
