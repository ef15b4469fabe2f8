"""``x[...]``: which part of an array an index names, read and written.

Integers (also of run time), arrays of them (read only, see `gathering`), slices of known length and step, None
and Ellipsis. A slice is a value of its own; ``x[part] = v`` puts a new tensor into the array's cell. A run-time
index outside is brought to the edge, and so is a slice as a whole.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.source import LIST
from pykern.frontend.casts import convert
from pykern.frontend.program import each_writes, elementwise, gathering, selections, tiles
from pykern.frontend.program.bounds import brought_inside
from pykern.frontend.program.composition import Composer
from pykern.frontend.program.differences import constant_difference
from pykern.frontend.program.gathering import Taken
from pykern.frontend.program.selections import Selection
from pykern.frontend.program.shaping import backwards, stacked
from pykern.frontend.program.tensors import Extent, Shape, extract_slice, insert_slice, reshape
from pykern.frontend.program.tile_accesses import Along
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.unknown_values import unknown
from pykern.frontend.program.values import AllAxes, Cell, Way
from pykern.frontend.values import NoneValue, Scalar, TupleValue, Value, describe
from pykern.types import bool_, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True)
class Part:
    """A part of an array: what is taken of each axis, the kept axes that run backwards, the final shape.

    `looked_up`: all that the index says, where one of it is an array.
    """

    extents: tuple[Extent, ...]
    backwards: tuple[int, ...]
    shape: Shape
    looked_up: tuple[Taken, ...] = ()
    along: Along = frozenset()
    """(axis, dimension of the index space) where a kernel of tiles takes its own tile."""

    @property
    def kept(self) -> Shape:
        """The shape without the axes that None adds."""
        return tuple(e.size for e in self.extents if e.kept)

    def takes_all(self, shape: Shape) -> bool:
        """Whether every element is taken, in whichever order."""
        return self.kept == shape and all(e.kept and e.step == 1 and e.offset == 0 for e in self.extents)

    def is_whole(self, shape: Shape) -> bool:
        return self.takes_all(shape) and not self.backwards


def read(t: ProgramTranslator, node: ast.Subscript, x: Cell) -> Cell | Selection:
    items = _items(t, node.slice)
    if (mask := _mask(items)) is not None:
        return selections.select(t, node, x, mask)
    part = _part(t, node.slice, items, x)
    _note(t, node, x, part.along, written=False)
    return read_part(t, node, x, part)


def _mask(items: list[tuple[ast.expr, Value | None]]) -> Cell | None:
    """The array of bools that is all of an index."""
    value = items[0][1] if len(items) == 1 else None
    return value if isinstance(value, Cell) and value.dtype == bool_ and value.shape else None


def read_part(t: ProgramTranslator, node: ast.AST, x: Cell, part: Part) -> Cell:
    """What an index names."""
    if part.looked_up:
        return gathering.read(t, node, x, part.looked_up, brought_inside)
    ssa = x.ssa if part.takes_all(x.shape) else extract_slice(x.ssa, x.dtype, part.extents)
    ssa = backwards(Cell(x.dtype, part.kept, ssa), part.backwards).ssa
    ssa = reshape(ssa, x.dtype, part.kept, part.shape)
    way = Way(x, lambda now: read_part(t, node, now, part), lambda now, given: _placed(now, part, given))
    return x.view(Cell(x.dtype, part.shape, ssa, is_scalar=not part.shape), way)


def write(t: ProgramTranslator, node: ast.Subscript, x: Cell, value: Value) -> None:
    items = _items(t, node.slice)
    if (mask := _mask(items)) is not None:
        selections.write(t, node, x, mask, value)
        return
    part = _part(t, node.slice, items, x)
    if part.looked_up:
        _write_each(t, node, x, part, value)
        return
    _note(t, node, x, part.along, written=True)
    write_part(
        t, node, x, part, elementwise.broadcast_to(t, node, _fewer_axes(value, part), x.dtype, part.shape)
    )
    if t.tile is not None:
        x.ssa = t.tile.reductions.placed(x.ssa, part.shape)


def write_part(t: ProgramTranslator, node: ast.AST, x: Cell, part: Part, given: Cell) -> None:
    """Put an array of the type of `x`, and of the shape of `part`, where an index says."""
    t.write(node, x, _placed(x, part, given))


def _placed(x: Cell, part: Part, given: Cell) -> ir.Value:
    """What an array holds with other elements in a part of it."""
    ssa = reshape(given.ssa, x.dtype, part.shape, part.kept)
    if part.is_whole(x.shape):
        return ssa
    ssa = backwards(Cell(x.dtype, part.kept, ssa), part.backwards).ssa
    return ssa if part.takes_all(x.shape) else insert_slice(ssa, x.ssa, part.extents)


def _write_each(t: ProgramTranslator, node: ast.Subscript, x: Cell, part: Part, value: Value) -> None:
    """``x[k] = v``: one element after the other, so that of equal indices the last one counts, as in NumPy."""
    arrays = [taken.array for taken in part.looked_up if taken.array is not None]
    rest = part.looked_up[len(arrays) :]
    is_plain = all(
        taken.extent is not None and taken.extent.kept and taken.extent.size == x.shape[taken.axis]
        for taken in rest
    )
    if len(arrays) + len(rest) != len(part.looked_up) or not is_plain:
        raise t.type_error(node, "arrays of indices say where to write along the first axes, and all of the others is "
                           "written", "write in a loop over pk.range, or transpose the array")  # fmt: skip
    call = ast.copy_location(ast.Call(node.value, [], []), node)
    each_writes.write(Composer(t, call), x, arrays, value)


def _note(t: ProgramTranslator, node: ast.AST, x: Cell, along: Along, written: bool) -> None:
    """Tell the tile kernel that is translated which part of an argument its tile reads or writes."""
    if t.tile is None or x.born >= t.tile.begin:
        return
    (t.tile.accesses.write if written else t.tile.accesses.read)(x, along, node)


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


def part_of(t: ProgramTranslator, node: ast.expr, values: Sequence[Value], x: Cell) -> Part:
    """What an index names whose parts are these values."""
    rest = ast.copy_location(ast.Constant(...), node)
    return _part(t, node, [(rest, None) if isinstance(v, AllAxes) else (node, v) for v in values], x)


def parse(t: ProgramTranslator, node: ast.expr, x: Cell) -> Part:
    """What an index names. Raises located errors for what is outside or not available."""
    return _part(t, node, _items(t, node), x)


def _part(t: ProgramTranslator, node: ast.expr, items: list[tuple[ast.expr, Value | None]], x: Cell) -> Part:
    used = sum(not _is_new(value) and not _is_ellipsis(item) for item, value in items)
    ellipses = sum(_is_ellipsis(item) for item, _ in items)
    if used > len(x.shape) or ellipses > 1:
        given = "1 index is" if used == 1 else f"{used} indices are"
        raise t.type_error(node, f"{given} given for {x.description}",
                           f"it takes up to {len(x.shape)}")  # fmt: skip
    rest = len(x.shape) - used
    if not ellipses:
        items.append((ast.copy_location(ast.Constant(...), node), None))
    taken: list[Taken] = []
    along: set[tuple[int, int, int, int]] = set()
    axis = 0
    for item, value in items:
        if _is_ellipsis(item):
            taken += [Taken(a, Extent(0, x.shape[a])) for a in range(axis, axis + rest)]
            axis += rest
        elif _is_new(value):
            taken.append(Taken())
        else:
            taken.append(_taken(t, item, value, x, axis))
            along |= set() if t.tile is None else t.tile.along(axis, value)
            axis += 1
    if any(part.array is not None for part in taken):
        return Part((), (), (), tuple(taken), frozenset(along))
    extents = tuple(part.extent for part in taken if part.extent is not None)
    kept = [part for part in taken if part.extent is not None and part.extent.kept]
    turned = tuple(n for n, part in enumerate(kept) if part.backwards)
    shown = [part.extent for part in taken if not part.looks_up]
    shape = tuple(1 if extent is None else extent.size for extent in shown)
    return Part(extents, turned, shape, along=frozenset(along))


def _items(t: ProgramTranslator, node: ast.expr) -> list[tuple[ast.expr, Value | None]]:
    """The parts of an index with their values; a slice and an ellipsis have none. A tuple is several parts; a list,
    and a tuple among other parts, is one: an array of indices."""
    items: list[tuple[ast.expr, Value | None]] = []
    for item in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(item, ast.Slice) or _is_ellipsis(item):
            items.append((item, None))
            continue
        inner = item.value if isinstance(item, ast.Starred) else item
        value = t.expression(inner)
        if isinstance(value, TupleValue) and (item is not inner or (item is node and value.name != LIST)):
            items += [(item, v) for v in value.items]
        else:
            items.append((item, value))
    return items


def _is_ellipsis(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and item.value is ...


def _is_new(value: Value | None) -> bool:
    return isinstance(value, NoneValue)


def _taken(t: ProgramTranslator, item: ast.expr, value: Value | None, x: Cell, axis: int) -> Taken:
    if isinstance(item, ast.Slice):
        extent, is_backwards = _slice(t, item, x.shape[axis])
        return Taken(axis, extent, is_backwards)
    if isinstance(value, tiles.TileValue):
        return Taken(axis, tiles.extent(t, item, value, x, axis))
    refuse(t, item, x.shape[axis : axis + 1], "this index goes along")
    if isinstance(value, TupleValue):
        if not value.items:
            raise t.type_error(item, "a list of indices has at least one", "write x[:0] for no elements")
        for one in value.items:
            _element(t, item, one, x, axis)  # raises where it is outside
        value = stacked(t, item, value)
    if isinstance(value, Cell) and value.shape:
        if not value.dtype.is_integer:
            hint = (
                "choose with pk.where(mask, a, b)" if value.dtype == bool_ else "convert it: k.astype(pk.i64)"
            )
            raise t.type_error(item, f"an array as an index holds integers, not {value.description}", hint)
        return Taken(axis, array=value)
    return Taken(axis, _element(t, item, value, x, axis))


def _element(t: ProgramTranslator, item: ast.expr, value: Value | None, x: Cell, axis: int) -> Extent:
    length = x.shape[axis]
    assert value is not None
    index = t.as_scalar(item, value)
    if not index.dtype.is_integer:
        raise t.type_error(item, f"an index must be an integer, not {describe(index)}",
                           "use pk.cast(x, pk.i64) to cut off the fraction")  # fmt: skip
    if index.is_const:
        number = int(index.const)  # type: ignore[call-overload]
        if not -length <= number < length:
            raise t.type_error(item, f"index {number} is outside of axis {axis} of {x.description}",
                               f"indices are {-x.shape[axis]} to {x.shape[axis] - 1}")  # fmt: skip
        return Extent(number % length, 1, kept=False)
    if length == 0:
        raise t.type_error(item, f"axis {axis} of {x.description} has no elements")
    if t.tile is not None and (own := t.tile.dimension_of(index)) is not None:
        return Extent(tiles.element(t, item, own, index, x, axis), 1, kept=False)
    return Extent(brought_inside(index, length), 1, kept=False)


def _slice(t: ProgramTranslator, item: ast.Slice, length: int) -> tuple[Extent, bool]:
    """A slice of known length. A negative step is the same elements, taken upwards and turned round."""
    bounds = [_bound(t, item, node) for node in (item.lower, item.upper, item.step)]
    if any(bound is not None and not bound.is_const for bound in bounds):
        refuse(t, item, (length,), "this slice goes along")
        return _moving(t, item, bounds, length), False
    start, stop, step = (None if bound is None else int(bound.const) for bound in bounds)  # type: ignore[call-overload]
    if step == 0:
        raise t.type_error(item, "the step of a slice is not zero", "leave the step out, or write 1")
    if (start, stop, step) == (None, None, None):
        return Extent(0, length), False
    refuse(t, item, (length,), "this slice goes along")
    taken = range(*slice(start, stop, step).indices(length))
    count = len(taken)
    if count == 0:
        return Extent(0, 0), False
    if taken.step > 0:
        return Extent(taken[0], count, taken.step if count > 1 else 1), False
    return Extent(taken[-1], count, -taken.step if count > 1 else 1), count > 1


def _bound(t: ProgramTranslator, item: ast.Slice, node: ast.expr | None) -> Scalar | None:
    value = None if node is None else t.expression(node)
    if node is None or value is None or isinstance(value, NoneValue):
        return None
    bound = t.as_scalar(item, value)
    if not bound.dtype.is_integer:
        raise t.type_error(node, f"a bound of a slice is an integer, not {describe(bound)}")
    return bound if bound.is_const else convert(bound, weak_int)


def _moving(t: ProgramTranslator, item: ast.Slice, bounds: list[Scalar | None], length: int) -> Extent:
    """A slice of run-time bounds a constant apart: ``x[i:i + 3]``."""
    start, stop, step = bounds
    span = None if start is None or stop is None else constant_difference(stop, start)
    if span is None or start is None or (step is not None and not step.is_const):
        given = [bound for bound in bounds if bound is not None]
        raise unknown(t, item, given,
                      "the length of a slice must be known at compile time, because it determines the shape",
                      "let the bounds lie a constant apart, as in x[i:i + 3], or use lengths of arrays and "
                      "pk.static parameters", apart=True)  # fmt: skip
    stride = 1 if step is None else int(step.const)  # type: ignore[call-overload]
    if stride < 1:
        raise t.type_error(item, "a slice of run-time bounds has a step above zero",
                           "turn it round afterwards: pk.flip(x[i:i + 3])")  # fmt: skip
    count = len(range(0, span, stride))
    reach = (count - 1) * stride + 1
    if count == 0:
        return Extent(0, 0)
    if reach > length:
        raise t.type_error(item, f"a slice that reaches over {reach} elements is taken of {length}")
    return Extent(brought_inside(start, length, reach), count, stride if count > 1 else 1)
