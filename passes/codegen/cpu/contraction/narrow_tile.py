"""A register tile of narrow factors: each instruction multiplies pairs or quads of terms and sums them into lanes.

Comes in: a linalg.generic marked `kern.tile` and `kern.dot`, whose last dimension are the terms of a group. Goes out:
what `register_tile` makes, with the instruction in place of multiply-adds.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, vector

from pykern.dialect import attributes as kern
from pykern.passes.codegen.cpu.contraction.narrow import LIFT
from pykern.passes.codegen.cpu.contraction.register_tile import Loaded, Tile
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number

GROUP_BITS = 32


class NarrowTile(Tile):
    """One op in the making."""

    def __init__(self, op: ir.Operation) -> None:
        super().__init__(op)
        self.group = self.lengths[self.terms.pop()]
        found = ir.DictAttr(op.attributes[kern.DOT])
        self.intrinsic = ir.StringAttr(found["intrinsic"]).value
        self.adds = ir.BoolAttr(found["adds"]).value
        self.swapped = ir.IntegerAttr(found["first"]).value == 1
        self.lifted = ir.BoolAttr(found["lifted"]).value

    def _sums(self, begin: list[ir.Value]) -> list[ir.Value]:
        """Where the left factor is lifted, sums of the right one's columns go along, and are taken off."""
        if not self.lifted:
            return super()._sums(begin)
        i8 = ir.IntegerType.get_signless(8)
        lanes = ir.VectorType.get([self.width * self.group], i8)
        lift = ir.DenseElementsAttr.get_splat(lanes, ir.IntegerAttr.get(i8, LIFT - 256))
        self.lift = arith.ConstantOp(lanes, lift).result
        count = len(self.vectors)
        sums = super()._sums([*begin, *[constant(self.kind, 0)] * count])
        columns = sums[-count:]
        return [arith.SubIOp(each, columns[n % count]).result for n, each in enumerate(sums[:-count])]

    def _step(
        self, at: dict[int, Number], sums: list[ir.Value], loaded: Loaded | None = None
    ) -> list[ir.Value]:
        if not self.lifted:
            return super()._step(at, sums)
        loaded, count = {}, len(self.vectors)
        made = super()._step(at, sums[:-count], loaded)
        for (lane, there), held in zip(self.vectors, sums[-count:], strict=True):
            made.append(self._multiply_add(self.lift, self._factor(1, 0, lane, there, at, loaded), held))
        return made

    def _multiply_add(self, a: ir.Value, b: ir.Value, held: ir.Value) -> ir.Value:
        pair = [b, a] if self.swapped else [a, b]
        if self.adds:
            return self._call([held, *pair])
        return arith.AddIOp(held, self._call(pair)).result

    def _call(self, arguments: list[ir.Value]) -> ir.Value:
        return ir.Operation.create(
            "llvm.call_intrinsic",
            [self.kind],
            arguments,
            attributes={
                "intrin": ir.StringAttr.get(self.intrinsic),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(arguments), 0]),
                "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            },
        ).results[0]

    def _factor(
        self, operand: int, row: int, lane: int, count: int, at: dict[int, Number], loaded: Loaded
    ) -> ir.Value:
        """Groups of a factor's terms: one for each lane, or one in all lanes."""
        access = self.accesses[operand]
        has_row, has_lane = self.row in access.dimensions, self.lane in access.dimensions
        key = (operand, row if has_row else -1, lane if has_lane else -1)
        if key not in loaded:
            source, place = self.place(operand, row, lane, at)
            element = ir.MemRefType(source.type).element_type
            lanes = ir.VectorType.get([self.width * self.group], element)
            if has_lane:  # padded: a whole vector is there
                loaded[key] = vector.LoadOp(lanes, source, place).result
            else:
                few = vector.LoadOp(ir.VectorType.get([self.group], element), source, place).result
                bits = ir.IntegerType.get_signless(GROUP_BITS)
                one = vector.BitCastOp(ir.VectorType.get([1], bits), few).result
                # of an element: that of a vector is not LLVM's one to one
                element = vector.ExtractOp(one, [], [0]).result
                many = vector.BroadcastOp(ir.VectorType.get([self.width], bits), element).result
                loaded[key] = vector.BitCastOp(lanes, many).result
        return loaded[key]
