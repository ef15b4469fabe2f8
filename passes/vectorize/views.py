"""Parts of arrays are read and written as the arrays themselves: `x[1:-1][i]` is `x[i + 1]`.

Comes in: a function. Goes out: the same; loads and stores through `memref.subview`s of unit strides name the array.
What looks for loops over arrays sees stencils of programs then, whose operands are slices. Read next:
`vectorize_streams`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.affine import DYNAMIC
from pykern.passes.ir.clone import remake
from pykern.passes.ir.lengths import Number
from pykern.passes.ir.values import has_uses, made_by
from pykern.passes.kernels import MEMORY_OPERAND, index_constant, named, replace

Sums = dict["tuple[ir.Block, ir.Value, Number]", ir.Value]


def look_through_views(function: ir.Operation) -> None:
    """Do so with every load and store of the function."""
    sums: Sums = {}
    for op in named(function, "memref.load", "memref.store"):
        at = MEMORY_OPERAND[op.name]
        *before, memory = list(op.operands)[: at + 1]
        indices = list(op.operands)[at + 1 :]
        with ir.InsertionPoint(op), op.location:
            while (offsets := _offsets(memory)) is not None:
                indices = [
                    _sum(index, by, op.block, sums) for index, by in zip(indices, offsets, strict=True)
                ]
                memory = memory.owner.operation.operands[0]
            if memory == op.operands[at]:
                continue
            made = remake(op, [*before, memory, *indices], [r.type for r in op.results])
        replace(op, list(made.results))
    for view in reversed(named(function, "memref.subview")):
        if not has_uses(view.results[0]):
            view.erase()


def _offsets(memory: ir.Value) -> list[Number] | None:
    """Where the part begins in each dimension; None where it is no such part."""
    view = made_by(memory, "memref.subview")
    if view is None:
        return None
    if ir.MemRefType(view.operands[0].type).rank != ir.MemRefType(memory.type).rank:
        return None
    if any(stride != 1 for stride in ir.DenseI64ArrayAttr(view.attributes["static_strides"])):
        return None
    given = iter(list(view.operands)[1:])
    return [
        next(given) if o == DYNAMIC else o for o in ir.DenseI64ArrayAttr(view.attributes["static_offsets"])
    ]


def _sum(index: ir.Value, offset: Number, block: ir.Block, sums: Sums) -> ir.Value:
    """Equal sums of a block are one value: whoever compares places sees that they are the same."""
    if isinstance(offset, int) and not offset:
        return index
    key = (block, index, offset)
    if key not in sums:
        sums[key] = arith.AddIOp(index, index_constant(offset) if isinstance(offset, int) else offset).result
    return sums[key]
