"""Cells that a loop adds to wait in registers: `out[i] += x[i, j]` is a sum that the loop carries.

Comes in: a kernel as loops over work-items. Goes out: loops without loads and stores of a cell that stays the same; it
is read in front of the loop and written behind it. Read next: `hoist_atomics`, which does so with atomic additions.

Why: through memory each addition waits for the store before it, and neither lanes nor LLVM see a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant, true
from pykern.passes.ir.loops import When
from pykern.passes.ir.memory import ancestor_in, has_one_name
from pykern.passes.ir.values import is_argument, is_inside
from pykern.passes.kernels import find, is_constant, terminator, unaliased_loops
from pykern.passes.remarks import remark

_AT = {"memref.load": 0, "memref.store": 1}
HARMLESS = ("arith.", "math.", "memref.dim", "memref.load", "memref.store", "scf.for", "scf.if", "scf.yield")
"""Beginnings of names of ops that do not let other work-items see memory, nor change it in other ways."""

Cell = tuple[ir.Value, ...]
"""An array and the indices."""


@dataclass(frozen=True)
class Flag:
    """Stands for whether a cell was stored to."""

    cell: Cell


Carried = dict[Cell | Flag, ir.Value]


@dataclass(frozen=True)
class PromoteCells(Pass):
    """Keep in values what loops of work-items read and write again and again.

    In:  kernels as loops over work-items, marked `kern.noalias`.
    Out: where all accesses of a loop to an array are of cells that stay the same, each of its indices known to differ
         from the others', and each iteration stores to the cell, or a store in front of the loop did, the loop
         carries it in the type of the array. Where the loop may not run at all, nothing is read or written. A cell
         that only branches store to, and nothing reads, is carried with whether there was a store.
    """

    name: ClassVar[str] = "kern-promote-cells"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("memref.store",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for loop in unaliased_loops(module):
            changed |= _promote(loop)
        return changed


def _promote(loop: ir.Operation) -> bool:
    if not is_within_work_item(loop) or "unsignedCmp" in loop.attributes:
        return False
    cells = _cells(loop)
    if not cells:
        return False
    remark(loop, "what the loop adds to an element of an array is kept in a register until its end")
    stored = loop.regions[0].blocks[0].operations
    whole = {_cell(op.operation) for op in stored if op.operation.name == "memref.store"}
    with ir.InsertionPoint(loop), loop.location:
        owned = [_is_stored_before(cell, loop) for cell in cells]
        flags = [Flag(cell) for cell, own in zip(cells, owned, strict=True) if not own and cell not in whole]
        runs = None if len(flags) + sum(owned) == len(cells) else _runs(loop)
        starts = [
            _nothing(cell) if Flag(cell) in flags else _start(cell, loop, None if own else runs)
            for cell, own in zip(cells, owned, strict=True)
        ]
        starts += [constant(ir.IntegerType.get_signless(1), 0) for _ in flags]
    made = _carry(loop, [*cells, *flags], starts)
    results = list(made.results)[len(made.results) - len(starts) :]
    written = dict(zip(flags, results[len(cells) :], strict=True))
    with ir.InsertionPoint(_following(made)), made.location:
        for cell, own, result in zip(cells, owned, results, strict=False):
            memory, *indices = cell
            _store(result, memory, indices, None if own else written.get(Flag(cell), runs))
    return True


def _nothing(cell: Cell) -> ir.Value:
    """What stands for a cell that was not stored to."""
    return constant(ir.MemRefType(cell[0].type).element_type, 0)


def _runs(loop: ir.Operation) -> ir.Value:
    """Whether the loop has an iteration."""
    return arith.CmpIOp(arith.CmpIPredicate.slt, loop.operands[0], loop.operands[1]).result


def _store(value: ir.Value, memory: ir.Value, indices: list[ir.Value], condition: ir.Value | None) -> None:
    if condition is None:
        memref.StoreOp(value, memory, indices)
        return
    with When(condition):
        memref.StoreOp(value, memory, indices)


def is_within_work_item(loop: ir.Operation) -> bool:
    """Whether a loop is one of a work-item's own."""
    parent = loop.parent
    while parent is not None:
        if kern.ITEMS in parent.operation.attributes:
            return True
        parent = parent.operation.parent
    return False


# -- which cells ---------------------------------------------------------------------------------


def _cells(loop: ir.Operation) -> list[Cell]:
    """The cells that the loop can carry."""
    inside = find(loop, lambda op: True)
    stored = dict.fromkeys(op.operands[1] for op in inside if op.name == "memref.store")
    if not stored or not all(op.name.startswith(HARMLESS) for op in inside):
        return []
    found: list[Cell] = []
    for memory in stored:
        accesses = [op for op in inside if op.name in _AT and op.operands[_AT[op.name]] == memory]
        cells = list(dict.fromkeys(_cell(op) for op in accesses))
        fixed = not any(is_inside(index, loop) for cell in cells for index in cell)
        known = fixed and is_argument(memory) and has_one_name(memory) and _differ(cells)
        if known and all(_is_carried(cell, accesses, loop) for cell in cells):
            found += cells
    return found


def _cell(op: ir.Operation) -> Cell:
    return tuple(op.operands)[_AT[op.name] :]


def _differ(cells: list[Cell]) -> bool:
    """Whether any two cells are known to be two."""
    numbers = [[is_constant(index) for index in cell[1:]] for cell in cells]
    return all(
        any(a is not None and b is not None and a != b for a, b in zip(one, other, strict=True))
        for n, one in enumerate(numbers)
        for other in numbers[:n]
    )


def _is_carried(cell: Cell, accesses: list[ir.Operation], loop: ir.Operation) -> bool:
    """Whether the cell is stored to in the loop, by every iteration or before, and not within loops inside of it."""
    own = [op for op in accesses if _cell(op) == cell]
    stores = [op for op in own if op.name == "memref.store"]
    if not stores or not all(_stands_in_branches(op, loop) for op in own):
        return False
    if any(op.block == loop.regions[0].blocks[0] for op in stores) or _is_stored_before(cell, loop):
        return True
    return all(op.name == "memref.store" for op in accesses)


def _stands_in_branches(op: ir.Operation, loop: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None and parent.operation.name == "scf.if":
        parent = parent.operation.parent
    return parent is not None and parent.operation == loop


def _is_stored_before(cell: Cell, loop: ir.Operation) -> bool:
    """Whether this work-item has stored to the cell wherever it comes to the loop: then the cell is its own."""
    for use in cell[0].uses:
        op = use.owner.operation
        if op.name == "memref.store" and use.operand_number == 1 and _cell(op) == cell:
            around = ancestor_in(loop, op.block)
            if around is not None and around != op and op.is_before_in_block(around):
                return True
    return False


# -- the loop that carries them ------------------------------------------------------------------


def _start(cell: Cell, loop: ir.Operation, runs: ir.Value | None) -> ir.Value:
    """What the cell holds when the loop begins, where `runs` holds. A store of it that nobody sees is gone."""
    memory, *indices = cell
    if runs is None and (store := _last_store(cell, loop)) is not None:
        value = store.operands[0]
        store.erase()
        return value
    if runs is None:
        return memref.LoadOp(memory, indices).result
    element = ir.MemRefType(memory.type).element_type
    branch = scf.IfOp(runs, [element], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([memref.LoadOp(memory, indices).result])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([constant(element, 0)])
    return branch.results[0]


def _last_store(cell: Cell, loop: ir.Operation) -> ir.Operation | None:
    """The store in front of the loop, in its block, that was the last to touch the array."""
    before = []
    for op in (o.operation for o in loop.block.operations):
        if op == loop:
            break
        before.append(op)
    for op in reversed(before):
        if op.name == "memref.store" and _cell(op) == cell:
            return op
        if not op.name.startswith(HARMLESS) or any(
            touches(one, cell[0]) for one in [op, *find(op, lambda o: True)]
        ):
            return None
    return None


def touches(op: ir.Operation, memory: ir.Value) -> bool:
    """Whether the op reads or writes the array."""
    return op.name in _AT and op.operands[_AT[op.name]] == memory


def _carry(loop: ir.Operation, cells: list[Cell | Flag], starts: list[ir.Value]) -> ir.Operation:
    """The loop with the cells as further values that it carries."""
    with ir.InsertionPoint(loop), loop.location:
        results = [*(r.type for r in loop.results), *(v.type for v in starts)]
        made = remake(loop, [*loop.operands, *starts], results, regions=1)
    body = loop.regions[0].blocks[0]
    held = [body.add_argument(v.type, loop.location) for v in starts]
    ends = _through(body, dict(zip(cells, held, strict=True)))
    body.append_to(made.regions[0])
    end = terminator(body)
    with ir.InsertionPoint(end), end.location:
        scf.YieldOp([*end.operands, *(ends[cell] for cell in cells)])
    end.erase()
    for old, new in zip(loop.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()
    return made


def _through(block: ir.Block, known: Carried) -> Carried:
    """The block without accesses to the cells; what they hold at its end."""
    now = dict(known)
    for op in [o.operation for o in block.operations]:
        if op.name in _AT and _cell(op) in now:
            if op.results:
                op.results[0].replace_all_uses_with(now[_cell(op)])
            else:
                now[_cell(op)] = op.operands[0]
                if Flag(_cell(op)) in now:
                    with ir.InsertionPoint(op), op.location:
                        now[Flag(_cell(op))] = true()
            op.erase()
        elif op.name == "scf.if":
            now |= _through_branch(op, now)
    return now


def _through_branch(branch: ir.Operation, known: Carried) -> Carried:
    """A branch that gives the cells it stores to; what these hold behind it."""
    inside = find(branch, lambda op: op.name in _AT)
    stored = dict.fromkeys(cell for op in inside if (cell := _cell(op)) in known and not op.results)
    cells: list[Cell | Flag] = [*stored, *(flag for cell in stored if (flag := Flag(cell)) in known)]
    if not cells:
        for region in branch.regions:
            for block in region.blocks:
                _through(block, known)
        return {}
    with ir.InsertionPoint(branch), branch.location:
        results = [*(r.type for r in branch.results), *(known[cell].type for cell in cells)]
        made = remake(branch, list(branch.operands), results, regions=2)
    for old, new in zip(branch.regions, made.regions, strict=True):
        if not len(old.blocks):
            with ir.InsertionPoint(new.blocks.append()), branch.location:
                scf.YieldOp([known[cell] for cell in cells])
            continue
        ends = _through(old.blocks[0], known)
        old.blocks[0].append_to(new)
        end = terminator(new.blocks[0])
        with ir.InsertionPoint(end), end.location:
            scf.YieldOp([*end.operands, *(ends[cell] for cell in cells)])
        end.erase()
    for old, new in zip(branch.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    values = list(made.results)[len(made.results) - len(cells) :]
    branch.erase()
    return dict(zip(cells, values, strict=True))


def _following(op: ir.Operation) -> ir.Operation:
    operations = [o.operation for o in op.block.operations]
    return operations[next(n for n, one in enumerate(operations) if one == op) + 1]
