"""Work-items that are left over at the end, in lanes as well.

Comes in: the loop over work-items, with what is left for it, and its `Lanes`. Goes out: a loop over narrower vectors in
its place, with masks: lanes behind the last work-item read and write nothing; or one in front of it. Read next: `emit`.

Why: up to a whole vector less one work-items are left, of 31 columns all of them, and one by one each goes through
memory across its rows. Masks are quick with AVX-512 alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.passes.analysis.cost_model.lengths import FEWEST_MASKED
from pykern.passes.ir.loops import When, leave_alone
from pykern.passes.kernels import find, index_constant
from pykern.passes.vectorize.items.emit import ItemEmitter
from pykern.passes.vectorize.items.lanes import MEMORY_AT, Lanes


@dataclass
class MaskedEmitter(ItemEmitter):
    """The body for the first `left` lanes; lane 0 is always one of them. Others compute what nobody sees."""

    left: ir.Value = field(kw_only=True)
    """How many lanes there are, an index; it may be more than the vector has."""
    mask: ir.Value = field(kw_only=True)

    def mask_now(self) -> ir.Value:
        return self.mask if self.active is None else arith.AndIOp(self.mask, self.active).result

    def _store_lane(self, value: ir.Value, place: tuple[ir.Value, list[ir.Value]], n: int) -> None:
        is_there = arith.CmpIOp(arith.CmpIPredicate.slt, index_constant(n), self.left).result
        with When(is_there):
            memref.StoreOp(value, *place)

    def lane(self, value: ir.Value, number: int) -> ir.Value:
        """The number of one lane; of a lane that is not there that of one which is: indices stay within arrays."""
        stride = self.stride(value)
        if not number or stride == 0:
            return super().lane(value, number)
        is_there = arith.CmpIOp(arith.CmpIPredicate.slt, index_constant(number), self.left).result
        return arith.SelectOp(is_there, super().lane(value, number), super().lane(value, 0)).result


def has_narrow_form(lanes: Lanes) -> bool:
    """Whether each op can leave lanes out: tapes and sums over lanes cannot, nor can truth values in memory."""
    if any(op.name.startswith("kern.") for op in lanes.ops):
        return False
    kinds = (
        ir.MemRefType(op.operands[MEMORY_AT[op.name]].type).element_type
        for op in lanes.ops
        if op.name in MEMORY_AT
    )
    return not any(isinstance(kind, ir.IndexType) or kind.width == 1 for kind in kinds)


def emit_vectors(lanes: Lanes, private: dict[ir.Value, ir.Value], width: int) -> None:
    """Put a loop over vectors of another width in front of the loop over work-items."""
    loop = lanes.loop
    lower, upper = list(loop.operands)[:2]
    with ir.InsertionPoint(loop), loop.location:
        rest = arith.RemUIOp(arith.SubIOp(upper, lower).result, index_constant(width)).result
        middle = arith.SubIOp(upper, rest).result
        vectors = scf.ForOp(lower, middle, index_constant(width))
        with ir.InsertionPoint(vectors.body):
            emitter = ItemEmitter(width, lanes=lanes, private=private, rows={}, tables={})
            emitter.keep(loop.regions[0].blocks[0].arguments[0], vectors.induction_variable, 1)
            emitter.block(loop.regions[0].blocks[0])
            scf.YieldOp([])
    _leave_alone(vectors.operation)
    loop.operands[0] = middle


def emit_masked(lanes: Lanes, private: dict[ir.Value, ir.Value], width: int) -> None:
    """Put a loop over masked vectors in front of the loop over work-items, which keeps those of a last vector that
    would be all but empty: for them a whole vector costs more than they do one by one."""
    loop = lanes.loop
    lower, upper = list(loop.operands)[:2]
    with ir.InsertionPoint(loop), loop.location:
        last = arith.RemUIOp(arith.SubIOp(upper, lower).result, index_constant(width)).result
        few = arith.CmpIOp(arith.CmpIPredicate.slt, last, index_constant(FEWEST_MASKED)).result
        end = arith.SelectOp(few, arith.SubIOp(upper, last).result, upper).result
        vectors = scf.ForOp(lower, end, index_constant(width))
        with ir.InsertionPoint(vectors.body):
            left = arith.SubIOp(upper, vectors.induction_variable).result
            emitter = MaskedEmitter(
                width,
                lanes=lanes,
                private=private,
                rows={},
                tables={},
                left=left,
                mask=_first_lanes(left, width),
            )
            emitter.keep(loop.regions[0].blocks[0].arguments[0], vectors.induction_variable, 1)
            emitter.block(loop.regions[0].blocks[0])
            scf.YieldOp([])
    _leave_alone(vectors.operation)
    loop.operands[0] = end


def _leave_alone(vectors: ir.Operation) -> None:
    """What runs once or twice is not to be unrolled."""
    for op in [vectors, *find(vectors, lambda op: op.name == "scf.for")]:
        leave_alone(op)


def _first_lanes(count: ir.Value, width: int) -> ir.Value:
    """A mask of the first `count` lanes, or of all where there are not so many."""
    i32 = ir.IntegerType.get_signless(32)
    kind = ir.VectorType.get([width], i32)
    numbers: list[ir.Attribute] = [ir.IntegerAttr.get(i32, n) for n in range(width)]
    lanes = arith.ConstantOp(kind, ir.DenseElementsAttr.get(numbers, kind)).result
    few = arith.IndexCastOp(i32, arith.MinSIOp(count, index_constant(width)).result).result
    return arith.CmpIOp(arith.CmpIPredicate.slt, lanes, vector.BroadcastOp(kind, few).result).result
