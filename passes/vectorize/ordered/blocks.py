"""A loop with a chain, for several rows at once: blocks of as many columns as there are rows.

Comes in: a `Chain`, the rows and what is known of each. Goes out: a loop over blocks at the insertion point, and
vectors of what it carries, lane by lane those of the rows. What the chain needs of a block is computed along each row,
in vectors; these are transposed, so that a vector has one column of all rows; then the chain runs column by column, in
the order in which it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import leave_alone
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import index_constant
from pykern.passes.vectorize.body import VectorBody
from pykern.passes.vectorize.lanes import LaneEmitter
from pykern.passes.vectorize.ordered.chains import Chain
from pykern.passes.vectorize.square import transposed_square


@dataclass
class ChainLanes(LaneEmitter):
    """The chain in one column, each row in a lane."""

    over_rows: ir.Operation = field(kw_only=True)

    def is_made_here(self, value: ir.Value) -> bool:
        return is_inside(value, self.over_rows)


@dataclass(frozen=True)
class Blocks:
    """The loop of `chain` for as many rows as there are elements in `rows`."""

    chain: Chain
    over_rows: ir.Operation
    """The loop over rows in which the chain's loop stands."""
    rows: Sequence[Mapping[ir.Value, ir.Value]]
    """For each row, numbers for the values of the loop over rows."""
    lanes: Mapping[ir.Value, ir.Value]
    """The same values as vectors, one lane a row."""

    @property
    def side(self) -> int:
        return len(self.rows)

    def emit(self, lower: ir.Value, upper: ir.Value) -> list[ir.Value]:
        """The loop over whole blocks; what it carries at last, a vector each."""
        emitter = self._emitter()
        starts = [emitter.evaluated(value) for value in self.chain.starts]
        blocks = scf.ForOp(lower, upper, index_constant(self.side), starts)
        leave_alone(blocks.operation)
        with ir.InsertionPoint(blocks.body):
            scf.YieldOp(self._block(blocks.induction_variable, list(blocks.inner_iter_args)))
        return list(blocks.results)

    def _emitter(self) -> ChainLanes:
        emitter = ChainLanes(self.side, over_rows=self.over_rows)
        emitter.give(self.lanes)
        return emitter

    def _block(self, at: ir.Value, held: list[ir.Value]) -> list[ir.Value]:
        chain = self.chain
        columns = self._columns(at)
        stored: list[list[ir.Value]] = [[] for _ in chain.stores]
        for column in range(self.side):
            emitter = self._emitter()
            iteration = arith.AddIOp(at, index_constant(column)).result if column else at
            emitter.keep(chain.loop.opview.induction_variable, iteration, 0)
            emitter.give(dict(zip(chain.carried, held, strict=True)))
            emitter.give({value: columns[value][column] for value in chain.needed})
            for store, vectors in zip(chain.stores, stored, strict=True):
                vectors.append(emitter.evaluated(store.op.operands[0]))
            held = [
                emitter.evaluated(value) for value in terminator_operands(chain.loop.regions[0].blocks[0])
            ]
        self._store(at, stored)
        return held

    def _columns(self, at: ir.Value) -> dict[ir.Value, list[ir.Value]]:
        """What the chain needs of this block: for each value its columns."""
        along: dict[ir.Value, list[ir.Value]] = {value: [] for value in self.chain.needed}
        for row in self.rows:
            body = self._body(row, at)
            body.emit()
            for value, vectors in along.items():
                vectors.append(body.evaluated(value))
        return {value: _transposed(vectors) for value, vectors in along.items()}

    def _body(self, row: Mapping[ir.Value, ir.Value], at: ir.Value) -> VectorBody:
        chain = self.chain
        return VectorBody(self.side, loop=chain.loop, accesses=chain.accesses, iv=at, outside=dict(row))

    def _store(self, at: ir.Value, stored: list[list[ir.Value]]) -> None:
        """What the chain stores goes back along the rows."""
        for store, vectors in zip(self.chain.stores, stored, strict=True):
            for row, line in zip(self.rows, _transposed(vectors), strict=True):
                self._body(row, at).store(store, line)


def _transposed(lines: list[ir.Value]) -> list[ir.Value]:
    kind = ir.VectorType(lines[0].type)
    if kind.element_type == ir.IntegerType.get_signless(
        1
    ):  # truth values lie in masks, which exchange nothing
        wide = ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(32))
        columns = _transposed([arith.ExtUIOp(wide, line).result for line in lines])
        zero = constant(wide, 0)
        return [arith.CmpIOp(arith.CmpIPredicate.ne, column, zero).result for column in columns]
    return transposed_square(lines, kind.element_type.width)
