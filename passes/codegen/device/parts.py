"""The sum of partial sums, which groups of work-items have left for each cell of a result.

Comes in: memory with a line of all cells for each part. Goes out: a linalg.generic that joins the parts.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import memref

from pykern.passes.analysis.reductions import Combine
from pykern.passes.analysis.space import Space
from pykern.passes.ir.structured import generic, loop_lengths


def reduction_of_parts(space: Space, join: Combine, source: ir.Value, output: int) -> ir.Operation:
    """``out[cell] = join(out[cell], source[part, cell])`` for an output, before the op; cells are counted as loops of
    the space are, the last one fastest."""
    out, out_map = space.op.operands[space.inputs + output], space.maps[space.inputs + output]
    dimensions = [d for g in space.parallel for d in space.groups[g]]
    known = loop_lengths(space.op)
    lengths = [known[d] for d in dimensions] or [1]
    kind = ir.MemRefType(source.type)
    shape, rank = [kind.shape[0], *lengths], len(lengths)
    with ir.InsertionPoint(space.op), space.op.location:
        if rank > 1:
            groups = [[0], list(range(1, rank + 1))]
            whole = ir.MemRefType.get(shape, kind.element_type)
            source = memref.ExpandShapeOp(whole, source, groups, [], shape).result
        dims = [ir.AffineExpr.get_dim(n) for n in range(rank + 1)]
        target = [
            dims[dimensions.index(e.position)] if isinstance(e, ir.AffineDimExpr) else e
            for e in out_map.results
        ]
        maps = [ir.AffineMap.get(rank + 1, 0, at) for at in ([dims[rank], *dims[:rank]], target)]
        made = generic([source], [out], maps, [False] * rank + [True])
        block = made.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", operands=[join.join(block.arguments[1], block.arguments[0])])
    return made
