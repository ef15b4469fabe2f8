"""Element by element, with NumPy's broadcasting: any function of scalars becomes one linalg.generic.

Comes in: arrays and scalars, and a function that builds the scalar ops. Where no array takes part, the
function is applied to the scalars as they are. Shapes are static, so broadcasting is in the maps.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic, casts
from pykern.frontend.program.aliasing import check_fresh, current
from pykern.frontend.program.arguments import is_sequence
from pykern.frontend.program.tensors import Input, Shape, elementwise, fill, reshape, strong
from pykern.frontend.program.tile_lengths import meet, of_one
from pykern.frontend.program.values import Cell
from pykern.frontend.values import ComplexValue, Scalar, TupleValue, Value, describe
from pykern.types import DType

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_KINDS = "buif"
"""Kinds of types. NumPy's "same kind" goes down in size, and not back in this order."""
Function = Callable[[list[Scalar]], "Scalar | tuple[Scalar, ...]"]


def apply(t: ProgramTranslator, node: ast.AST, operands: Sequence[Value], function: Function) -> Value:
    """`function` on every element. Several results come as a tuple. Tuples and lists are arrays here, as for NumPy."""
    operands = [t.as_array(node, one) if is_sequence(one) else current(one) for one in operands]
    for operand in operands:
        if not isinstance(operand, Cell | Scalar):
            raise t.type_error(node, f"an array or a number is needed here, not {describe(operand)}")
        check_fresh(t, node, operand)
    with t.operands_of(node):
        if not any(isinstance(o, Cell) for o in operands):
            result = function([o for o in operands if isinstance(o, Scalar)])
            return TupleValue(result) if isinstance(result, tuple) else result
        shape = broadcast_shapes(t, node, [o for o in operands if isinstance(o, Cell)])
        several = False

        def body(elements: list[Scalar]) -> Sequence[Scalar]:
            nonlocal several
            given = iter(elements)
            result = function([o if isinstance(o, Scalar) and o.is_const else next(given) for o in operands])
            several = isinstance(result, tuple)
            return result if isinstance(result, tuple) else (result,)

        made = elementwise(shape, [i for o in operands for i in _input(o, shape)], body)
    cells = tuple(Cell(dtype, shape, ssa, is_scalar=not shape) for dtype, ssa in made)
    return TupleValue(cells) if several else cells[0]


def _input(operand: Value, shape: Shape) -> list[Input]:
    """The operand as read in a loop nest over `shape`; a constant is no operand."""
    if isinstance(operand, Scalar):
        return [] if operand.ssa is None else [Input(operand.dtype, operand.ssa, ())]
    assert isinstance(operand, Cell)
    return [broadcast_input(operand, shape)]


def broadcast_input(cell: Cell, shape: Shape, first: int = 0) -> Input:
    """`cell` read under loops of `shape`, the first of them number `first`; repeated axes are collapsed."""
    ahead = len(shape) - len(cell.shape)
    kept = [a for a, n in enumerate(cell.shape) if n == shape[ahead + a]]
    lengths = tuple(cell.shape[a] for a in kept)
    ssa = reshape(cell.ssa, cell.dtype, cell.shape, lengths)
    return Input(cell.dtype, ssa, tuple(first + ahead + a for a in kept))


def broadcast_shapes(t: ProgramTranslator, node: ast.AST, cells: Sequence[Cell]) -> Shape:
    """NumPy's common shape, or a located error."""
    rank = max(len(c.shape) for c in cells)
    shape: list[int] = []
    for axis in range(-rank, 0):
        given = [c.shape[axis] for c in cells if len(c.shape) >= -axis]
        lengths = [n for n in given if n != 1]
        if len(set(lengths)) > 1:
            shapes = " and ".join(c.description for c in cells)
            raise t.type_error(node, f"the shapes do not fit together: {shapes}",
                               "axes are matched from the last; lengths are equal or 1")  # fmt: skip
        shape.append(meet(t, node, lengths) if lengths else of_one(given))
    return tuple(shape)


def broadcast_to(t: ProgramTranslator, node: ast.AST, value: Value, dtype: DType, shape: Shape) -> Cell:
    """`value` as an array of `dtype` and `shape`; refuses what would have to shrink, and constants that do not fit."""
    if is_sequence(value):
        value = t.as_array(node, value)
    if isinstance(value, Scalar):
        with t.operands_of(node):
            return Cell(dtype, shape, fill(arithmetic.element(value, dtype), dtype, shape))
    if not isinstance(value, Cell):
        raise t.type_error(node, f"an array or a number is needed here, not {describe(value)}")
    for have, want in zip(value.shape[::-1], shape[::-1], strict=False):
        if have == want != 1:
            meet(t, node, (have, want))
    if value.shape == shape and value.dtype == dtype:
        return value
    fits = len(value.shape) <= len(shape) and all(
        n in (1, shape[len(shape) - len(value.shape) + a]) for a, n in enumerate(value.shape)
    )
    if not fits:
        raise t.type_error(node, f"{describe(value)} does not broadcast to the shape {shape}",
                           "axes are matched from the last; lengths are equal or 1" if t.tile is None
                           else "make an array of a tile's length by its name: pk.zeros((i, j), dtype)")  # fmt: skip
    [(_, ssa)] = elementwise(shape, [broadcast_input(value, shape)], lambda e: [casts.convert(e[0], dtype)])
    return Cell(dtype, shape, ssa)


def in_type_of(t: ProgramTranslator, node: ast.AST, old: Cell, new: Value, shape: Shape) -> Cell:
    """A result that goes back into the array `old`, as NumPy's "same kind" rule allows."""
    if isinstance(new, ComplexValue):
        raise t.type_error(node, f"the result is complex, which does not go back into {old.description}",
                           "make the array complex first: x = x.astype(complex)")  # fmt: skip
    assert isinstance(new, Cell | Scalar)
    kind = strong(new.dtype)
    if _KINDS.index(kind.kind) > _KINDS.index(old.dtype.kind):
        raise t.type_error(node, f"the result is {kind.name}, which does not go back into {old.description}",
                           f"convert it: x = x.astype(pk.{kind.name})")  # fmt: skip
    return broadcast_to(t, node, new, old.dtype, shape)


def cast(t: ProgramTranslator, node: ast.AST, value: Value, dtype: DType) -> Value:
    """``x.astype(dtype)``."""
    if isinstance(value, Cell) and value.dtype == dtype:
        return Cell(dtype, value.shape, value.ssa, is_scalar=not value.shape)
    return apply(t, node, [value], lambda e: casts.convert(e[0], dtype))


def bitcast(t: ProgramTranslator, node: ast.AST, value: Value, dtype: DType) -> Value:
    """``pk.bitcast(x, dtype)``."""
    return apply(t, node, [value], lambda e: casts.bitcast(e[0], dtype))
