"""The error of a program for a value that has to be known when compiling, and which parameters decide it.

Comes in: the values. Goes out: a `KernelTypeError` that names the `parameters`. The program is then compiled for the
values that these have in the call (`pykern.api.jit`), so ``np.zeros(n)`` needs no annotation of `n`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.errors import KernelTypeError
from pykern.frontend.values import Scalar, Value
from pykern.passes.ir.values import defining

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_COMPUTING = ("arith.", "math.")


def unknown(
    t: ProgramTranslator,
    node: ast.AST,
    values: list[Value],
    reason: str,
    hint: str | None,
    apart: bool = False,
) -> KernelTypeError:
    """The error at the node; it names the numbers among the parameters that decide the `values`, where these alone do.

    `apart`: how far the values lie apart has to be known, so the parameters of all of them do not matter at first.
    """
    error = t.type_error(node, reason, hint)
    if all(isinstance(value, Scalar) for value in values):
        found = [parameters_of(value) for value in values if isinstance(value, Scalar) and not value.is_const]
        if all(found):
            names = dict.fromkeys(name for each in found for name in each)
            own = [name for name in names if not all(name in each for each in found)] if apart else []
            error.parameters = tuple(own or names)
    return error


def parameters_of(number: Scalar) -> tuple[str, ...]:
    """The parameters that a number is computed from; none where anything else decides it."""
    assert number.ssa is not None
    left: list[ir.Value] = [number.ssa]
    found: dict[str, None] = {}
    for value in left:
        op = defining(value)
        if op is None:
            name = _name(value)
            if name is None:
                return ()
            found[name] = None
        elif op.name.startswith(_COMPUTING) and not op.regions:
            left += [operand for operand in op.operands if operand not in left]
        else:
            return ()
    return tuple(found)


def _name(argument: ir.Value) -> str | None:
    """The name of a parameter that is a number; None for what loops carry, and for arrays."""
    function = argument.owner.owner
    if function.operation.name != "func.func" or isinstance(argument.type, ir.ShapedType):
        return None
    named = ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(argument).arg_number]
    return ir.StringAttr(ir.DictAttr(named)[kern.NAME]).value
