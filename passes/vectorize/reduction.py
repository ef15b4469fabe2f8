"""One value that a loop carries from iteration to iteration, in the lanes of a vector.

Comes in: the op that joins what is carried with what an iteration adds. Goes out: how lanes begin, go on, and are put
together. A maximum that keeps NaN is two vectors: the plain maximum, and the lanes that met a NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, vector

from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import is_argument
from pykern.passes.vectorize.body import VectorBody

EXTREMES = {
    "arith.maximumf": (arith.CmpFPredicate.OGT, float("-inf")),
    "arith.minimumf": (arith.CmpFPredicate.OLT, float("inf")),
}
SUMS = {"arith.addf": -0.0, "arith.mulf": 1.0}
KINDS = {"arith.maximumf": "maximumf", "arith.minimumf": "minimumf", "arith.addf": "add", "arith.mulf": "mul"}


@dataclass(frozen=True)
class Joined:
    """What lanes come to at the end of a loop: values by their place among those that the loop carries."""

    values: dict[int, ir.Value]
    doubts: tuple[ir.Value, ...] = ()
    """Where one of them is true, lanes do not know, and the loop has to run as it was."""


@dataclass(frozen=True)
class Reduction:
    """`op` joins what the loop carries at `place` with `added`."""

    op: ir.Operation
    added: ir.Value
    place: int

    runs_twice: ClassVar[bool] = False

    @property
    def is_extreme(self) -> bool:
        return self.op.name in EXTREMES

    @property
    def element(self) -> ir.FloatType:
        return ir.FloatType(self.op.results[0].type)

    @property
    def bits(self) -> ir.IntegerType:
        return ir.IntegerType.get_signless(self.element.width)

    def begin(self, lanes: int, first: Sequence[ir.Value]) -> list[ir.Value]:
        """What lanes begin with; the loop begins with the values `first`."""
        neutral = EXTREMES[self.op.name][1] if self.is_extreme else SUMS[self.op.name]
        values = [constant(ir.VectorType.get([lanes], self.element), neutral)]
        if self.is_extreme:
            values.append(constant(ir.VectorType.get([lanes], self.bits), 0))
        return values

    def step(self, held: Iterator[ir.Value], body: VectorBody) -> list[ir.Value]:
        """The value that the loop carries to its next iteration."""
        before, added = next(held), body.evaluated(self.added)
        if not self.is_extreme:
            return [remake(self.op, [before, added], [before.type]).result]
        better = arith.CmpFOp(EXTREMES[self.op.name][0], added, before).result
        is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, added, added).result
        met = next(held)
        now = arith.OrIOp(met, arith.ExtSIOp(met.type, is_nan).result).result
        return [arith.SelectOp(better, added, before).result, now]

    def finish(self, found: Iterator[ir.Value], first: Sequence[ir.Value]) -> Joined:
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
        return Joined({self.place: remake(self.op, [first[self.place], total], [self.element]).result})


def reduction_of(loop: ir.Operation, place: int) -> Reduction | None:
    """The value that the loop carries at `place`; None where it is something else or keeps its order."""
    block = loop.regions[0].blocks[0]
    held, value = block.arguments[1 + place], block.operations[len(block.operations) - 1].operands[place]
    if is_argument(value) or not isinstance(value.type, ir.F32Type | ir.F64Type):
        return None
    op = value.owner.operation
    uses = [use.owner.operation for use in held.uses]
    if op.name not in KINDS or uses != [op] or len(list(value.uses)) != 1 or op.parent != held.owner.owner:
        return None
    if op.name in SUMS and not _may_reorder(op):
        return None
    left, right = op.operands
    return Reduction(op, right if left == held else left, place)


def _may_reorder(op: ir.Operation) -> bool:
    flags = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else ""
    return "reassoc" in flags or "fast>" in flags
