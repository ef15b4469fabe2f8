"""Rows that two paths give a name, or that flow around a loop.

Comes in: the rows of both, and the blocks in which they were computed. Goes out: a pair of short rows of values, which
merge element by element; or, where a length is not known before the launch, a row that asks the condition of the branch
where an element is read. Rows of one array merge as their indices, see `merging`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend import chosen_lengths, rows
from pykern.frontend.array_writes import Origin
from pykern.frontend.casts import convert, materialise, mlir_type, zero
from pykern.frontend.desugar import RESULT
from pykern.frontend.liveness import read_after, read_first
from pykern.frontend.merging import flows, same, same_form, unify
from pykern.frontend.rows import Row, Rows, ShortRow, is_row
from pykern.frontend.values import Array, Scalar, TupleValue, Value
from pykern.passes.analysis.cost_model.lengths import SHORT_ROW_OF_VALUES

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation

Names = dict[str, Value]


def known_shape(a: Rows, b: Rows) -> tuple[Scalar, ...] | None:
    """The lengths of both, where each is known of one of them, and there are few elements."""
    if len(a.shape) != len(b.shape):
        return None
    shape = []
    for pair in zip(_lengths(a), _lengths(b), strict=True):
        known = {n for n in pair if n is not None}
        if len(known) != 1:
            return None
        shape.append(Scalar(rows.weak_int, const=known.pop()))
    count = rows.known_count(shape)
    return tuple(shape) if count is not None and 0 < count <= SHORT_ROW_OF_VALUES else None


def _lengths(row: Rows) -> list[int | None]:
    if isinstance(row, Array):
        return list(row.shape)
    return [d.const if d.is_const else None for d in row.shape]  # type: ignore[misc]


def are_merged(t: Translation, a: Value | None, b: Value | None) -> bool:
    """Whether two values are rows that this file merges. Long memory of one path alone stays there."""
    if not (is_row(a) and is_row(b)) or len(a.shape) != len(b.shape) or _differ(a, b):
        return False
    if same_form(a, b) or _as_values(t, a, b) is not None:
        return True
    return all(array.space == "global" for side in (a, b) for array in _arrays(side))


def _as_values(t: Translation, a: Rows, b: Rows) -> tuple[Scalar, ...] | None:
    """The shape of both as short rows of values."""
    return None if any(_is_written(t, side) for side in (a, b)) else known_shape(a, b)


def _arrays(value: Value) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif isinstance(value, Row):
        for operand in value.operands:
            yield from _arrays(operand)


def _differ(a: Rows, b: Rows) -> bool:
    pairs = zip(_lengths(a), _lengths(b), strict=True)
    return any(m is not None and n is not None and m != n for m, n in pairs)


def merged(
    t: Translation,
    node: ast.AST,
    condition: Scalar,
    sides: tuple[Rows, Rows],
    blocks: list[ir.Block],
    is_shared: bool,
) -> tuple[tuple[Value, Value], Callable[[Value], Value]]:
    """Values that flow out of the two blocks, and what makes the row of them behind the branch."""
    a, b = sides
    if same_form(a, b) and flows(a) and flows(b) and not isinstance(a, ShortRow):
        return (a, b), lambda value: value
    shape = _as_values(t, a, b)
    if shape is not None:
        pair = tuple(
            in_values(t, node, side, shape, block, is_shared)
            for side, block in zip(sides, blocks, strict=True)
        )
        origin = _joined(side.origin for side in pair)
        return tuple(replace(side, origin=origin) for side in pair), lambda value: value  # type: ignore[return-value]
    own, other = list(_ssa_leaves(a)), list(_ssa_leaves(b))
    nil_own, nil_other = [zero(v.dtype) for v in own], [zero(v.dtype) for v in other]
    pair = TupleValue((*own, *nil_other)), TupleValue((*nil_own, *other))

    def choice(value: Value) -> Value:
        assert isinstance(value, TupleValue)
        found = iter(value.items)
        first = _with_leaves(a, found)
        return _choice(t, node, condition, (first, _with_leaves(b, found)), sides)  # type: ignore[arg-type]

    return pair, choice


def in_values(
    t: Translation, node: ast.AST, row: Rows, shape: tuple[Scalar, ...], block: ir.Block, is_shared: bool
) -> ShortRow:
    """The elements, computed at the end of a block. What shows memory is not to be read after that is written."""
    with ir.InsertionPoint(block):
        rows.joined(t, node, list(shape), rows.lengths(t, row))  # type: ignore[arg-type]
        made = rows.values_of(t, node, row, shape)  # type: ignore[arg-type]
    return replace(made, origin=origin_of(t, row), is_shared=is_shared or not is_own(row))


def origin_of(t: Translation, row: Rows) -> Origin:
    """When and of what a row was computed; of memory that is shown, here."""
    if isinstance(row, Row) and not rows.shows_memory(row):
        return row.origin
    return t.array_writes.origin(rows.arrays_of(row))


def _joined(origins: Iterable[Origin]) -> Origin:
    """Of a row that is one of several: the arrays of all, and where the first was computed."""
    known = list(origins)
    arrays = tuple({id(array): array for origin in known for array in origin.arrays}.values())
    first = min(known, key=lambda origin: origin.time)
    return Origin(arrays, first.time, first.loops)


def is_own(row: Rows) -> bool:
    """Whether nothing else holds the elements of a row: it is computed, or memory of the work-item's own."""
    if isinstance(row, ShortRow):
        return not row.is_shared
    return (
        row.space == "private" and not row.outer if isinstance(row, Array) else not isinstance(row, rows.View)
    )


def is_alone(
    t: Translation,
    name: str,
    row: Value,
    names: Names | None = None,
    is_read: Callable[[str], bool] = lambda _: True,
) -> bool:
    """Whether no other name means the row, or a part of it. `is_read`: whether a name of the function may still be
    read."""
    own = t.names if names is None else names
    others = [(n, v) for n, v in own.items() if n != name and name != RESULT and is_read(n)]
    others += [pair for frame in t.frames[:-1] for pair in frame.environment.locals.items()]
    marks = _marks(row)
    return not any(_shows(value, marks) for _, value in others)


def _marks(row: Value) -> tuple[object, ...]:
    """What two values that mean one row have in common."""
    if isinstance(row, Array):
        return (row.ssa,)
    return (row.operands[0],) if isinstance(row, ShortRow) else (row,)


def _shows(value: Value, marks: tuple[object, ...]) -> bool:
    if any(value is mark or (isinstance(value, Array) and value.ssa is mark) for mark in marks):
        return True
    if isinstance(value, TupleValue):
        return any(_shows(item, marks) for item in value.items)
    return isinstance(value, Row) and any(_shows(operand, marks) for operand in value.operands)


def _is_written(t: Translation, row: Rows) -> bool:
    return isinstance(row, Row) and not rows.shows_memory(row) and t.array_writes.written_since(row.origin)


def _choice(
    t: Translation, node: ast.AST, condition: Scalar, sides: tuple[Rows, Rows], before: tuple[Rows, Rows]
) -> Row:
    """The row of one of two paths: where an element is read, it is computed on that path alone. `before`: the rows as
    the paths computed them."""
    dtype = unify(*(side.dtype.loaded for side in sides))

    def element(
        t: Translation, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]
    ) -> Scalar:
        chosen, *given = operands
        op = ir.Operation.create(
            "scf.if",
            results=[mlir_type(dtype)],
            operands=[materialise(chosen)],
            regions=2,  # type: ignore[arg-type]
        )
        for region, side in zip(op.regions, given, strict=True):
            with ir.InsertionPoint(region.blocks.append()):
                value = convert(rows.element_of(t, node, side, indices), dtype)  # type: ignore[arg-type]
                ir.Operation.create("scf.yield", operands=[materialise(value)])
        return Scalar(dtype, op.result)

    a, b = sides
    origin = _joined(origin_of(t, side) for side in sides)
    text = " or ".join(dict.fromkeys(s.text if isinstance(s, Row) else s.name for s in sides))
    own = zip(*(rows.lengths(t, side) for side in before), strict=True)  # type: ignore[arg-type]
    lengths = zip(rows.lengths(t, a), rows.lengths(t, b), own, strict=True)  # type: ignore[arg-type]
    shape = tuple(chosen_lengths.chosen(condition, m, n, pair) for m, n, pair in lengths)  # type: ignore[arg-type]
    return rows.Row(text, (condition, a, b), element, shape, dtype, origin, (), True)  # type: ignore[arg-type]


def _ssa_leaves(value: Value) -> Iterator[Scalar]:
    """What a row needs of the block it was computed in."""
    if isinstance(value, TupleValue):
        for item in value.items:
            yield from _ssa_leaves(item)
    elif isinstance(value, Array):
        yield from (Scalar(rows.weak_int, index) for index in value.outer)
    elif isinstance(value, Row):
        for part in (*value.operands, *value.indices, *value.shape):
            yield from _ssa_leaves(part)
    elif isinstance(value, Scalar) and not value.is_const:
        yield value


def _with_leaves(value: Value, found: Iterator[Value]) -> Value:
    """`value` with others in their places."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple(_with_leaves(item, found) for item in value.items))
    if isinstance(value, Array):
        return replace(value, outer=tuple(materialise(next(found)) for _ in value.outer))  # type: ignore[arg-type]
    if isinstance(value, Row):
        operands, indices, shape = (
            tuple(_with_leaves(part, found) for part in parts)
            for parts in (value.operands, value.indices, value.shape)
        )
        return replace(value, operands=operands, indices=indices, shape=shape)  # type: ignore[arg-type]
    return next(found) if isinstance(value, Scalar) and not value.is_const else value


def _holds(origin: Origin, other: Origin) -> bool:
    """Whether an origin has all arrays of another."""
    return all(any(array is own for own in origin.arrays) for array in other.arrays)


def carry(
    t: Translation,
    node: ast.For | ast.While,
    block: ir.Block,
    before: Names,
    initial: Names,
    ends: Names,
    assigned: list[str],
) -> bool:
    """Short rows that flow around a loop, which is being built: their values come into `initial`, computed before the
    loop, and into `ends`, at the end of its `block`. Whether the loop is to be built again: `initial` has changed."""
    again = False

    @cache
    def is_read(name: str) -> bool:
        return read_first(node.body, name) or read_after(t.frame.function.node, node, name)

    for name in assigned:
        first, last = initial.get(name, before.get(name)), ends.get(name)
        if not (is_row(first) and is_row(last)) or same(first, last):
            continue
        is_shared = not (is_alone(t, name, first, before, is_read) and is_alone(t, name, last, ends, is_read))
        if isinstance(first, ShortRow) and name in initial:
            if not isinstance(last, ShortRow) and (shape := _as_values(t, first, last)) is not None:
                ends[name] = last = in_values(t, node, last, shape, block, is_shared)
            if isinstance(last, ShortRow) and (last.is_shared or is_shared) and not first.is_shared:
                initial[name] = first = replace(first, is_shared=True)
                again = True
            if isinstance(last, ShortRow) and not _holds(first.origin, last.origin):
                initial[name] = replace(first, origin=_joined((first.origin, last.origin)))
                again = True
        elif not (flows(first) and same_form(first, last)):
            shape = _as_values(t, first, last)
            if shape is not None:
                here = ir.InsertionPoint.current.block
                initial[name] = in_values(t, node, first, shape, here, is_shared)
                again = True
    return again
