"""Lists to which a long loop appends an item in each iteration: their items are rows of arrays, and the loop stays one.

Comes in: a loop, of which the first iteration has been translated, so that it is known what is appended. Goes out: the
lists that it only appends to; what their names mean in the loop, and behind it. Read next: `loops`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pykern.data.source import LIST
from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.program.aliasing import current
from pykern.frontend.program.flow import Leaf, cells, flows, leaves, rebuild, type_of
from pykern.frontend.program.sharing import is_mutable, occurrences
from pykern.frontend.program.tensors import (
    Extent,
    empty,
    extract,
    extract_slice,
    from_scalar,
    insert_slice,
    reshape,
    strong,
)
from pykern.frontend.program.values import Cell, GrowingList, parts
from pykern.frontend.values import Scalar, TupleValue, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from mlir import ir

    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True)
class ListedRow:
    """An item of a list, or a leaf of it, that is a row of an array; `held` is what the array holds, `ssa` what the
    item does until it is written."""

    item: Leaf
    array: Cell
    held: ir.Value
    number: int
    ssa: ir.Value | None

    @property
    def is_intact(self) -> bool:
        return self.item.ssa is self.ssa


def append(t: ProgramTranslator, node: ast.Call, held: GrowingList, item: Value) -> None:
    """Write the row of this iteration. Raises where the item is of another kind than that of the first one."""
    own = list(leaves(held.form))
    given = list(leaves(item)) if flows(item) else []
    if [type_of(leaf) for leaf in given] != [type_of(leaf) for leaf in own]:
        raise t.type_error(node, "items of a list that a long loop appends to are of one kind",
                           "append arrays of one shape and dtype")  # fmt: skip
    counter = t.names[held.counter]
    assert isinstance(counter, Scalar)
    start, step = (Scalar(weak_int, const=n) for n in (held.numbers.start, held.numbers.step))
    row = materialise(arithmetic.binary("//", arithmetic.binary("-", counter, start), step))
    for leaf, array in zip(given, held.arrays, strict=True):
        ssa = from_scalar(leaf, array.dtype) if isinstance(leaf, Scalar) else leaf.ssa
        t.write(node, array, insert_slice(ssa, array.ssa, _row(array, row)))
    held.seen += [(leaf, t.mark()) for leaf in given if isinstance(leaf, Cell) and not leaf.is_scalar]


def of(t: ProgramTranslator, node: ast.For) -> list[str]:
    """The lists that the body of a loop appends to, once in each iteration, and does not ask otherwise."""
    found = [name for statement in node.body if (name := _appended_to(statement)) is not None]
    named = [part.id for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Name)]
    return [name for name in found if named.count(name) == 1 and _is_alone(t, name)]


def without(node: ast.For, lists: list[str]) -> ast.For:
    """The loop where what is appended is computed only."""
    made = copy.copy(node)
    made.body = [
        ast.copy_location(ast.Expr(statement.value.args[0]), statement)  # type: ignore[attr-defined]
        if _appended_to(statement) in lists
        else statement
        for statement in node.body
    ]
    return made


@contextmanager
def growing(t: ProgramTranslator, node: ast.For, lists: list[str], numbers: range) -> Iterator[None]:
    """The names of the lists mean arrays of as many rows as there are `numbers`, and lists with these at the end."""
    assert isinstance(node.target, ast.Name)
    before = {name: t.names[name] for name in lists}
    for name, value in before.items():
        assert isinstance(value, TupleValue)
        form = value.items[-1]
        arrays = [_array(leaf, len(numbers)) for leaf in leaves(form)]
        held = [(cell, t.mark()) for item in value.items for cell in cells(item) if not cell.is_scalar]
        t.names[name] = GrowingList(form, arrays, node.target.id, numbers, held, len(held))
    yield
    for name, value in before.items():
        made = t.names[name]
        assert isinstance(value, TupleValue) and isinstance(made, GrowingList)
        if any(origin.version >= mark for cell, mark in made.seen for origin in (cell, *cell.origins)):
            raise t.type_error(
                node, f"an array is written after it was appended to `{name}`", "append a copy"
            )
        columns = [
            [_item(t, leaf, array, number, made.may_be) for number in range(len(numbers))]
            for leaf, array in zip(leaves(made.form), made.arrays, strict=True)
        ]
        rows = [rebuild(made.form, iter(row)) for row in zip(*columns, strict=True)]
        t.names[name] = replace(value, items=(*value.items, *rows))


def begin(t: ProgramTranslator, node: ast.For) -> None:
    """Forget what was appended when the body of the loop was translated before."""
    for value in t.names.values():
        if isinstance(value, GrowingList) and value.counter == getattr(node.target, "id", ""):
            del value.seen[value.older :]


def arrays_of(t: ProgramTranslator, items: tuple[Value, ...]) -> list[Cell] | None:
    """Arrays of which these items are all rows, one after the other; None where they are others, too."""
    known = (t.rows_of_lists.get(id(item)) for item in items)
    rows = [row if row is not None and row.is_intact else None for row in known]
    found: list[Cell] = []
    begin = 0
    for place, row in enumerate(rows):
        following = rows[place + 1] if place + 1 < len(rows) else None
        if row is None:
            cell = _as_array(t, items[place])
            if cell is None:
                return None
            found.append(cell)
            begin = place + 1
        elif following is None or following.held is not row.held or following.number != row.number + 1:
            found.append(_part(row, rows[begin]))
            begin = place + 1
    kinds = {(cell.dtype, cell.shape[1:]) for cell in found}
    return found if len(kinds) == 1 and len(found) < len(items) else None


def _part(last: ListedRow, first: ListedRow | None) -> Cell:
    assert first is not None
    array, count = last.array, last.number + 1 - first.number
    extents = [Extent(first.number, count), *(Extent(0, n) for n in array.shape[1:])]
    return Cell(array.dtype, (count, *array.shape[1:]), extract_slice(first.held, array.dtype, extents))


def _as_array(t: ProgramTranslator, item: Value) -> Cell | None:
    """An item as the only row of an array."""
    if not isinstance(item, Scalar | Cell):
        return None
    cell = t.as_cell(item) if isinstance(item, Scalar) else current(item)
    assert isinstance(cell, Cell)
    shape = (1, *cell.shape)
    return Cell(cell.dtype, shape, reshape(cell.ssa, cell.dtype, cell.shape, shape))


def _appended_to(statement: ast.stmt) -> str | None:
    """The name in ``name.append(value)``."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Attribute) or called.keywords:
        return None
    owner, is_one = called.func.value, len(called.args) == 1 and not isinstance(called.args[0], ast.Starred)
    return owner.id if called.func.attr == "append" and is_one and isinstance(owner, ast.Name) else None


def _is_alone(t: ProgramTranslator, name: str) -> bool:
    """Whether it is a list with items of which the last one is made of numbers and arrays, and which has no other
    name."""
    value = t.names.get(name)
    if not isinstance(value, TupleValue) or value.name != LIST or not value.items:
        return False
    names = [n for n, other in t.names.items() if any(True for _ in occurrences(other, value.origins))]
    return names == [name] and flows(value.items[-1]) and not _has_structures(value.items[-1])


def _has_structures(value: Value) -> bool:
    return is_mutable(value) or any(map(_has_structures, parts(value)))


def _array(leaf: Leaf, count: int) -> Cell:
    dtype = strong(leaf.dtype) if isinstance(leaf, Scalar) else leaf.dtype
    shape = (count, *(() if isinstance(leaf, Scalar) else leaf.shape))
    return Cell(dtype, shape, empty(dtype, shape))


def _row(array: Cell, number: int | ir.Value) -> list[Extent]:
    return [Extent(number, 1, kept=False), *(Extent(0, n) for n in array.shape[1:])]


def _item(t: ProgramTranslator, leaf: Leaf, array: Cell, number: int, may_be: set[Cell]) -> Leaf:
    """An item behind the loop; where names or other items mean the array that was appended, none of them is written."""
    ssa = extract_slice(array.ssa, array.dtype, _row(array, number))
    if isinstance(leaf, Scalar):
        made: Leaf = Scalar(leaf.dtype, extract(array.dtype, ssa).ssa)
    else:
        made = Cell(leaf.dtype, leaf.shape, ssa, is_scalar=leaf.is_scalar)
        made.may_be = frozenset((made, *may_be))
    t.rows_of_lists[id(made)] = ListedRow(made, array, array.ssa, number, made.ssa)
    return made
