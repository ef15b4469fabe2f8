"""Methods of NumPy's ufuncs: ``np.add.reduce``, ``np.multiply.outer``, ``np.add.at``.

Comes in: a call. Goes out: a reduction, an operator over new axes, or writes one after the other (`atomics`).
``accumulate`` is in `scans`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.operator_functions import UFUNC_METHODS
from pykern.frontend.program import arguments, atomics
from pykern.frontend.program.composition import Composer, is_given, number
from pykern.frontend.values import NoneValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip


def _reduce(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, f"{name}.reduce", "x axis= keepdims=", args, keywords)
        asked = given["axis"]
        if isinstance(asked, NoneValue) and "axis" not in keywords and len(args) < 2:
            asked = number(0)
        along = {n: v for n, v in (("axis", asked), ("keepdims", given["keepdims"])) if is_given(v)}
        return Composer(t, node).call(_REDUCTIONS[name], given["x"], **along)

    return apply


def _outer(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, f"{name}.outer", "a b", args, keywords)
        made = Composer(t, node)
        a, b = made.array(given["a"]), made.array(given["b"])
        return made.call(
            {"power": "pow"}.get(name, name), made.reshaped(a, *a.shape, *(1,) * len(b.shape)), b
        )

    return apply


def _at(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, f"{name}.at", "x indices values", args, keywords)
        made = Composer(t, node)
        values = made.operand(given["values"])
        atomics.at(made, given["x"], given["indices"], values, atomics.UPDATES[name], converts=False)
        return NoneValue()

    return apply


_METHODS = {"reduce": _reduce, "outer": _outer, "at": _at}
HANDLERS: dict[str, Callable] = {
    f"{name}.{method}": make(name) for method, make in _METHODS.items() for name in UFUNC_METHODS[method]
}
