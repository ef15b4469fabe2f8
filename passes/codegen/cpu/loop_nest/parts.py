"""Parts of a reduction become its result: added one after the other, in order, whoever computed them."""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import memref, scf

from pykern.passes.analysis.reductions import Combine
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.ir.loops import over_cells
from pykern.passes.kernels import index_constant


def join_parts(
    place: NestContext,
    op: ir.Operation,
    joins: list[Combine],
    partial: list[ir.Value],
    outs: list[ir.Value],
    start: list[ir.Value | None],
) -> None:
    """Call a function before `op` that joins `partial`, each with the parts first, with what `outs` hold.

    Where `start` has a value, that is what is joined instead of what is in memory. Dimensions of an out may be one
    in its parts: the columns that rows are summed up to.
    """
    outside = [*partial, *outs, *(v for v in start if v is not None)]
    nest = Nest(place, op, outside, 1, has_body=False)
    with nest.inside() as _:
        for join, parts, out, first in zip(joins, partial, outs, start, strict=True):
            _, *shape = ir.MemRefType(parts.type).shape
            into = nest.value(out)
            if ir.MemRefType(out.type).rank != len(shape):
                into = _as_one(into)
            over_cells(shape, lambda at: _add_up(nest, join, parts, into, first, at))  # noqa: B023
    nest.call(False)


def _as_one(out: ir.Value) -> ir.Value:
    """A dense buffer with one dimension."""
    kind = ir.MemRefType(out.type)
    whole = ir.MemRefType.get([math.prod(kind.shape)], kind.element_type)
    return memref.CollapseShapeOp(whole, out, [list(range(kind.rank))]).result


def _add_up(
    nest: Nest, join: Combine, parts: ir.Value, into: ir.Value, first: ir.Value | None, at: list[ir.Value]
) -> None:
    held = memref.LoadOp(into, at).result if first is None else nest.value(first)
    count = ir.MemRefType(parts.type).shape[0]
    loop = scf.ForOp(index_constant(0), index_constant(count), index_constant(1), [held])
    with ir.InsertionPoint(loop.body):
        part = memref.LoadOp(nest.value(parts), [loop.induction_variable, *at]).result
        scf.YieldOp([join.join(loop.inner_iter_args[0], part)])
    memref.StoreOp(loop.results[0], into, at)
