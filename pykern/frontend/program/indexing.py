"""``x[...]``: which part of an array an index names, read and written.

Integers (also of run time), slices of known bounds and steps, None and Ellipsis. A slice is a value of its
own; ``x[part] = v`` puts a new tensor into the array's cell. A run-time index outside is brought to the edge.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend import arithmetic
from pykern.frontend.casts import convert, materialise
from pykern.frontend.program import elementwise
from pykern.frontend.program.shaping import backwards
from pykern.frontend.program.tensors import Extent, Shape, extract_slice, insert_slice, reshape
from pykern.frontend.program.values import Cell
from pykern.frontend.values import NoneValue, Scalar, TupleValue, Value, describe
from pykern.types import bool_, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True)
class Part:
    """A part of an array: what is taken of each axis, the kept axes that run backwards, the final shape."""

    extents: tuple[Extent, ...]
    backwards: tuple[int, ...]
    shape: Shape

    @property
    def kept(self) -> Shape:
        """The shape without the axes that None adds."""
        return tuple(e.size for e in self.extents if e.kept)

    def takes_all(self, shape: Shape) -> bool:
        """Whether every element is taken, in whichever order."""
        return self.kept == shape and all(e.kept and e.step == 1 and e.offset == 0 for e in self.extents)

    def is_whole(self, shape: Shape) -> bool:
        return self.takes_all(shape) and not self.backwards


def read(t: ProgramTranslator, node: ast.Subscript, x: Cell) -> Cell:
    part = parse(t, node.slice, x)
    ssa = x.ssa if part.takes_all(x.shape) else extract_slice(x.ssa, x.dtype, part.extents)
    ssa = backwards(Cell(x.dtype, part.kept, ssa), part.backwards).ssa
    ssa = reshape(ssa, x.dtype, part.kept, part.shape)
    return x.view(Cell(x.dtype, part.shape, ssa, is_scalar=not part.shape))


def write(t: ProgramTranslator, node: ast.Subscript, x: Cell, value: Value) -> None:
    part = parse(t, node.slice, x)
    given = elementwise.broadcast_to(t, node, _fewer_axes(value, part), x.dtype, part.shape)
    ssa = reshape(given.ssa, x.dtype, part.shape, part.kept)
    if not part.is_whole(x.shape):
        ssa = backwards(Cell(x.dtype, part.kept, ssa), part.backwards).ssa
        ssa = ssa if part.takes_all(x.shape) else insert_slice(ssa, x.ssa, part.extents)
    t.write(node, x, ssa)


def _fewer_axes(value: Value, part: Part) -> Value:
    """NumPy drops leading axes of length 1 of what is assigned."""
    if not isinstance(value, Cell) or len(value.shape) <= len(part.shape):
        return value
    extra = len(value.shape) - len(part.shape)
    if any(n != 1 for n in value.shape[:extra]):
        return value
    shape = value.shape[extra:]
    return Cell(value.dtype, shape, reshape(value.ssa, value.dtype, value.shape, shape))


# -- the index ----------------------------------------------------------------------------------


def parse(t: ProgramTranslator, node: ast.expr, x: Cell) -> Part:
    """What an index names. Raises located errors for what is outside or not available."""
    items = _items(t, node)
    used = sum(not _is_new(value) and not _is_ellipsis(item) for item, value in items)
    ellipses = sum(_is_ellipsis(item) for item, _ in items)
    if used > len(x.shape) or ellipses > 1:
        raise t.type_error(node, f"{used} indices are given for {x.description}")
    rest = len(x.shape) - used
    extents: list[Extent] = []
    shape: list[int] = []
    turned: list[int] = []
    if not ellipses:
        items.append((ast.copy_location(ast.Constant(...), node), None))
    for item, value in items:
        if _is_ellipsis(item):
            lengths = x.shape[len(extents) : len(extents) + rest]
            extents += [Extent(0, n) for n in lengths]
            shape += lengths
        elif _is_new(value):
            shape.append(1)
        else:
            extent, reverse = _extent(t, item, value, x, len(extents))
            if reverse:
                turned.append(sum(e.kept for e in extents))
            extents.append(extent)
            shape += [extent.size] if extent.kept else []
    return Part(tuple(extents), tuple(turned), tuple(shape))


def _items(t: ProgramTranslator, node: ast.expr) -> list[tuple[ast.expr, Value | None]]:
    """The parts of an index with their values; a slice and an ellipsis have none."""
    items: list[tuple[ast.expr, Value | None]] = []
    for item in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(item, ast.Slice) or _is_ellipsis(item):
            items.append((item, None))
            continue
        inner = item.value if isinstance(item, ast.Starred) else item
        value = t.expression(inner)
        items += [(item, v) for v in value.items] if isinstance(value, TupleValue) else [(item, value)]
    return items


def _is_ellipsis(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and item.value is ...


def _is_new(value: Value | None) -> bool:
    return isinstance(value, NoneValue)


def _extent(
    t: ProgramTranslator, item: ast.expr, value: Value | None, x: Cell, axis: int
) -> tuple[Extent, bool]:
    length = x.shape[axis]
    if isinstance(item, ast.Slice):
        return _slice(t, item, length)
    if isinstance(value, Cell) and value.shape:
        hint = (
            "choose with pk.where(mask, a, b)"
            if value.dtype == bool_
            else "gather in a kernel: y[i] = x[k[i]]"
        )
        raise t.type_error(item, f"an array as an index is not available ({value.description})", hint)
    assert value is not None
    index = t.as_scalar(item, value)
    if not index.dtype.is_integer:
        raise t.type_error(item, f"an index is an integer, not {describe(index)}",
                           "use pk.cast(x, pk.i64) to cut off the fraction")  # fmt: skip
    if index.is_const:
        number = int(index.const)  # type: ignore[call-overload]
        if not -length <= number < length:
            raise t.type_error(item, f"index {number} is outside of axis {axis} of {x.description}")
        return Extent(number % length, 1, kept=False), False
    if length == 0:
        raise t.type_error(item, f"axis {axis} of {x.description} has no elements")
    return Extent(_brought_inside(index, length), 1, kept=False), False


def _brought_inside(index: Scalar, length: int) -> ir.Value:
    """A run-time index: negative from the end, and at the edge where it would be outside."""
    index = convert(index, weak_int)
    last, nil = Scalar(weak_int, const=length - 1), Scalar(weak_int, const=0)
    negative = arithmetic.binary("<", index, nil)
    lifted = arithmetic.binary("+", index, Scalar(weak_int, const=length))
    chosen = ir.Operation.create(
        "arith.select",
        results=[ir.IndexType.get()],
        operands=[materialise(negative), materialise(lifted), materialise(index)],
    ).result
    inside = arithmetic.maximum(arithmetic.minimum(Scalar(weak_int, chosen), last), nil)
    return materialise(inside)


def _slice(t: ProgramTranslator, item: ast.Slice, length: int) -> tuple[Extent, bool]:
    """A slice of known bounds. A negative step is the same elements, taken upwards and turned round."""
    bounds: list[int | None] = []
    for node in (item.lower, item.upper, item.step):
        value = None if node is None else t.expression(node)
        if value is None or isinstance(value, NoneValue):
            bounds.append(None)
            continue
        bound = t.as_scalar(item, value)
        if not bound.is_const or not isinstance(bound.const, int):
            raise t.type_error(node or item, "the bounds of a slice are known when compiling: they decide the shape",
                               "use constants, lengths of arrays or pk.static parameters")  # fmt: skip
        bounds.append(bound.const)
    if bounds[2] == 0:
        raise t.type_error(item, "the step of a slice is not zero")
    taken = range(*slice(*bounds).indices(length))
    count = len(taken)
    if count == 0:
        return Extent(0, 0), False
    if taken.step > 0:
        return Extent(taken[0], count, taken.step if count > 1 else 1), False
    return Extent(taken[-1], count, -taken.step if count > 1 else 1), count > 1
