"""Loops in which work-items go through an array in strides of the launch run over neighbours first.

Comes in: work-items as loops. Goes out: `while k < n: ...; k += pk.ndrange()` of all work-items, or of those of a
group, which go through memory one after the other in large steps, as a loop over these steps with one over neighbours
in it. Read next: `count_loops`, which makes `for` of such a loop, and `carry_divisions`.

Why: on a GPU, neighbouring work-items run at once, so that strides of the launch read neighbours; one after the other
each of them comes to every line of memory anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone
from pykern.passes.ir.effects import erase_dead, is_speculatable
from pykern.passes.ir.index_arithmetic import affine_of, hoist
from pykern.passes.kernels import find, is_constant
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class InterchangeStrides(Pass):
    """Let work-items take each step of a strided loop together.

    In:  kernels whose loops over the work-items of a group are marked `kern.group_items`, and the innermost loop over
         those of the launch, where there are no groups, `kern.items`.
    Out: no `kern.group_items` but on loops over neighbours. Where such a loop has nothing in it but a loop that begins
         at the work-item's number plus something, carries nothing, and goes in steps that are the same for all: a loop
         over steps around one over work-items. Each work-item runs its iterations in their order; work-items have none.
    """

    name: ClassVar[str] = "kern-interchange-strides"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for items in find(kernel, lambda op: op.name == "scf.for" and _mark(op) is not None):
                mark = _mark(items)
                if mark == kern.GROUP_ITEMS:
                    del items.attributes[kern.GROUP_ITEMS]
                    changed = True
                loop = _only_loop(items)
                has_order = kern.SEQUENTIAL in kernel.attributes
                if mark is not None and loop is not None and not has_order and _is_strided(loop, items):
                    remark(
                        loop, "the loop goes in steps of the launch: work-items take each of them together"
                    )
                    _interchange(items, loop, mark)
                    changed = True
        return changed


def _mark(loop: ir.Operation) -> str | None:
    """What says of a loop that it runs over neighbouring work-items."""
    return next((mark for mark in (kern.GROUP_ITEMS, kern.ITEMS) if mark in loop.attributes), None)


def _only_loop(items: ir.Operation) -> ir.Operation | None:
    """The loop that is all a work-item does, but for numbers that it is given."""
    *before, last = [o.operation for o in items.regions[0].blocks[0].operations][:-1] or [items]
    is_alone = last.name == "scf.for" and not last.results and not items.results
    return last if is_alone and all(is_speculatable(op) for op in before) else None


def _is_strided(loop: ir.Operation, items: ir.Operation) -> bool:
    lower, upper, step = list(loop.operands)[:3]
    first = affine_of(lower, items)
    return (
        first is not None
        and first.coefficient == 1
        and is_constant(step) is None
        and "unsignedCmp" not in loop.attributes
        and hoist(upper, items)
        and hoist(step, items)
    )


def _interchange(items: ir.Operation, loop: ir.Operation, mark: str) -> None:
    """Write the loop over steps around one over what was the variable of `loop`, from which the work-item follows."""
    begin, end = list(items.operands)[:2]
    variable, item = loop.opview.induction_variable, items.opview.induction_variable
    inside = [o.operation for o in items.regions[0].blocks[0].operations][:-2]
    known: dict[ir.Value, ir.Value] = {item: begin}
    with ir.InsertionPoint(items), loop.location:
        for op in inside:  # the first work-item's numbers
            copy = clone(op, lambda value: known.get(value, value))
            known.update(zip(op.results, copy.results, strict=True))
        first = known.get(loop.operands[0], loop.operands[0])
        count = arith.SubIOp(end, begin).result
        steps = scf.ForOp(first, loop.operands[1], loop.operands[2])
        with ir.InsertionPoint(steps.body):
            start = steps.induction_variable
            last = arith.MinSIOp(arith.AddIOp(start, count).result, loop.operands[1]).result
            one = arith.ConstantOp(ir.IndexType.get(), 1).result
            neighbours = scf.ForOp(start, last, one)
            scf.YieldOp([])
    neighbours.operation.attributes[mark] = ir.UnitAttr.get()
    with ir.InsertionPoint(neighbours.body), loop.location:
        place = neighbours.induction_variable
        own = arith.AddIOp(begin, arith.SubIOp(place, start).result).result
        end_of_body = scf.YieldOp([]).operation
    for op in [*inside, *[o.operation for o in loop.regions[0].blocks[0].operations][:-1]]:
        op.move_before(end_of_body)
    item.replace_all_uses_with(own)
    variable.replace_all_uses_with(place)
    items.erase()
    erase_dead(neighbours.body)
