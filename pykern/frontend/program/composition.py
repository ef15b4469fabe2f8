"""Functions of array programs that are made of others: what a handler writes instead of translating a text.

Comes in: the translator and the call that is translated. Goes out: values, made by the functions and operators that
programs have, so that derivatives, devices and fusion need no rules of their own. Errors stand at the call.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from pykern.frontend.program import arguments, shaping
from pykern.frontend.program.tensors import Extent, extract_slice
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import LanguageName, NoneValue, Scalar, TupleValue, TypeValue, Value
from pykern.types import DType, bool_, f64, weak_float, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True)
class Composer:
    """Makes values for the call `node`."""

    t: ProgramTranslator
    node: ast.Call

    def call(self, name: str, *args: Value, **keywords: Value) -> Value:
        """A function of the language, of values."""
        return self.t.called_with(self.node, LanguageName(name), list(args), keywords)

    def cell(self, name: str, *args: Value, **keywords: Value) -> Cell:
        """The same, where the result is an array."""
        return arguments.array(self.t, self.node, self.call(name, *args, **keywords))

    def op(self, symbol: str, a: Value, b: Value) -> Value:
        """An operator of Python, of arrays and numbers."""
        return self.t.operator(self.node, symbol, a, b)

    def array(self, value: Value) -> Cell:
        """An array; a number, or a tuple of numbers or arrays, becomes one."""
        return arguments.array(self.t, self.node, value)

    def operand(self, value: Value) -> Cell | Scalar:
        """A number as it is; else an array, as `array` makes it."""
        return value if isinstance(value, Scalar) else self.array(value)

    def floats(self, value: Value) -> Cell:
        """An array of floats as it is, others as f64."""
        x = self.array(value)
        return x if x.dtype.is_float else self.array(self.cast(x, f64))

    def reshaped(self, x: Cell, *lengths: int) -> Cell:
        return shaping.reshaped(self.t, self.node, x, lengths)

    def part(self, x: Cell, axis: int, start: int, stop: int, step: int = 1) -> Cell:
        """The slice ``start:stop:step`` of one axis; `step` is positive."""
        refuse(self.t, self.node, (x.shape[axis],), "this goes along")
        taken = range(*slice(start, stop, step).indices(x.shape[axis]))
        count = len(taken)
        own = Extent(taken.start if count else 0, count, step if count > 1 else 1)
        extents = [own if a == axis else Extent(0, n) for a, n in enumerate(x.shape)]
        shape = tuple(e.size for e in extents)
        return x.view(Cell(x.dtype, shape, extract_slice(x.ssa, x.dtype, extents)))

    def element(self, x: Cell, axis: int, at: int) -> Cell:
        """The elements at one place of an axis, without the axis."""
        one = self.part(x, axis, at, at + 1)
        return self.reshaped(one, *x.shape[:axis], *x.shape[axis + 1 :])

    def cast(self, x: Value, dtype: DType) -> Value:
        return self.call("cast", x, TypeValue(dtype))


def number(value: bool | int | float) -> Scalar:
    """A constant of Python, which takes the type of what it meets."""
    kind = bool_ if isinstance(value, bool) else weak_int if isinstance(value, int) else weak_float
    return Scalar(kind, const=value)


def numbers(values: tuple[int, ...]) -> TupleValue:
    """A tuple of constants."""
    return TupleValue(tuple(number(v) for v in values))


def is_given(value: Value | None) -> TypeGuard[Value]:
    """Whether an argument was written, and is not None."""
    return value is not None and not isinstance(value, NoneValue)
