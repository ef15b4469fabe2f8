"""A loop that carries an index also carries the element at this index, so that it is not loaded again.

Comes in: a kernel as loops over work-items. Goes out: loops that carry the value beside its index:

    before                              after
    for j: if x[j] > x[best]:           for j: if x[j] > v:
               best = j                            best = j; v = x[j]

Why: a load at a carried index has to wait for the comparison of the previous iteration, and cannot be vectorised.
Read next: `vectorize.selection`, which vectorises loops that carry the best value and its index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake, terminator_operands
from pykern.passes.ir.constants import constant
from pykern.passes.ir.memory import has_one_name, is_never_written
from pykern.passes.ir.values import is_argument, is_inside, is_nested_in, made_by, parent_of
from pykern.passes.kernel.constant_loops import COMPARE
from pykern.passes.kernel.promote_cells import HARMLESS, is_within_work_item
from pykern.passes.kernels import find, is_constant, replace, terminator, unaliased_loops
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class CarrySelectedLoads(Pass):
    """Carry the element at a carried index beside the index, instead of loading it in each iteration.

    In:  kernels as loops over work-items, marked `kern.noalias`.
    Out: a loop that carries an index, which each iteration keeps or replaces by another one, and loads elements of an
         array at both, carries the element too, selected by the same condition. The loop must not write the array. The
         first element is loaded in front of the loop, if the loop runs at all. The same is done for a load after the
         loop at the final index, from an array that nothing writes, where the first element may be loaded or an
         iteration is known to have replaced the index.
    """

    name: ClassVar[str] = "kern-carry-selected-loads"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.select",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for loop in unaliased_loops(module):
            changed |= "unsignedCmp" not in loop.attributes and is_within_work_item(loop) and _loop(loop)
        return changed


def _loop(loop: ir.Operation) -> bool:
    inside = find(loop, lambda op: True)
    if not loop.results or not all(op.name.startswith(HARMLESS) for op in inside):
        return False
    body = loop.regions[0].blocks[0]
    written = {op.operands[1] for op in inside if op.name == "memref.store"}
    loads = [o.operation for o in body.operations if o.operation.name == "memref.load"]
    loads = [op for op in loads if _is_unwritten(op.operands[0], written)]
    for number, (place, given) in enumerate(
        zip(list(body.arguments)[1:], terminator_operands(body), strict=True)
    ):
        choice = made_by(given, "arith.select")
        if choice is None or place not in list(choice.operands)[1:]:
            continue
        for load in loads:
            other = _at_other(load, place, place, choice, loads, loop)
            if other is not None:
                _carry(loop, load, other, choice, number, _first)
                return True
        for load in _loads_at(loop.results[number]):
            other = _at_other(load, loop.results[number], place, choice, loads, loop)
            start = _anything if _is_replaced(load, loop, number) else _at_start
            if other is not None and (load.block == loop.block or start is _anything):
                _carry(loop, load, other, choice, number, start)
                return True
    return False


def _loads_at(place: ir.Value) -> list[ir.Operation]:
    """Loads behind a loop, at an index that it gives, of arrays that the kernel does not write."""
    users = [use.owner.operation for use in place.uses]
    users += [
        use.owner.operation for op in users if op.name == "arith.index_cast" for use in op.results[0].uses
    ]
    return [op for op in users if op.name == "memref.load" and is_never_written(op.operands[0])]


def _is_replaced(load: ir.Operation, loop: ir.Operation, number: int) -> bool:
    """Whether a load is in a branch that tells the index that the loop gives from the one that it begins with."""
    start, branch = is_constant(loop.operands[3 + number]), parent_of(load)
    compare = made_by(branch.operands[0], "arith.cmpi") if branch.name == "scf.if" else None
    if start is None or compare is None or load.block != branch.regions[0].blocks[0]:
        return False
    index, bound = compare.operands[0], is_constant(compare.operands[1])
    if branch.block != loop.block or _plain(index) != loop.results[number] or bound is None:
        return False
    predicate = ir.IntegerAttr(compare.attributes["predicate"]).value
    return predicate < len(COMPARE) and not COMPARE[predicate](start, bound)


def _is_unwritten(memory: ir.Value, written: set[ir.Value]) -> bool:
    return is_argument(memory) and has_one_name(memory) and memory not in written


def _at_other(
    load: ir.Operation,
    index: ir.Value,
    place: ir.Value,
    choice: ir.Operation,
    loads: list[ir.Operation],
    loop: ir.Operation,
) -> ir.Operation | None:
    """The load of what stands at the other value of the choice, where `load` is of what stands at the carried one."""
    own = list(load.operands)[1:]
    at = [n for n, each in enumerate(own) if _plain(each) == index]
    if len(at) != 1 or any(is_inside(index, loop) for n, index in enumerate(own) if n != at[0]):
        return None
    replaced = next((v for v in list(choice.operands)[1:] if v != place), place)
    for other in loads:
        indices = list(other.operands)[1:]
        same = other.operands[0] == load.operands[0] and _plain(indices[at[0]]) == _plain(replaced)
        if same and all(a == b for n, (a, b) in enumerate(zip(indices, own, strict=True)) if n != at[0]):
            return other
    return None


def _plain(index: ir.Value) -> ir.Value:
    """The integer that an index is made of; casts between index and 64 bits change no place."""
    cast = made_by(index, "arith.index_cast")
    wide = ir.IntegerType.get_signless(64)
    if cast is None or not all(
        v.type == wide or isinstance(v.type, ir.IndexType) for v in (cast.operands[0], index)
    ):
        return index
    return _plain(cast.operands[0])


def _carry(
    loop: ir.Operation,
    load: ir.Operation,
    other: ir.Operation,
    choice: ir.Operation,
    number: int,
    start: Callable[[ir.Operation, ir.Value, ir.Operation, int], ir.Value],
) -> None:
    """Carry what `load` reads, from what `start` emits on; it stands in the loop, or behind it."""
    remark(load, "what stands at the index that the loop keeps is kept in a register")
    kind, place = load.results[0].type, loop.regions[0].blocks[0].arguments[1 + number]
    is_behind = not is_nested_in(load, loop)
    with ir.InsertionPoint(loop), loop.location:
        first = start(load, loop.results[number] if is_behind else place, loop, number)
        made = remake(loop, [*loop.operands, first], [*(r.type for r in loop.results), kind], regions=1)
    body = loop.regions[0].blocks[0]
    held = body.add_argument(kind, loop.location)
    found = other.results[0]
    replace(load, [made.results[len(loop.results)] if is_behind else held])
    body.append_to(made.regions[0])
    end = terminator(body)
    sides = [held, found] if choice.operands[1] == place else [found, held]
    with ir.InsertionPoint(end), end.location:
        kept = arith.SelectOp(choice.operands[0], *sides).result
        scf.YieldOp([*end.operands, kept])
    end.erase()
    for old, new in zip(loop.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()


def _first(load: ir.Operation, place: ir.Value, loop: ir.Operation, number: int) -> ir.Value:
    """What the first iteration reads; anything where there is none."""
    lower, upper = list(loop.operands)[:2]
    runs = arith.CmpIOp(arith.CmpIPredicate.slt, lower, upper).result
    branch = scf.IfOp(runs, [load.results[0].type], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([_at_start(load, place, loop, number)])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([_anything(load, place, loop, number)])
    return branch.results[0]


def _at_start(load: ir.Operation, place: ir.Value, loop: ir.Operation, number: int) -> ir.Value:
    """What stands at the index that the loop begins with."""
    memory, *indices = load.operands
    at = loop.operands[3 + number]
    if not isinstance(at.type, ir.IndexType):
        at = arith.IndexCastOp(ir.IndexType.get(), at).result
    return memref.LoadOp(memory, [at if _plain(index) == place else index for index in indices]).result


def _anything(load: ir.Operation, place: ir.Value, loop: ir.Operation, number: int) -> ir.Value:
    """Nobody reads it."""
    return constant(load.results[0].type, 0)
