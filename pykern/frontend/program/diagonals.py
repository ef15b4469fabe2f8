"""NumPy's functions of diagonals: diagonal, diag, trace, and the triangles on both sides of one.

Comes in: a call. Goes out: a value read at places that are equal, or made of look-ups, and of `where` over the distance
from the diagonal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend.program import arguments, gathering, shaping
from pykern.frontend.program.bounds import brought_inside
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.tensors import Extent, Input, elementwise
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def _diagonal(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "diagonal", "x offset=", args, keywords)
    made = Composer(t, node)
    return _of_diagonal(made, made.array(given["x"]), _offset(t, node, given["offset"]))


def _offset(t: ProgramTranslator, node: ast.Call, value: Value) -> int:
    return arguments.integer(t, node, value, "the offset of a diagonal") if is_given(value) else 0


def _of_diagonal(made: Composer, x: Cell, offset: int) -> Cell:
    """The diagonal of the first two axes, behind the others: in NumPy a view."""
    if len(x.shape) < 2:
        raise made.t.type_error(made.node, f"{x.description} has no diagonal", "it takes two dimensions")
    refuse(made.t, made.node, x.shape[:2], "a diagonal goes along")
    rows, columns = x.shape[:2]
    if rows == columns and offset == 0:
        others = len(x.shape) - 2
        read = [ir.AffineExpr.get_dim(loop) for loop in (others, others, *range(others))]
        [(dtype, ssa)] = elementwise((*x.shape[2:], rows), [Input(x.dtype, x.ssa, tuple(read))], lambda e: e)
        return x.view(Cell(dtype, (*x.shape[2:], rows), ssa))
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    places = made.array(made.call("arange", number(count)))
    first = made.array(made.op("+", places, number(max(-offset, 0))))
    second = made.array(made.op("+", places, number(max(offset, 0))))
    rest = [gathering.Taken(a, Extent(0, n)) for a, n in enumerate(x.shape[2:], 2)]
    parts = [gathering.Taken(0, array=first), gathering.Taken(1, array=second), *rest]
    found = gathering.read(made.t, made.node, x, parts, brought_inside)
    found = shaping.permuted(found, (*range(1, len(found.shape)), 0))
    return x.view(Cell(found.dtype, found.shape, found.ssa))


def _diag(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """A matrix with a vector on its diagonal; the diagonal of a matrix."""
    given = arguments.bind(t, node, "diag", "x k=", args, keywords)
    made = Composer(t, node)
    x, offset = made.array(given["x"]), _offset(t, node, given["k"])
    if len(x.shape) == 2:
        return _of_diagonal(made, x, offset)
    if len(x.shape) != 1:
        raise t.type_error(node, f"`diag` takes a vector or a matrix, not {x.description}", "see `diagonal`")
    refuse(t, node, x.shape, "`diag` goes along")
    n = x.size + abs(offset)
    rows = made.reshaped(made.array(made.call("arange", number(n))), n, 1)
    at = made.op("==", made.op("-", made.call("arange", number(n)), rows), number(offset))
    padded = made.cell("pad", x, numbers((max(-offset, 0), max(offset, 0))))
    return made.call("where", at, made.reshaped(padded, n, 1), _zero(x))


def _trace(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "trace", "x offset=", args, keywords)
    made = Composer(t, node)
    found = _of_diagonal(made, made.array(given["x"]), _offset(t, node, given["offset"]))
    return made.call("sum", found, number(-1))


def _zero(x: Cell) -> Scalar:
    return Scalar(x.dtype, const=False if x.dtype.kind == "b" else 0)


def _triangle(name: str, symbol: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x k=", args, keywords)
        made = Composer(t, node)
        x, offset = made.array(given["x"]), _offset(t, node, given["k"])
        if not x.shape:
            raise t.type_error(node, f"`{name}` takes an array, not a number", "give at least one dimension")
        x = x if len(x.shape) > 1 else made.cell("broadcast_to", x, numbers((x.size, x.size)))
        refuse(t, node, x.shape[-2:], f"`{name}` goes along")
        rows = made.reshaped(made.array(made.call("arange", number(x.shape[-2]))), x.shape[-2], 1)
        distance = made.op("-", made.call("arange", number(x.shape[-1])), rows)
        return made.call("where", made.op(symbol, distance, number(offset)), x, _zero(x))

    return apply


HANDLERS: dict[str, Callable] = {
    "diagonal": _diagonal, "diag": _diag, "trace": _trace, "triu": _triangle("triu", ">="),
    "tril": _triangle("tril", "<="),
}  # fmt: skip
