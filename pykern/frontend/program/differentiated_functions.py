"""Functions of arrays whose derivatives are written in terms of themselves: solutions of linear systems, and others.

Comes in: what such a function computes, and two functions for its derivatives, each made of operations on arrays and of
calls of functions of this kind. Goes out: ``func.call`` of a function of the module whose mark `kern.rules` names the
functions that reverse and forward mode call. A derivative is made of such calls again, so it has derivatives, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.frontend.program.composition import Composer
from pykern.frontend.program.tensors import tensor_type
from pykern.frontend.program.values import Cell

Function = Callable[..., Sequence[Cell]]


@dataclass(frozen=True)
class Differentiated:
    """`primal` takes the operands, all of floats; `reverse` takes them, the results and the cotangents of these, and
    gives a cotangent for each operand; `forward` takes operands, results and the tangents of operands, and gives a
    tangent for each result. Each takes a `Composer` first."""

    name: str
    primal: Function
    reverse: Function
    forward: Function


def call(made: Composer, function: Differentiated, *operands: Cell) -> list[Cell]:
    """The results of the function, which is made once for operands of these types."""
    kinds = ".".join(f"{x.dtype.name}.{'x'.join(map(str, x.shape))}" for x in operands)
    symbol = f"{function.name}.{kinds}"
    known = _found(made, symbol)
    if known is None:
        known = _function(made, symbol, function.primal, operands)
        shown = known.operation.attributes
        like = [*operands, *_cells(known, operands)]
        pair = [
            _function(made, f"{symbol}.{mode}", rule, [*like, *given])
            for mode, rule, given in (
                ("reverse", function.reverse, like[len(operands) :]),
                ("forward", function.forward, operands),
            )
        ]
        shown[kern.RULES] = ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(f.name.value) for f in pair])
        shown["no_inline"] = ir.UnitAttr.get()
    made_call = func.CallOp(known, [x.ssa for x in operands])
    return [
        Cell(c.dtype, c.shape, r) for c, r in zip(_cells(known, operands), made_call.results, strict=True)
    ]


def _found(made: Composer, symbol: str) -> func.FuncOp | None:
    for op in made.t.module.body.operations:
        if isinstance(op, func.FuncOp) and op.name.value == symbol:
            return op
    return None


def _function(made: Composer, symbol: str, body: Function, like: Sequence[Cell]) -> func.FuncOp:
    """A private function of the module for operands like these; the type says what it gives."""
    types = [tensor_type(x.dtype, x.shape) for x in like]
    with ir.InsertionPoint(made.t.module.body):
        function = func.FuncOp(symbol, ir.FunctionType.get(types, []), visibility="private")
    with ir.InsertionPoint(function.add_entry_block()):
        given = [Cell(x.dtype, x.shape, a) for x, a in zip(like, function.arguments, strict=True)]
        results = [cell.ssa for cell in body(made, *given)]
        func.ReturnOp(results)
    kind = ir.FunctionType.get(types, [r.type for r in results])
    function.operation.attributes["function_type"] = ir.TypeAttr.get(kind)
    function.operation.attributes[kern.HELPER] = ir.UnitAttr.get()
    return function


def _cells(function: func.FuncOp, operands: Sequence[Cell]) -> list[Cell]:
    """What the function gives, without values: all operands and results have one dtype."""
    kinds = [ir.RankedTensorType(kind) for kind in function.type.results]
    return [Cell(operands[0].dtype, tuple(kind.shape), None) for kind in kinds]  # type: ignore[arg-type]
