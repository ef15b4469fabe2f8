"""Which arrays names mean after a loop, as NumPy's objects would have it.

A name that is bound anew in a loop, ``T, T2 = T2, T`` or ``T = step(T)``, flows around the loop by its
contents. Where nothing in the loop is written in place that is all there is to it. Where something is, the
arrays the names came with, the caller's among them, have to hold what NumPy would leave in them: known where
names only change places, refused with advice where it is not.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.program.flow import cells, leaves, rebuild
from pykern.frontend.program.values import Cell, GrowingList
from pykern.frontend.values import ComplexValue, Scalar, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass
class Slot:
    """An array that flows under a name: before the loop, at the start and end of an iteration, and after."""

    name: str
    before: Cell
    start: Cell
    end: Cell
    after: Cell


def slots(
    before: dict[str, Value], starts: dict[str, Value], ends: dict[str, Value], after: dict[str, Value]
) -> list[Slot]:
    """One a carried array; NumPy's scalars have no identity and no slot."""
    found: list[Slot] = []
    for name in before:
        for four in zip(*(leaves(given[name]) for given in (before, starts, ends, after)), strict=True):
            a, b, c, d = four
            if (
                isinstance(a, Cell)
                and isinstance(b, Cell)
                and isinstance(c, Cell)
                and isinstance(d, Cell)
                and not d.is_scalar
            ):
                found.append(Slot(name, a, b, c, d))
    return found


def settle(
    t: ProgramTranslator,
    node: ast.stmt,
    carried: list[Slot],
    written: list[Cell],
    trips: Scalar | None,
) -> None:
    """Check that the loop means what NumPy means, and give the arrays their contents after it."""
    takes = [_taken(slot, carried) for slot in carried]
    orbits = [_orbit(number, takes) for number in range(len(carried))]
    possible = _possible(carried)
    for number, slot in enumerate(carried):
        ours = slot.name.startswith(".")  # a result: the loop ends where it is set
        if not ours and any(possible[number] & c.origins for c in written):
            raise _unclear(t, node, slot)
        if slot.start.was_written:
            _check_written(t, node, number, carried, orbits[number], possible)
            slot.before.was_written = True
    _settle_lists(t, node, carried, written, possible)
    for slot, (_, closed), arrays in zip(carried, orbits, possible, strict=True):
        if not closed:
            fresh = trips is not None and trips.is_const and trips.const and not _starts(slot, carried)
            slot.after.may_be = slot.end.origins if fresh else arrays
    done: set[int] = set()
    for number, (orbit, closed) in enumerate(orbits):
        if closed and not done.intersection(orbit):
            done.update(orbit)
            _rotate(t, node, [carried[k] for k in orbit], possible[number], trips)


def _starts(slot: Slot, carried: list[Slot]) -> list[int]:
    """The slots whose arrays this slot may have at the end of an iteration."""
    return [k for k, other in enumerate(carried) if other.start in slot.end.origins]


def _possible(carried: list[Slot]) -> list[frozenset[Cell]]:
    """Per slot the arrays it may ever have: what it came with, what it is given, what those it takes from have."""
    starts = {slot.start for slot in carried}
    found = [set(slot.before.origins | (slot.end.origins - starts)) for slot in carried]
    while True:
        size = sum(map(len, found))
        for number, slot in enumerate(carried):
            for k in _starts(slot, carried):
                found[number] |= found[k]
        if size == sum(map(len, found)):
            return [frozenset(arrays) for arrays in found]


def _settle_lists(
    t: ProgramTranslator,
    node: ast.stmt,
    carried: list[Slot],
    written: list[Cell],
    possible: list[frozenset[Cell]],
) -> None:
    """Which arrays the items are that a loop has appended to lists. Raises where an iteration writes one of an earlier
    iteration."""
    lists = [value for value in t.names.values() if isinstance(value, GrowingList)]
    for held in lists:
        appended = frozenset(origin for cell, _ in held.seen for origin in cell.origins)
        if any(appended & c.origins for c in written):
            raise _unclear_item(t, node)
        for number, slot in enumerate(carried):
            if slot.start.was_written and _following(number, carried) & appended:
                raise _unclear_item(t, node)
        held.may_be.update(appended)
        for slot, arrays in zip(carried, possible, strict=True):
            if slot.start in appended:
                held.may_be.update(arrays)


def _following(number: int, carried: list[Slot]) -> set[Cell]:
    """What an iteration before may have called the array that this slot has at the start of one."""
    found: set[Cell] = set()
    slots = [number]
    for k in slots:  # grows
        found |= carried[k].end.origins
        slots += [n for n in _starts(carried[k], carried) if n not in slots]
    return found


def _unclear_item(t: ProgramTranslator, node: ast.stmt):
    return t.type_error(
        node, "an array is written that an earlier iteration appended to a list", "append a copy"
    )


def _check_written(
    t: ProgramTranslator,
    node: ast.stmt,
    number: int,
    carried: list[Slot],
    orbit: tuple[list[int], bool],
    possible: list[frozenset[Cell]],
) -> None:
    """An array written under a carried name: no other name may see it, nor the caller unless places change only."""
    slot, arrays = carried[number], possible[number]
    round_trip, closed = orbit
    own = [carried[k].before for k in round_trip]
    seen = t.named_as(arrays) if closed else t.seen_as(arrays)
    whole = not closed or all(c.origins == {c} for c in own)
    others = (k for k in range(len(carried)) if k != number and not (closed and k in round_trip))
    if seen is not None or not whole or any(possible[k] & arrays for k in others) or len(set(own)) < len(own):
        raise _unclear(t, node, slot)


def _taken(slot: Slot, carried: list[Slot]) -> int | None:
    """The number of the slot whose array this slot has at the end of an iteration."""
    return next((k for k, other in enumerate(carried) if other.start is slot.end), None)


def _orbit(number: int, takes: list[int | None]) -> tuple[list[int], bool]:
    """The slots whose arrays slot `number` takes one after the other; whether that comes back to it."""
    seen = [number]
    following = takes[number]
    while following is not None and following not in seen:
        seen.append(following)
        following = takes[following]
    injective = all([takes[k] for k in range(len(takes))].count(k) == 1 for k in seen)
    return seen, following == number and injective


def _unclear(t: ProgramTranslator, node: ast.stmt, slot: Slot):
    return t.type_error(
        node,
        f"`{slot.name}` is bound anew in this loop, and the array it means at first is written in place: "
        "other names would see some of it",
        f"take a copy before the loop: {slot.name} = {slot.name}.copy()",
    )


def _rotate(
    t: ProgramTranslator,
    node: ast.stmt,
    orbit: list[Slot],
    arrays: frozenset[Cell],
    trips: Scalar | None,
) -> None:
    """Names that change places: after n rounds slot k has the array that slot k + n came with."""
    size = len(orbit)
    was_written = any(s.start.was_written for s in orbit)
    visible = t.seen_as(arrays) is not None
    if size == 1:
        trips = Scalar(weak_int, const=0)
    if trips is not None and trips.is_const:
        turn = int(trips.const) % size  # type: ignore[call-overload]
        if was_written:
            for k, slot in enumerate(orbit):
                _written(t, orbit[(k + turn) % size].before, slot.after.ssa)
        for k, slot in enumerate(orbit):
            _bind(t, slot, orbit[(k + turn) % size].before)
        return
    for slot in orbit:
        slot.after.may_be = arrays
    if not was_written or not visible:
        return
    if trips is None:
        raise t.type_error(node, f"`{orbit[0].name}` and `{orbit[1].name}` change places in a loop of unknown length, "
                           "and the caller would see which array holds what",
                           "take copies before the loop: x = x.copy()")  # fmt: skip
    turn_value = arithmetic.binary("%", trips, Scalar(weak_int, const=size))
    contents = [slot.after.ssa for slot in orbit]
    for j, slot in enumerate(orbit):
        # the array of slot j is, after n rounds, under slot j - n
        _written(t, slot.before, _chosen_by(turn_value, [contents[(j - n) % size] for n in range(size)]))


def _written(t: ProgramTranslator, cell: Cell, ssa: ir.Value) -> None:
    t.note_write(cell)
    t.put(cell, ssa)


def _bind(t: ProgramTranslator, slot: Slot, array: Cell) -> None:
    """Let the name mean one of the arrays that were there before the loop."""
    value = t.names[slot.name]
    assert any(c is slot.after for c in cells(value))
    t.names[slot.name] = rebuild(
        value, iter([array if leaf is slot.after else leaf for leaf in leaves(value)])
    )


def _chosen_by(index: Scalar, choices: list[ir.Value]) -> ir.Value:
    """``choices[index]``."""
    chosen = choices[-1]
    for n in reversed(range(len(choices) - 1)):
        here = arithmetic.binary("==", index, Scalar(weak_int, const=n))
        made = ir.Operation.create("scf.if", results=[chosen.type], operands=[materialise(here)], regions=2)
        for region, value in zip(made.regions, (choices[n], chosen), strict=True):
            with ir.InsertionPoint(region.blocks.append()):
                ir.Operation.create("scf.yield", operands=[value])
        chosen = made.results[0]
    return chosen


def current(value: Value) -> Value:
    """A view as it is now, where the array that it was taken of has been written since."""
    if isinstance(value, ComplexValue):
        found = tuple(current(part) for part in value.items)
        return value if all(a is b for a, b in zip(found, value.items, strict=True)) else ComplexValue(found)
    if not isinstance(value, Cell) or not value.is_stale or value.way is None:
        return value
    whole = current(value.way.whole)
    assert isinstance(whole, Cell)
    found = value.way.take(whole)
    found.name = value.name
    return found


def check_fresh(t: ProgramTranslator, node: ast.AST, value: Value) -> None:
    """Raise where a part of an array is read that has been written since, also by what stands beside it in the same
    expression: NumPy's view would show it."""
    if isinstance(value, Cell) and value.is_stale:
        assert value.base is not None
        raise t.type_error(node, f"{value.base.description} has been written since this part of it was taken: "
                           "parts are values here, and views in NumPy",
                           "take the part again, or a copy at first: x[1:].copy()")  # fmt: skip
