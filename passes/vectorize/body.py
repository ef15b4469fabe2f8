"""One iteration of a loop, written for W iterations at once.

Comes in: the loop and its `LoopAccesses`. Goes out: the same ops on `vector<W x ...>`, at the insertion point. How
arithmetic becomes vectors is in `lanes`; here is what an iteration reads and writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import memref, vector

from pykern.passes.ir.clone import rematerialise
from pykern.passes.ir.values import is_inside
from pykern.passes.vectorize.accesses import LoopAccess, LoopAccesses
from pykern.passes.vectorize.lanes import VARYING, LaneEmitter


@dataclass
class VectorBody(LaneEmitter):
    """The body of `loop` for the iterations iv .. iv + width - 1."""

    loop: ir.Operation = field(kw_only=True)
    accesses: LoopAccesses = field(kw_only=True)
    iv: ir.Value = field(kw_only=True)
    alignment: dict[ir.Value, int] = field(kw_only=True, default_factory=dict)
    """Streamed arrays whose addresses are multiples of that many bytes."""
    outside: dict[ir.Value, ir.Value] = field(kw_only=True, default_factory=dict)
    """Numbers that stand for values from outside of the loop."""

    def __post_init__(self) -> None:
        counter = self.loop.opview.induction_variable
        self.give(self.outside)
        self.keep(counter, self.iv, 1)
        self.first = {**self.outside, counter: self.iv}

    def emit(self) -> None:
        """Loads and stores in the order of the loop, everything else where it is first needed."""
        known = {access.op: access for access in (*self.accesses.loads, *self.accesses.stores)}
        for op in [o.operation for o in self.loop.regions[0].blocks[0].operations]:
            if (access := known.get(op)) is None:
                continue
            with op.location:
                self._load(access) if op.results else self.store(access, self.evaluated(op.operands[0]))

    def is_made_here(self, value: ir.Value) -> bool:
        return is_inside(value, self.loop)

    def _load(self, access: LoopAccess) -> None:
        result, indices = access.op.results[0], self._indices(access)
        if access.column is None:
            self.keep(result, memref.LoadOp(access.memory, indices).result, 0)
        else:
            made = vector.LoadOp(self.type_of(result.type), access.memory, indices).result
            self.keep(result, made, VARYING)

    def store(self, access: LoopAccess, value: ir.Value) -> None:
        """Store a vector where the access stores its numbers."""
        indices = self._indices(access)
        alignment = self.alignment.get(access.memory)
        vector.StoreOp(
            value, access.memory, indices, nontemporal=True if alignment else None, alignment=alignment
        )

    def _indices(self, access: LoopAccess) -> list[ir.Value]:
        """Of the first lane; memory is behind none of them."""
        return [rematerialise(index, self.loop, self.first) for index in access.indices]
