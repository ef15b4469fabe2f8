"""One iteration of a loop, written for W iterations at once.

Comes in: the loop and its `Accesses`. Goes out: the same ops on `vector<W x ...>`, at the insertion point.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.vectorize.accesses import Access, Accesses
from pykern.passes.vectorize.again import again, recompute
from pykern.passes.vectorize.effects import is_inside, owner


@dataclass
class VectorBody:
    """The body of `loop` for the iterations iv .. iv + lanes - 1."""

    loop: ir.Operation
    accesses: Accesses
    iv: ir.Value
    lanes: int
    alignment: dict[ir.Value, int]
    """Streamed arrays whose addresses are multiples of that many bytes."""
    scalars: dict[ir.Value, ir.Value] = field(default_factory=dict)
    vectors: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def emit(self) -> None:
        """Loads and stores in the order of the loop, everything else where it is first needed."""
        self.scalars[self.loop.opview.induction_variable] = self.iv
        known = {access.op: access for access in (*self.accesses.loads, *self.accesses.stores)}
        for op in [o.operation for o in self.loop.regions[0].blocks[0].operations]:
            if (access := known.get(op)) is None:
                continue
            with op.location:
                self._load(access) if op.results else self._store(access)

    def _load(self, access: Access) -> None:
        indices = [self.scalar(index) for index in access.indices]
        result = access.op.results[0]
        if access.column is None:
            element = memref.LoadOp(access.memory, indices).result
            self.vectors[result] = self._broadcast(element)
        else:
            self.vectors[result] = vector.LoadOp(self._vector_of(result.type), access.memory, indices).result

    def _store(self, access: Access) -> None:
        value = self.vector(access.op.operands[0])
        indices = [self.scalar(index) for index in access.indices]
        alignment = self.alignment.get(access.memory)
        vector.StoreOp(
            value, access.memory, indices, nontemporal=True if alignment else None, alignment=alignment
        )

    def vector(self, value: ir.Value) -> ir.Value:
        """`value` of all lanes."""
        if value in self.vectors:
            return self.vectors[value]
        if self._is_uniform(value):
            made = self._broadcast(self.scalar(value))
        elif value == self.loop.opview.induction_variable:
            lanes = vector.StepOp(self._vector_of(value.type)).result
            made = arith.AddIOp(self._broadcast(self.iv), lanes).result
        else:
            made = self._elementwise(value.owner.operation)
        self.vectors[value] = made
        return made

    def _elementwise(self, op: ir.Operation) -> ir.Value:
        operands = [self.vector(operand) for operand in op.operands]
        return again(op, operands, [self._vector_of(op.results[0].type)])

    def scalar(self, value: ir.Value) -> ir.Value:
        """`value` of the first lane; never one that depends on memory."""
        return recompute(value, self.loop, self.scalars)

    def _is_uniform(self, value: ir.Value) -> bool:
        """Whether all lanes agree: neither the induction variable nor memory is behind it."""
        if not is_inside(value, self.loop):
            return True
        op = owner(value)
        if op is None or op.name == "memref.load":
            return False
        return all(self._is_uniform(operand) for operand in op.operands)

    def _broadcast(self, value: ir.Value) -> ir.Value:
        return vector.BroadcastOp(self._vector_of(value.type), value).result

    def _vector_of(self, element: ir.Type) -> ir.Type:
        return ir.VectorType.get([self.lanes], element)
