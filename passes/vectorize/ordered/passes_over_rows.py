"""The body of a loop over rows, divided at its chains, so that each part runs for several rows before the next one.

Comes in: a loop over rows whose iterations have no order, and the chains in its body. Goes out: a loop over groups of
rows in front of it, in which each part is a loop over the rows of the group; chains run for all rows at once, and their
last columns row by row. What one part leaves to a later one waits in memory for a number of each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.passes.ir.clone import clone, rematerialise
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.memory import ancestor_in
from pykern.passes.ir.values import defining, is_inside
from pykern.passes.kernels import body, identity, index_constant
from pykern.passes.vectorize.ordered.blocks import Blocks
from pykern.passes.vectorize.ordered.chains import Chain
from pykern.passes.vectorize.vectorize_reductions import whole_vectors

_NOT_UNROLLED = "#llvm.loop_annotation<unroll = <disable = true>>"


@dataclass(frozen=True)
class PassesOverRows:
    """The loop over groups of `side` rows."""

    function: ir.Operation
    rows: ir.Operation
    chains: Sequence[Chain]
    side: int
    buffers: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """For values that a later part reads, memory for a number of each row."""
    ends: dict[tuple[int, int], ir.Value] = field(default_factory=dict)
    """The same for what a chain carries when the last whole block is done, by chain and place."""

    def emit(self) -> None:
        """Put the loop over groups in front of the loop, which keeps the rows that make no group, and all rows where
        they are shorter than a block."""
        self._make_buffers()
        lower, upper = list(self.rows.operands)[:2]
        with ir.InsertionPoint(self.rows), self.rows.location:
            middle = whole_vectors(lower, upper, self.side)
            for first, last in self._bounds_of_all_rows():
                length = arith.SubIOp(last, first).result
                short = arith.CmpIOp(arith.CmpIPredicate.slt, length, index_constant(self.side)).result
                middle = arith.SelectOp(short, lower, middle).result
            groups = scf.ForOp(lower, middle, index_constant(self.side))
            with ir.InsertionPoint(groups.body):
                self._group(groups.induction_variable)
                scf.YieldOp([])
        self.rows.operands[0] = middle

    def _bounds_of_all_rows(self) -> list[tuple[ir.Value, ir.Value]]:
        """First and last column of the chains whose columns are the same in all rows."""
        bounds = dict.fromkeys(tuple(chain.loop.operands)[:2] for chain in self.chains)
        return [(a, b) for a, b in bounds if not is_inside(a, self.rows) and not is_inside(b, self.rows)]

    # -- what waits between two parts --------------------------------------------------------------

    def _make_buffers(self) -> None:
        with ir.InsertionPoint.at_block_begin(body(self.function)), self.rows.location:
            for op in self._ops():
                for result in op.results:
                    if self._is_read_later(result) and not self._is_cheap(result):
                        self.buffers[result] = self._buffer(result.type)
            for number, chain in enumerate(self.chains):
                for place, start in enumerate(chain.starts):
                    self.ends[number, place] = self._buffer(start.type)

    def _buffer(self, element: ir.Type) -> ir.Value:
        return memref.AllocaOp(ir.MemRefType.get([self.side], element), [], [], alignment=64).result

    def _is_read_later(self, value: ir.Value) -> bool:
        block, part = self.rows.regions[0].blocks[0], self._part(value.owner.operation)
        readers = [ancestor_in(use.owner.operation, block) for use in value.uses]
        return any(self._part(reader) > part for reader in readers if reader is not None)

    def _part(self, op: ir.Operation) -> int:
        """The number of a part: chains begin one."""
        return sum(chain.loop == op or chain.loop.is_before_in_block(op) for chain in self.chains)

    def _is_cheap(self, value: ir.Value) -> bool:
        """Whether a value is computed from the number of the row alone."""
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if one == self._counter or not is_inside(one, self.rows):
                continue
            op = defining(one)
            if op is None or not is_speculatable(op):
                return False
            waiting += op.operands
        return True

    @property
    def _counter(self) -> ir.Value:
        return self.rows.opview.induction_variable

    def _ops(self) -> list[ir.Operation]:
        return [o.operation for o in self.rows.regions[0].blocks[0].operations][:-1]

    # -- a group of rows ---------------------------------------------------------------------------

    def _group(self, first: ir.Value) -> None:
        parts: list[list[ir.Operation]] = [[] for _ in range(len(self.chains) + 1)]
        for op in self._ops():
            parts[self._part(op)].append(op)
        self._run(first, parts[0], {})
        for number, (chain, ops) in enumerate(zip(self.chains, parts[1:], strict=True)):
            lower, upper = list(chain.loop.operands)[:2]
            with chain.loop.location:
                middle = whole_vectors(lower, upper, self.side)
                rows, lanes = self._numbers(chain, first), self._vectors(chain, first)
                found = Blocks(chain, self.rows, rows, lanes).emit(lower, middle)
                for place, end in enumerate(found):
                    vector.StoreOp(end, self.ends[number, place], [index_constant(0)])
            self._run(first, ops, {identity(chain.loop): (middle, number)})

    def _run(
        self, first: ir.Value, ops: list[ir.Operation], rests: Mapping[int, tuple[ir.Value, int]]
    ) -> None:
        """One part, row by row. Of a chain only the columns behind the whole blocks are left."""
        if all(self._is_cheap(result) for op in ops for result in op.results) and not any(
            op.regions or op.name == "memref.store" for op in ops
        ):
            return
        each = scf.ForOp(index_constant(0), index_constant(self.side), index_constant(1))
        each.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(_NOT_UNROLLED)
        with ir.InsertionPoint(each.body):
            number = each.induction_variable
            known = {self._counter: arith.AddIOp(first, number).result}
            for op in ops:
                with op.location:
                    copy = clone(op, lambda value: self._number(value, known, number))
                    if identity(op) in rests:
                        self._start_behind_blocks(copy, *rests[identity(op)], number)
                    known.update(zip(op.results, copy.results, strict=True))
                    for result in op.results:
                        if result in self.buffers:
                            memref.StoreOp(known[result], self.buffers[result], [number])
            scf.YieldOp([])

    def _start_behind_blocks(
        self, loop: ir.Operation, middle: ir.Value, chain: int, number: ir.Value
    ) -> None:
        with ir.InsertionPoint(loop):
            loop.operands[0] = middle
            for place in range(len(loop.results)):
                loop.operands[3 + place] = memref.LoadOp(self.ends[chain, place], [number]).result
        loop.attributes["llvm.loop_annotation"] = ir.Attribute.parse(_NOT_UNROLLED)

    def _number(self, value: ir.Value, known: dict[ir.Value, ir.Value], row: ir.Value) -> ir.Value:
        """A value of the loop over rows, for one row."""
        if value not in known and is_inside(value, self.rows):
            if value in self.buffers:
                known[value] = memref.LoadOp(self.buffers[value], [row]).result
            else:
                rematerialise(value, self.rows, known)
        return known.get(value, value)

    # -- what a chain reads of the rows ------------------------------------------------------------

    def _read_by(self, chain: Chain) -> list[ir.Value]:
        """Values of the loop over rows that the chain's loop reads."""
        read = dict.fromkeys(chain.loop.operands)
        for op in chain.loop.regions[0].blocks[0].operations:
            read |= dict.fromkeys(op.operands)
        return [v for v in read if is_inside(v, self.rows) and not is_inside(v, chain.loop)]

    def _numbers(self, chain: Chain, first: ir.Value) -> list[dict[ir.Value, ir.Value]]:
        rows = []
        for n in range(self.side):
            number = index_constant(n)
            known = {self._counter: arith.AddIOp(first, number).result if n else first}
            for value in self._read_by(chain):
                self._number(value, known, number)
            rows.append(known)
        return rows

    def _vectors(self, chain: Chain, first: ir.Value) -> dict[ir.Value, ir.Value]:
        kind = ir.VectorType.get([self.side], ir.IndexType.get())
        lanes = {}
        for value in self._read_by(chain):
            if value in self.buffers:
                numbers = [memref.LoadOp(self.buffers[value], [index_constant(n)]) for n in range(self.side)]
                own = ir.VectorType.get([self.side], value.type)
                lanes[value] = vector.FromElementsOp(own, numbers).result
        numbers = arith.AddIOp(vector.BroadcastOp(kind, first).result, vector.StepOp(kind).result).result
        return {self._counter: numbers, **lanes}
