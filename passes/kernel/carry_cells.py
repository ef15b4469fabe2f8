"""What an iteration stores and the next one reads waits in a register: `o[j] = o[j - 1] + x[j]` is a running sum.

Comes in: a kernel as loops over work-items. Goes out: loops that carry the cell that was stored last, and store it too.
Read next: `promote_cells`, which does so with cells that stay the same.

Why: through memory each iteration waits for the store before it, and neither lanes nor LLVM see what is carried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant
from pykern.passes.ir.index_arithmetic import Affine, affine_of, materialise
from pykern.passes.ir.memory import has_one_name
from pykern.passes.ir.values import is_argument
from pykern.passes.kernel.promote_cells import HARMLESS, is_within_work_item, touches
from pykern.passes.kernels import find, is_constant, replace, terminator, unaliased_loops
from pykern.passes.remarks import remark

Place = tuple[Affine, ...]
"""The indices of an access, as sums of the loop's variable and what does not change."""


@dataclass(frozen=True)
class CarryCells(Pass):
    """Keep in values what one iteration of a work-item's loop stores for the next.

    In:  kernels as loops over work-items, marked `kern.noalias`.
    Out: where each iteration of a loop stores to an array once, one place on along one dimension from the iteration
         before, loads of the place before are of what that iteration stored, which the loop carries in the type of the
         array. The first one is read in front of the loop, if it runs at all.
    """

    name: ClassVar[str] = "kern-carry-cells"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("memref.store",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for loop in unaliased_loops(module):
            changed |= _loop(loop)
        return changed


def _loop(loop: ir.Operation) -> bool:
    if (
        "unsignedCmp" in loop.attributes
        or is_constant(loop.operands[2]) != 1
        or not is_within_work_item(loop)
    ):
        return False
    stores = [o.operation for o in loop.regions[0].blocks[0].operations if o.operation.name == "memref.store"]
    for store in stores:
        loads = _of_the_iteration_before(store, loop)
        if loads:
            _carry(loop, store, loads)
            return True
    return False


def _of_the_iteration_before(store: ir.Operation, loop: ir.Operation) -> list[ir.Operation]:
    """The loads of the loop that read what this store wrote one iteration before."""
    memory = store.operands[1]
    inside = find(loop, lambda op: True)
    if not all(op.name.startswith(HARMLESS) for op in inside):
        return []
    if not is_argument(memory) or not has_one_name(memory):
        return []
    if any(op.name == "memref.store" and op != store and op.operands[1] == memory for op in inside):
        return []
    place = _place(list(store.operands)[2:], loop)
    if place is None or [abs(form.coefficient) for form in place if form.coefficient] != [1]:
        return []
    before = tuple(form - Affine(constant=form.coefficient) for form in place)
    loads = [op for op in inside if op.name == "memref.load" and op.operands[0] == memory]
    return [op for op in loads if _place(list(op.operands)[1:], loop) == before]


def _place(indices: list[ir.Value], loop: ir.Operation) -> Place | None:
    forms = [affine_of(index, loop) for index in indices]
    return None if any(form is None for form in forms) else tuple(form for form in forms if form is not None)


def _carry(loop: ir.Operation, store: ir.Operation, loads: list[ir.Operation]) -> None:
    remark(store, "what an iteration stores is kept in a register for the next one")
    memory, kind = store.operands[1], store.operands[0].type
    place = _place(list(loads[0].operands)[1:], loop)
    assert place is not None
    with ir.InsertionPoint(loop), loop.location:
        first = _stored(memory, place, loop)
        start = first if first is not None else _read(memory, place, loop, kind)
        made = remake(loop, [*loop.operands, start], [*(r.type for r in loop.results), kind], regions=1)
    body = loop.regions[0].blocks[0]
    held = body.add_argument(kind, loop.location)
    for load in loads:
        replace(load, [held])
    body.append_to(made.regions[0])
    end = terminator(body)
    with ir.InsertionPoint(end), end.location:
        scf.YieldOp([*end.operands, store.operands[0]])
    end.erase()
    for old, new in zip(loop.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()


def _stored(memory: ir.Value, place: Place, loop: ir.Operation) -> ir.Value | None:
    """What was last stored in front of the loop to the place that its first iteration reads, if that is known."""
    lower = is_constant(loop.operands[0])
    if lower is None:
        return None
    wanted = tuple(Affine(0, form.terms, form.constant + form.coefficient * lower) for form in place)
    ops = [o.operation for o in loop.block.operations]
    for op in reversed(ops[: next(n for n, one in enumerate(ops) if one == loop)]):
        if op.name == "memref.store" and op.operands[1] == memory:
            found = tuple(_invariant(index) for index in list(op.operands)[2:])
            return op.operands[0] if found == wanted else None
        if not op.name.startswith(HARMLESS) or any(
            one.name == "memref.store" and touches(one, memory) for one in find(op, lambda o: True)
        ):
            return None
    return None


def _invariant(index: ir.Value) -> Affine:
    number = is_constant(index)
    return Affine(terms=((1, index),)) if number is None else Affine(constant=number)


def _read(memory: ir.Value, place: Place, loop: ir.Operation, kind: ir.Type) -> ir.Value:
    """What the first iteration reads; anything where there is none."""
    lower, upper = list(loop.operands)[:2]
    runs = arith.CmpIOp(arith.CmpIPredicate.slt, lower, upper).result
    branch = scf.IfOp(runs, [kind], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        indices = []
        for form in place:
            index = materialise(Affine(0, form.terms, form.constant))
            if form.coefficient:
                grow = arith.AddIOp if form.coefficient > 0 else arith.SubIOp
                index = grow(index, lower).result
            indices.append(index)
        scf.YieldOp([memref.LoadOp(memory, indices).result])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([constant(kind, 0)])
    return branch.results[0]
