"""One value that a loop carries from iteration to iteration, in the lanes of a vector.

Comes in: the op that joins what is carried with what an iteration adds. Goes out: how lanes begin, go on, and are put
together. A maximum that keeps NaN is two vectors: the plain maximum, and the lanes that met a NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import is_argument

EXTREMES = {
    "arith.maximumf": (arith.CmpFPredicate.OGT, float("-inf")),
    "arith.minimumf": (arith.CmpFPredicate.OLT, float("inf")),
}
SUMS = {"arith.addf": -0.0, "arith.mulf": 1.0}
KINDS = {"arith.maximumf": "maximumf", "arith.minimumf": "minimumf", "arith.addf": "add", "arith.mulf": "mul"}


@dataclass(frozen=True)
class Reduction:
    """`op` joins what the loop carries with `added`."""

    op: ir.Operation
    added: ir.Value

    @property
    def is_extreme(self) -> bool:
        return self.op.name in EXTREMES

    @property
    def element(self) -> ir.FloatType:
        return ir.FloatType(self.op.results[0].type)

    @property
    def bits(self) -> ir.IntegerType:
        return ir.IntegerType.get_signless(self.element.width)

    def begin(self, lanes: int) -> list[ir.Value]:
        neutral = EXTREMES[self.op.name][1] if self.is_extreme else SUMS[self.op.name]
        values = [constant(ir.VectorType.get([lanes], self.element), neutral)]
        if self.is_extreme:
            values.append(constant(ir.VectorType.get([lanes], self.bits), 0))
        return values

    def step(self, held: Iterator[ir.Value], added: ir.Value) -> list[ir.Value]:
        """The value that the loop carries to its next iteration."""
        before = next(held)
        if not self.is_extreme:
            return [remake(self.op, [before, added], [before.type]).result]
        better = arith.CmpFOp(EXTREMES[self.op.name][0], added, before).result
        is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, added, added).result
        met = next(held)
        now = arith.OrIOp(met, arith.ExtSIOp(met.type, is_nan).result).result
        return [arith.SelectOp(better, added, before).result, now]

    def finish(self, found: Iterator[ir.Value], first: ir.Value) -> ir.Value:
        """The lanes together, and what the loop began with."""
        quick = "#arith.fastmath<nnan,nsz>" if self.is_extreme else "#arith.fastmath<reassoc>"
        kind = ir.Attribute.parse(f"#vector.kind<{KINDS[self.op.name]}>")
        flags = ir.Attribute.parse(quick)
        total = vector.ReductionOp(self.element, kind, next(found), fastmath=flags).result
        if self.is_extreme:
            any_nan = vector.ReductionOp(
                self.bits, ir.Attribute.parse("#vector.kind<or>"), next(found)
            ).result
            zero = constant(self.bits, 0)
            nan = constant(self.element, float("nan"))
            met = arith.CmpIOp(arith.CmpIPredicate.ne, any_nan, zero).result
            total = arith.SelectOp(met, nan, total).result
        return remake(self.op, [first, total], [self.element]).result


def reductions_of(loop: ir.Operation) -> list[Reduction]:
    """One for each value the loop carries; none where one of them is something else or keeps its order."""
    block = loop.regions[0].blocks[0]
    results = list(list(block.operations)[-1].operation.operands)
    found = [_reduction(v, held) for v, held in zip(results, list(block.arguments)[1:], strict=True)]
    if any(each is None for each in found):
        return []
    return [each for each in found if each is not None]


def _reduction(value: ir.Value, held: ir.Value) -> Reduction | None:
    if is_argument(value) or not isinstance(value.type, ir.F32Type | ir.F64Type):
        return None
    op = value.owner.operation
    uses = [use.owner.operation for use in held.uses]
    if op.name not in KINDS or uses != [op] or len(list(value.uses)) != 1 or op.parent != held.owner.owner:
        return None
    if op.name in SUMS and not _may_reorder(op):
        return None
    left, right = op.operands
    return Reduction(op, right if left == held else left)


def _may_reorder(op: ir.Operation) -> bool:
    flags = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else ""
    return "reassoc" in flags or "fast>" in flags
