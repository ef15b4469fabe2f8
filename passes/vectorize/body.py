"""One iteration of a loop, written for W iterations at once.

Comes in: the loop and its `LoopAccesses`. Goes out: the same ops on `vector<W x ...>`, at the insertion point.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.ir.again import again, recompute
from pykern.passes.ir.values import defining, is_inside
from pykern.passes.vectorize.accesses import LoopAccess, LoopAccesses


@dataclass
class VectorBody:
    """The body of `loop` for the iterations iv .. iv + lanes - 1."""

    loop: ir.Operation
    accesses: LoopAccesses
    iv: ir.Value
    lanes: int
    alignment: dict[ir.Value, int]
    """Streamed arrays whose addresses are multiples of that many bytes."""
    scalars: dict[ir.Value, ir.Value] = field(default_factory=dict)
    vectors: dict[ir.Value, ir.Value] = field(default_factory=dict)
    uniform: dict[ir.Value, bool] = field(default_factory=dict)
    """What was found out by `_is_uniform`."""

    def emit(self) -> None:
        """Loads and stores in the order of the loop, everything else where it is first needed."""
        self.scalars[self.loop.opview.induction_variable] = self.iv
        known = {access.op: access for access in (*self.accesses.loads, *self.accesses.stores)}
        for op in [o.operation for o in self.loop.regions[0].blocks[0].operations]:
            if (access := known.get(op)) is None:
                continue
            with op.location:
                self._load(access) if op.results else self._store(access)

    def _load(self, access: LoopAccess) -> None:
        indices = [self.scalar(index) for index in access.indices]
        result = access.op.results[0]
        if access.column is None:
            element = memref.LoadOp(access.memory, indices).result
            self.vectors[result] = self._broadcast(element)
        else:
            self.vectors[result] = vector.LoadOp(self._vector_of(result.type), access.memory, indices).result

    def _store(self, access: LoopAccess) -> None:
        value = self.vector(access.op.operands[0])
        indices = [self.scalar(index) for index in access.indices]
        alignment = self.alignment.get(access.memory)
        vector.StoreOp(
            value, access.memory, indices, nontemporal=True if alignment else None, alignment=alignment
        )

    def vector(self, value: ir.Value) -> ir.Value:
        """`value` of all lanes; what it is made of comes first. No recursion: bodies may be long chains."""
        waiting = [value]
        while waiting:
            one = waiting[-1]
            missing = [] if one in self.vectors else [v for v in self._parts(one) if v not in self.vectors]
            if missing:
                waiting.extend(reversed(missing))
                continue
            if one not in self.vectors:
                self.vectors[one] = self._made(one)
            waiting.pop()
        return self.vectors[value]

    def _parts(self, value: ir.Value) -> list[ir.Value]:
        """What has to be there in all lanes before `value`."""
        if self._is_uniform(value) or value == self.loop.opview.induction_variable:
            return []
        return list(value.owner.operation.operands)

    def _made(self, value: ir.Value) -> ir.Value:
        if self._is_uniform(value):
            return self._broadcast(self.scalar(value))
        if value == self.loop.opview.induction_variable:
            lanes = vector.StepOp(self._vector_of(value.type)).result
            return arith.AddIOp(self._broadcast(self.iv), lanes).result
        return self._elementwise(value.owner.operation)

    def _elementwise(self, op: ir.Operation) -> ir.Value:
        operands = [self.vectors[operand] for operand in op.operands]
        return again(op, operands, [self._vector_of(op.results[0].type)])

    def scalar(self, value: ir.Value) -> ir.Value:
        """`value` of the first lane; never one that depends on memory."""
        return recompute(value, self.loop, self.scalars)

    def _is_uniform(self, value: ir.Value) -> bool:
        """Whether all lanes agree: neither the induction variable nor memory is behind it."""
        waiting = [value]
        while waiting:
            one = waiting[-1]
            op = defining(one)
            inside = one not in self.uniform and is_inside(one, self.loop)
            reads = inside and (op is None or op.name == "memref.load")
            parts = list(op.operands) if inside and op is not None and not reads else []
            missing = [v for v in parts if v not in self.uniform]
            if missing:
                waiting.extend(missing)
                continue
            self.uniform.setdefault(one, not reads and all(self.uniform[v] for v in parts))
            waiting.pop()
        return self.uniform[value]

    def _broadcast(self, value: ir.Value) -> ir.Value:
        return vector.BroadcastOp(self._vector_of(value.type), value).result

    def _vector_of(self, element: ir.Type) -> ir.Type:
        return ir.VectorType.get([self.lanes], element)
