"""NumPy's functions that are operators of Python: ``np.add(a, b)``, ``np.logical_and``, ``np.negative``.

Comes in: a call. Goes out: the value of the operator. `out=` is the caller's (`calls.apply`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.operator_functions import ARITHMETIC, COMPARISONS, LOGICAL
from pykern.frontend import arithmetic
from pykern.frontend.program import arguments, elementwise
from pykern.frontend.program.composition import Composer, number
from pykern.frontend.values import Scalar, Value
from pykern.types import bool_, i8

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_SYMBOLS = ARITHMETIC | COMPARISONS


def _operator(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "a b", args, keywords)
        made = Composer(t, node)
        a, b = map(made.operand, given.values())
        return made.op(_SYMBOLS[name], a, b)

    return apply


def _logical(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "a b", args, keywords)
        made = Composer(t, node)
        a, b = (truth(made, v) for v in given.values())
        return made.op(LOGICAL[name], a, b)

    return apply


def truth(made: Composer, value: Value) -> Value:
    """Whether each element is other than zero."""
    x = made.operand(value)
    return x if x.dtype == bool_ else made.op("!=", x, number(0))


def _unary(name: str, function: Callable[[Scalar], Scalar]) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        x = arguments.bind(t, node, name, "x", args, keywords)["x"]
        if isinstance(x, Scalar) or name == "invert" or Composer(t, node).array(x).dtype != bool_:
            return elementwise.apply(t, node, [x], lambda e: function(e[0]))
        raise t.type_error(node, f"NumPy has no `{name}` of bools", "write ~x, or x.astype(int)")

    return apply


def _logical_not(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    made = Composer(t, node)
    x = truth(made, arguments.bind(t, node, "logical_not", "x", args, keywords)["x"])
    return made.op("==", x, number(False))


def _reciprocal(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    made = Composer(t, node)
    x = made.operand(arguments.bind(t, node, "reciprocal", "x", args, keywords)["x"])
    x = made.operand(made.cast(x, i8)) if x.dtype == bool_ else x  # NumPy's
    found = made.op("/" if x.dtype.is_float else "//", number(1), x)
    if x.dtype.kind != "i" or x.dtype.weak:
        return found
    return made.call("where", made.op("<", x, number(-1)), number(0), found)  # rounded towards zero


HANDLERS: dict[str, Callable] = {
    **{name: _operator(name) for name in _SYMBOLS}, **{name: _logical(name) for name in LOGICAL},
    "negative": _unary("negative", arithmetic.negate), "positive": _unary("positive", arithmetic.plus),
    "invert": _unary("invert", arithmetic.invert), "logical_not": _logical_not, "reciprocal": _reciprocal,
}  # fmt: skip
