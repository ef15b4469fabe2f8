"""A function of scalars on a vector of neighbouring keys.

Comes in: the function, and its arguments, some of them vectors by now. Goes out: its result as a vector, at the
insertion point. How arithmetic becomes vectors is in `vectorize.lanes`; here is how keys are read, and what stands for
those beyond the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import body, index_constant
from pykern.passes.vectorize.lanes import LaneEmitter


@dataclass
class KeyLanes:
    """`count` keys from `first` on, of `length` in all."""

    count: int
    first: ir.Value
    length: int

    def load(self, memory: ir.Value, at: list[ir.Value], along: bool) -> ir.Value:
        """A vector where the last index is the key, else the one element."""
        if not along:
            return memref.LoadOp(memory, at).result
        kind = ir.VectorType.get([self.count], ir.MemRefType(memory.type).element_type)
        if self.length % self.count == 0:
            return vector.LoadOp(kind, memory, at).result
        return vector.MaskedLoadOp(kind, memory, at, self._mask(), constant(kind, 0)).result

    def _mask(self) -> ir.Value:
        left = arith.SubIOp(index_constant(self.length), self.first).result
        kind = ir.VectorType.get([self.count], ir.IntegerType.get_signless(1))
        return vector.CreateMaskOp(kind, [left]).result

    def within(self, value: ir.Value, beyond: float) -> ir.Value:
        """`value`, and `beyond` for what lies behind the last key."""
        if self.length % self.count == 0:
            return value
        return arith.SelectOp(self._mask(), value, constant(value.type, beyond)).result

    def run(self, function: ir.Operation, given: list[ir.Value], key: int) -> ir.Value:
        """The function's result; argument number `key` is the index of the key, one more in each next lane."""
        block, emitter = body(function), LaneEmitter(self.count)
        emitter.give(dict(zip(block.arguments, given, strict=True)))
        emitter.keep(block.arguments[key], self.first, 1)
        return emitter.evaluated(terminator_operands(block)[0])
