"""Quotient and remainder of a loop's counter are carried from one iteration to the next, and no longer divided for.

Comes in: kernels with loops, after what becomes vectors has become so. Goes out: `k // w` and `k % w` in a loop over
`k` as two numbers that grow by the quotient and the remainder of the step, which are computed once. Read next:
`delinearise`, which takes loops of step 1 over work-items apart.

Why: an integer division takes as long as twenty additions, and neither LLVM nor the processor has vectors of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake
from pykern.passes.ir.effects import erase_dead
from pykern.passes.ir.floor_division import FloorDivision, floor_divisions
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.ir.values import is_argument, is_inside, made_by, parent_of
from pykern.passes.kernels import find, index_constant, is_constant, terminator
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class CarryDivisions(Pass):
    """Carry the quotient and the remainder of a loop's variable by a length.

    In:  kernels with `scf.for`.
    Out: floor divisions of a loop's variable by a length of an array are values that the loop carries; their starts and
         what is added to them are computed in front of the loop.
    """

    name: ClassVar[str] = "kern-carry-divisions"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.floordivsi", "arith.remsi")

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            found: dict[ir.Value, dict[ir.Value, list[FloorDivision]]] = {}
            for division in floor_divisions(kernel):
                if _is_of_counter(division):
                    by_length = found.setdefault(division.dividend, {})
                    by_length.setdefault(division.divisor, []).append(division)
            for by_length in found.values():
                for length, divisions in by_length.items():
                    _carry(parent_of(divisions[0].op), length, divisions)
                    changed = True
        return changed


def _is_of_counter(division: FloorDivision) -> bool:
    """Whether the variable of a loop is divided by a length, which is not negative, in each iteration."""
    counter, length = division.dividend, division.divisor
    if not is_argument(counter) or not isinstance(counter.type, ir.IndexType):
        return False
    loop = counter.owner.owner.operation
    if loop.name != "scf.for" or counter != counter.owner.arguments[0] or division.op.block != counter.owner:
        return False
    if "unsignedCmp" in loop.attributes or find(loop, lambda op: op.name == "scf.for" and op != loop):
        return False
    is_length = made_by(length, "memref.dim") is not None and division.never_traps
    return is_length and hoist(length, loop) and not is_inside(loop.operands[2], loop)


def _carry(loop: ir.Operation, length: ir.Value, divisions: list[FloorDivision]) -> None:
    remark(loop, "quotient and remainder of the loop's variable are carried: no iteration divides")
    lower, step = loop.operands[0], loop.operands[2]
    with ir.InsertionPoint(loop), loop.location:
        is_empty = arith.CmpIOp(arith.CmpIPredicate.eq, length, index_constant(0)).result
        safe = arith.SelectOp(is_empty, index_constant(1), length).result
        starts, steps = _divided(lower, safe), _divided(step, safe)
        kinds = [*(r.type for r in loop.results), *(v.type for v in starts)]
        made = remake(loop, [*loop.operands, *starts], kinds, regions=1)
    body = loop.regions[0].blocks[0]
    quotient, rest = (body.add_argument(v.type, loop.location) for v in starts)
    body.append_to(made.regions[0])
    for division in divisions:
        with ir.InsertionPoint(division.op), division.op.location:
            value = rest if division.is_remainder else quotient
            known = arith.SelectOp(is_empty, index_constant(0), value).result
        division.op.results[0].replace_all_uses_with(known)
    end = terminator(body)
    with ir.InsertionPoint(end), loop.location:
        moved = arith.AddIOp(rest, steps[1]).result
        is_over = arith.CmpIOp(arith.CmpIPredicate.sge, moved, safe).result
        less = arith.SelectOp(is_over, arith.SubIOp(moved, safe).result, moved).result
        more = arith.AddIOp(quotient, steps[0]).result
        grown = arith.SelectOp(is_over, arith.AddIOp(more, index_constant(1)).result, more).result
        scf.YieldOp([*end.operands, grown, less])
    end.erase()
    for old, new in zip(loop.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()
    erase_dead(made.regions[0].blocks[0])


def _divided(value: ir.Value, length: ir.Value) -> list[ir.Value]:
    """Quotient and remainder, rounded downwards, by a positive number."""
    if is_constant(value) == 0:
        return [index_constant(0), index_constant(0)]
    quotient = arith.FloorDivSIOp(value, length).result
    return [quotient, arith.SubIOp(value, arith.MulIOp(quotient, length).result).result]
