"""A function of scalars on a vector of neighbouring keys.

Comes in: the function, and its arguments, some of them vectors by now. Goes out: its result as a vector, at the
insertion point. What is the same for all keys stays a scalar until something needs it as a vector.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.ir.again import again
from pykern.passes.kernels import body, index_constant


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
        element = kind.element_type
        zero = (
            ir.FloatAttr.get(element, 0.0)
            if isinstance(element, ir.FloatType)
            else ir.IntegerAttr.get(element, 0)
        )
        nothing = arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, zero)).result
        return vector.MaskedLoadOp(kind, memory, at, self._mask(), nothing).result

    def _mask(self) -> ir.Value:
        left = arith.SubIOp(index_constant(self.length), self.first).result
        kind = ir.VectorType.get([self.count], ir.IntegerType.get_signless(1))
        return vector.CreateMaskOp(kind, [left]).result

    def within(self, value: ir.Value, beyond: float) -> ir.Value:
        """`value`, and `beyond` for what lies behind the last key."""
        if self.length % self.count == 0:
            return value
        kind = ir.VectorType(value.type)
        splat = ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(kind.element_type, beyond))
        return arith.SelectOp(self._mask(), value, arith.ConstantOp(kind, splat).result).result

    def run(self, function: ir.Operation, given: list[ir.Value], varying: int) -> ir.Value:
        """The function; argument number `varying` is the index of the key."""
        block = body(function)
        self.known = dict(zip(block.arguments, given, strict=True))
        key = list(block.arguments)[varying]
        if list(key.uses):
            kind = ir.VectorType.get([self.count], ir.IndexType.get())
            steps = vector.StepOp(kind).result
            self.known[key] = arith.AddIOp(vector.BroadcastOp(kind, self.first).result, steps).result
        *inside, end = [o.operation for o in block.operations]
        for op in inside:
            self.known[op.results[0]] = self._again(op)
        return self._wide(self.known[end.operands[0]])

    def _again(self, op: ir.Operation) -> ir.Value:
        operands = [self.known[v] for v in op.operands]
        if not any(isinstance(v.type, ir.VectorType) for v in operands):
            return again(op, operands, [op.results[0].type])
        kind = ir.VectorType.get([self.count], op.results[0].type)
        return again(op, [self._wide(v) for v in operands], [kind])

    def _wide(self, value: ir.Value) -> ir.Value:
        if isinstance(value.type, ir.VectorType):
            return value
        return vector.BroadcastOp(ir.VectorType.get([self.count], value.type), value).result
