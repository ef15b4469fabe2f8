"""NumPy's functions that are operators of Python: ``np.add(a, b)``, ``np.logical_and``.

Comes in: a call. Goes out: the value of the operator. `out=` is the caller's (`calls.apply`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.operator_functions import ARITHMETIC, COMPARISONS, LOGICAL
from pykern.frontend.program import arguments
from pykern.frontend.program.composition import Composer, number
from pykern.frontend.values import Value
from pykern.types import bool_

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


HANDLERS: dict[str, Callable] = {
    **{name: _operator(name) for name in _SYMBOLS}, **{name: _logical(name) for name in LOGICAL},
}  # fmt: skip
