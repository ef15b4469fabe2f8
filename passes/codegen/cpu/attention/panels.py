"""Shapes of an attention, and its keys and values in the order of its tiles.

Comes in: a call of a `.tiles` function. Goes out: `PanelShape`; `pack`, which copies an operand into panels of one
vector's width each, whatever its strides were: a tile reads one piece of memory.
"""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.registers import VECTOR_BYTES
from pykern.passes.analysis.cost_model.threads import PARALLEL_WORK
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.fusion.attention.calls import AttentionShape
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import Counted
from pykern.passes.kernels import index_constant


class PanelShape(AttentionShape):
    """The same, in vectors and panels of them."""

    @property
    def lanes(self) -> int:
        return VECTOR_BYTES // (self.element.width // 8)

    @property
    def key_panels(self) -> int:
        return -(-self.keys // self.lanes)

    @property
    def width_panels(self) -> int:
        return -(-self.width // self.lanes)


def pack(place: NestContext, call: ir.Operation, shape: PanelShape, operand: int, threads: bool) -> ir.Value:
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


def split(number: ir.Value, batches: list[int], shape: PanelShape) -> dict[int, ir.Value]:
    """Indices of the batches from their number, the last one fastest."""
    known: dict[int, ir.Value] = {}
    for b in reversed(batches):
        length = index_constant(shape.batches[b])
        known[b] = arith.RemUIOp(number, length).result
        number = arith.DivUIOp(number, length).result
    return known


def joined(known: dict[int, ir.Value], batches: list[int], shape: PanelShape) -> ir.Value:
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
