"""Elements of attention in a kernel: of queries, keys and values, scores, and the result.

Comes in: a kernel in the place of a call that stands for attention. Goes out: `AttentionElements`, which knows the
batch that a group works on. Whoever asks for an element beyond the last one gets another one, or zero, where that is
said.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.codegen.device.kernel import Kernel
from pykern.passes.codegen.device.points import spread
from pykern.passes.codegen.device.product_space import added, scaled, split
from pykern.passes.fusion.attention.calls import FACTORS, AttentionCall
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import body, index_constant

QUERY, KEYS, VALUES = range(FACTORS)
AXES = (("query", "depth"), ("key", "depth"), ("width", "key"))
"""What lines and terms of a factor are."""


class AttentionElements:
    """Made at the top of the kernel: brings everything in."""

    def __init__(self, kernel: Kernel, found: AttentionCall, block: int) -> None:
        """`block`: how many keys are met at a time."""
        self.shape, self.shifted, self.function = found.shape, found.shifted, found.score
        *given, out = [kernel.value(v) for v in found.call.operands]
        count = len(self.shape.maps) - 1
        self.arrays, self.scalars, self.out = given[:count], given[count:], out
        self.block = block
        self.offsets = found.shape.key_offsets(found.score)
        self.batch: dict[int, ir.Value] = {}

    def place(self, batch: ir.Value) -> None:
        """Say which batch it is."""
        self.batch = dict(enumerate(spread(batch, self.shape.batches))) if self.shape.batches else {}

    def lies_by_terms(self, factor: int) -> bool:
        """Whether a factor's elements side by side in memory are terms of one line."""
        last = list(self.shape.maps[factor].results)[-1]
        return last == ir.AffineDimExpr.get(self.shape.dimension(AXES[factor][1]))

    def factor(self, n: int, line: ir.Value, term: ir.Value) -> ir.Value:
        """An element of queries, keys or values; 0 beyond the last term."""
        lines, terms = (self.shape.dimension(name) for name in AXES[n])
        known = arith.CmpIOp(arith.CmpIPredicate.ult, term, index_constant(self.shape.lengths[terms])).result
        value = self._load(n, {lines: line, terms: term})
        return arith.SelectOp(known, value, constant(value.type, 0)).result

    def source(self, n: int, line: ir.Value, term: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
        """Where such an element lies: memory and indices."""
        at = zip(map(self.shape.dimension, AXES[n]), (line, term), strict=True)
        return self.arrays[n], self.shape.at(n, self.batch | dict(at))

    def _load(self, operand: int, at: dict[int, ir.Value]) -> ir.Value:
        """An element; the last one stands for those beyond."""
        known = dict(self.batch)
        for dimension, value in at.items():
            last = index_constant(self.shape.lengths[dimension] - 1)
            known[dimension] = arith.MinUIOp(value, last).result
        return memref.LoadOp(self.arrays[operand], self.shape.at(operand, known)).result

    def score(self, product: ir.Value, query: ir.Value, key: ir.Value) -> ir.Value:
        """What the program makes of the product of a query and a key; -inf beyond the last key."""
        shape = self.shape
        at = {shape.dimension("query"): query, shape.dimension("key"): key}
        read = [self._load(operand, at) for operand in range(FACTORS, len(self.arrays))]
        given = [product, *self.batch.values(), query, key, *read, *self.scalars]
        block = body(self.function)
        value = clone_block(block, dict(zip(block.arguments, given, strict=True)))[0]
        if shape.keys % self.block == 0:
            return value
        known = arith.CmpIOp(arith.CmpIPredicate.ult, key, index_constant(shape.keys)).result
        return arith.SelectOp(known, value, constant(value.type, float("-inf"))).result

    def key_range(self, first: ir.Value, queries: int) -> tuple[ir.Value, ir.Value]:
        """Where keys begin and end, of which some of the `queries` from `first` on may meet one; the begin is that of
        a block."""
        begin, end = index_constant(0), index_constant(self.shape.keys)
        if self.offsets.first is not None:
            low = arith.MaxSIOp(added(first, self.offsets.first), begin).result
            begin = scaled(split(low, self.block)[0], self.block)
        if self.offsets.last is not None:
            after = arith.MaxSIOp(added(first, queries + self.offsets.last), index_constant(0)).result
            end = arith.MinSIOp(after, end).result
        return begin, end

    def finish(self, query: ir.Value, column: ir.Value, value: ir.Value) -> None:
        """Store an element of the result, where there is one."""
        shape = self.shape
        at = {shape.dimension("query"): query, shape.dimension("width"): column}
        there = [
            arith.CmpIOp(arith.CmpIPredicate.ult, v, index_constant(shape.lengths[d])).result
            for d, v in at.items()
        ]
        branch = scf.IfOp(arith.AndIOp(*there).result)
        with ir.InsertionPoint(branch.then_block):
            value = shape.narrowed(value, self.out)
            memref.StoreOp(value, self.out, shape.at(len(shape.maps) - 1, self.batch | at))
            scf.YieldOp([])
