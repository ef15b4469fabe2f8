"""Arrays that functions of NumPy write their results into: ``out=c``, or behind the operands, and ``where=m``.

Comes in: the arguments of a call, its value. Goes out: the array that holds it now. Read next: `calls`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.frontend import complex_numbers
from pykern.frontend.program import complex_arrays, elementwise
from pykern.frontend.program.values import Cell
from pykern.frontend.values import ComplexValue, NoneValue, Scalar, Value, describe
from pykern.language.other_names import operands
from pykern.types import bool_, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def named(name: str, args: list[Value], keywords: dict) -> tuple[list[Value], dict]:
    """The arguments with `out` by its name, where an array stands behind the operands: ``np.add(a, b, c)``."""
    if "out" in keywords or len(args) - 1 != operands().get(name) or not _is_array(args[-1]):
        return args, keywords
    return args[:-1], {**keywords, "out": args[-1]}


def _is_array(value: Value) -> bool:
    if isinstance(value, ComplexValue):
        return complex_arrays.is_array(value)
    return isinstance(value, Cell) and not value.is_scalar


def written(t: ProgramTranslator, node: ast.Call, value: Value, out: Value) -> Value:
    """``np.add(a, b, out=c)``: the value, written into the array `c`, as NumPy's "same kind" rule allows."""
    if isinstance(out, NoneValue):
        return value
    if isinstance(out, ComplexValue) and complex_arrays.is_array(out):
        zero = Scalar(weak_int, const=0)
        given = value if isinstance(value, ComplexValue) else complex_numbers.pair(value, zero)
        complex_arrays.update(t, node, out, given)
        return out
    if isinstance(out, Cell) and isinstance(value, ComplexValue):
        raise t.type_error(
            node, f"the result is complex, and `out` is {out.description}", "give a complex array"
        )
    if not isinstance(out, Cell) or not isinstance(value, Cell | Scalar):
        raise t.type_error(
            node, f"`out` is an array to write into, not {describe(out)}", "write y = f(x) instead"
        )
    if isinstance(value, Cell) and value.shape != out.shape:
        raise t.type_error(node, f"the result has the shape {value.shape}, and `out` is {out.description}",
                           "give an array of the shape of the result")  # fmt: skip
    t.write(node, out, elementwise.in_type_of(t, node, out, value, out.shape).ssa)
    return out


def check_mask(t: ProgramTranslator, node: ast.Call, name: str, mask: Value, out: Value) -> None:
    """Raise where a call with `where` has nothing to write into, or the mask is none."""
    if isinstance(out, NoneValue):
        hint = f"write np.{name}(..., out=c, where=m); or np.where(m, np.{name}(...), c)"
        raise t.type_error(node, "with `where` alone the other elements of the result have no value", hint)
    if not isinstance(mask, Cell | Scalar) or mask.dtype != bool_:
        raise t.type_error(node, f"`where` is a mask of bools, not {describe(mask)}", "compare: x != 0")
