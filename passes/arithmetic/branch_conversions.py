"""A float that becomes an index is tested once for lying in the range of the integer, instead of three times.

Comes in: a conversion of a scalar that saturates, three comparisons and choices behind an `arith.fptosi`. Goes out: a
branch on one comparison, with what saturates on its other side.

Why: numbers that become indices hardly ever lie beyond 2^63, so the branch is predicted, and the conversion is one
instruction. In vectors choices are as well; so this is for indices of what is written, or of 64 bits, of which few
processors make vectors. Read next: `frontend.casts`, which makes conversions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, math, scf

from pykern.passes.analysis.cost_model.operations import INDEX_STEPS
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import named, replace

_LOOPS = ("scf.for", "scf.while", "scf.parallel")
_CARRIES = ("arith.index_cast", "arith.extsi", "arith.addi", "arith.subi", "arith.muli", "arith.minsi", "arith.maxsi",
            "arith.andi", "arith.select")  # fmt: skip
"""Ops through which an index is made of the number."""
_FIRST_WRITTEN = {"memref.store": 2, "memref.atomic_rmw": 2, "memref.generic_atomic_rmw": 1}
"""Ops that write, and which of their operands is the first index."""


@dataclass(frozen=True)
class BranchConversions(Pass):
    """Convert floats that become indices in a branch that is nearly always taken.

    In:  arith.fptosi of scalars in loops, with choices of the least, the greatest and of 0 behind it.
    Out: where the result, of 64 bits, is part of an index, or, of 32 bits, of an index of what is written: an scf.if
         whether the number lies within the range, with the conversion alone on one side and the choices on the other.
    """

    name: ClassVar[str] = "kern-branch-conversions"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.fptosi",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for op in named(module.operation, "arith.fptosi"):
            last = _last_choice(op)
            if last is not None and _is_in_loop(op) and _becomes_index(last, writes=_bits(op) < 64):
                _branch(op, last)
                changed = True
        return changed


def _bits(op: ir.Operation) -> int:
    return ir.IntegerType(op.results[0].type).width


def _last_choice(op: ir.Operation) -> ir.Operation | None:
    """The choice that gives what the conversion saturates to, if all three are there and nothing else reads between."""
    kind = op.results[0].type
    if not isinstance(kind, ir.IntegerType) or kind.width not in (32, 64):
        return None
    last, tests = op, []
    while len(tests) < 3:
        users = [use.owner.operation for use in last.results[0].uses]
        if len(users) != 1 or users[0].name != "arith.select" or users[0].block != op.block:
            return None
        compared = made_by(users[0].operands[0], "arith.cmpf")
        if (
            compared is None
            or compared.operands[0] != op.operands[0]
            or users[0].operands[2] != last.results[0]
        ):
            return None
        tests.append(ir.IntegerAttr(compared.attributes["predicate"]).value)
        last = users[0]
    wanted = (arith.CmpFPredicate.OGE, arith.CmpFPredicate.OLE, arith.CmpFPredicate.UNO)
    return last if tests == [int(each) for each in wanted] else None


def _is_in_loop(op: ir.Operation) -> bool:
    while (parent := op.parent) is not None and parent.operation.name != "func.func":
        op = parent.operation
        if op.name in _LOOPS:
            return True
    return False


def _becomes_index(op: ir.Operation, writes: bool) -> bool:
    """Whether memory is read or written at an index that is made of the op's result."""
    first_index = _FIRST_WRITTEN if writes else {"memref.load": 1, **_FIRST_WRITTEN}
    waiting = [(op.results[0], 0)]
    while waiting:
        value, steps = waiting.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name in _CARRIES and steps < INDEX_STEPS:
                waiting.append((user.results[0], steps + 1))
            elif use.operand_number >= first_index.get(user.name, len(user.operands)):
                return True
    return False


def _branch(op: ir.Operation, last: ir.Operation) -> None:
    number, kind = op.operands[0], op.results[0].type
    high = (1 << _bits(op) - 1) - 1
    with ir.InsertionPoint(last), op.location:
        below = arith.CmpFOp(
            arith.CmpFPredicate.OLT, math.AbsFOp(number).result, constant(number.type, float(high + 1))
        )
        branch = scf.IfOp(below.result, [kind], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([arith.FPToSIOp(kind, number).result])
        with ir.InsertionPoint(branch.else_block):
            zero = constant(number.type, 0.0)
            is_high = arith.CmpFOp(arith.CmpFPredicate.OGT, number, zero).result
            end = arith.SelectOp(is_high, constant(kind, high), constant(kind, -high - 1)).result
            is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, number, number).result
            scf.YieldOp([arith.SelectOp(is_nan, constant(kind, 0), end).result])
        replace(last, [branch.results[0]])
