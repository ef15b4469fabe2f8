"""Shapes of an attention, and its keys and values in the order of its tiles.

Comes in: a call of a `.tiles` function. Goes out: `Shape`; `pack`, which copies an operand into panels of one vector's
width each, whatever its strides were: a tile reads one piece of memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.registers import VECTOR_BYTES
from pykern.passes.analysis.cost_model.threads import PARALLEL_WORK
from pykern.passes.codegen.cpu.loop_nest.emit import evaluate
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import Counted
from pykern.passes.ir.structured import loops_in
from pykern.passes.kernels import index_constant


@dataclass
class Shape:
    """Lengths and maps of one attention; dimensions are batches, query, key, depth, width."""

    lengths: tuple[int, ...]
    maps: list[ir.AffineMap]
    element: ir.FloatType

    @property
    def batches(self) -> tuple[int, ...]:
        return self.lengths[:-4]

    @property
    def queries(self) -> int:
        return self.lengths[-4]

    @property
    def keys(self) -> int:
        return self.lengths[-3]

    @property
    def depth(self) -> int:
        return self.lengths[-2]

    @property
    def width(self) -> int:
        return self.lengths[-1]

    @property
    def lanes(self) -> int:
        return VECTOR_BYTES // (self.element.width // 8)

    @property
    def key_panels(self) -> int:
        return -(-self.keys // self.lanes)

    @property
    def width_panels(self) -> int:
        return -(-self.width // self.lanes)

    def dimension(self, name: str) -> int:
        return len(self.batches) + ("query", "key", "depth", "width").index(name)

    def batches_of(self, operand: int) -> list[int]:
        """The batches that an operand knows: keys may be shared by several heads."""
        used = loops_in(self.maps[operand])
        return [b for b in range(len(self.batches)) if b in used]

    def widened(self, value: ir.Value) -> ir.Value:
        """f16 and bf16 in the type of the sums."""
        return value if value.type == self.element else arith.ExtFOp(self.element, value).result

    def at(self, operand: int, known: dict[int, ir.Value]) -> list[ir.Value]:
        return [evaluate(e, known) for e in self.maps[operand].results]


def pack(place: NestContext, call: ir.Operation, shape: Shape, operand: int, threads: bool) -> ir.Value:
    """Panels of one vector's keys by depth (keys), or of one vector's width by keys (values); zeros beyond."""
    batches = shape.batches_of(operand)
    count = math.prod(shape.batches[b] for b in batches)
    across, along = ("key", "depth") if operand == 1 else ("width", "key")
    panels = shape.key_panels if operand == 1 else shape.width_panels
    width, terms = shape.lengths[shape.dimension(across)], shape.lengths[shape.dimension(along)]
    kind = ir.MemRefType.get([count, panels, terms, shape.lanes], shape.element)
    source = call.operands[operand]
    with ir.InsertionPoint(call), call.location:
        packed = memref.AllocOp(kind, [], []).result
    nest = Nest(place, call, [source, packed], count * panels, has_body=False)
    with nest.inside() as (lo, hi), Counted(lo, hi, 1) as task:
        given, target = nest.value(source), nest.value(packed)
        batch = arith.DivUIOp(task, index_constant(panels)).result
        panel = arith.RemUIOp(task, index_constant(panels)).result
        known = split(batch, batches, shape)
        begin = times(panel, shape.lanes)
        inside = arith.MinSIOp(
            index_constant(shape.lanes), arith.SubIOp(index_constant(width), begin).result
        ).result
        with Counted(index_constant(0), index_constant(terms), 1) as term:
            known[shape.dimension(along)] = term
            with Counted(index_constant(0), inside, 1) as lane:
                known[shape.dimension(across)] = arith.AddIOp(begin, lane).result
                element = shape.widened(memref.LoadOp(given, shape.at(operand, known)).result)
                memref.StoreOp(element, target, [batch, panel, term, lane])
            if width % shape.lanes:
                with Counted(inside, index_constant(shape.lanes), 1) as lane:
                    memref.StoreOp(constant(shape.element, 0.0), target, [batch, panel, term, lane])
    nest.call(threads and count * panels > 1 and count * width * terms > PARALLEL_WORK // 2)
    return packed


def split(number: ir.Value, batches: list[int], shape: Shape) -> dict[int, ir.Value]:
    """Indices of the batches from their number, the last one fastest."""
    known: dict[int, ir.Value] = {}
    for b in reversed(batches):
        length = index_constant(shape.batches[b])
        known[b] = arith.RemUIOp(number, length).result
        number = arith.DivUIOp(number, length).result
    return known


def joined(known: dict[int, ir.Value], batches: list[int], shape: Shape) -> ir.Value:
    number = index_constant(0)
    for b in batches:
        number = arith.AddIOp(times(number, shape.batches[b]), known[b]).result
    return number


def times(value: ir.Value, factor: int) -> ir.Value:
    return arith.MulIOp(value, index_constant(factor)).result


def plus(value: ir.Value, offset: int) -> ir.Value:
    return arith.AddIOp(value, index_constant(offset)).result if offset else value


def least(value: ir.Value, limit: int) -> ir.Value:
    return arith.MinSIOp(value, index_constant(limit)).result
