"""How many work-items of a launch one of a GPU does, and which.

Comes in: a kernel whose work-items have ids. Goes out: a number for each dimension, and a loop over these work-items.
Read next: `unroll_items`, which writes them side by side.

Why: a work-item that loads one element has one load under way, and a GPU's memory waits for more of them than there
are work-items at a time.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf

from pykern.data.abi import SMALL_STEP
from pykern.dialect import attributes as kern
from pykern.dialect.index_space import NdrangeOp
from pykern.lowering.gpu.grid import Grid
from pykern.passes.analysis.cost_model.devices import ITEMS_EACH, UNROLLED_OPERATIONS
from pykern.passes.ir.loops import leave_alone
from pykern.passes.kernels import find, index_constant, terminator

_PLAIN = (
    "memref.load", "memref.store", "memref.dim", "scf.if", "scf.yield", "func.return", "kern.global_id",
    NdrangeOp.OPERATION_NAME,
)  # fmt: skip
"""Beside arithmetic: what a work-item may do that is one of several. None of it waits for others, sees a group or tells
which work-item it is."""


def items_each(kernel: ir.Operation, grid: Grid, order: list[int]) -> tuple[int, ...] | None:
    """Along one dimension several, along the others one; None where each does one of the launch.

    In a line they are a group's length apart, so that neighbours of a subgroup stay neighbours in memory. Else they
    are neighbours along the dimension before the fastest, where a stencil reads the same elements for several.
    """
    inside = find(kernel, lambda _: True)
    if kern.SEQUENTIAL in kernel.attributes or kern.TAPE in kernel.attributes:
        return None
    if not all(map(_is_plain, inside)):
        return None
    if not any(op.name == "memref.load" for op in inside):
        return None  # there is nothing to wait for
    dim = 0 if grid.rank == 1 else next(d for d in (grid.rank - 2, grid.rank - 1) if d != order[-1])
    count = ITEMS_EACH
    while count > 1 and (count * len(inside) > UNROLLED_OPERATIONS or count * grid.size[dim] > SMALL_STEP):
        count //= 2
    return tuple(count if d == dim else 1 for d in range(grid.rank)) if count > 1 else None


def _is_plain(op: ir.Operation) -> bool:
    return op.name.startswith(("arith.", "math.")) or op.name in _PLAIN


def loop_over_items(count: int) -> ir.Operation:
    """An empty loop over the work-items that one does, which stays a loop where it is not written out."""
    loop = scf.ForOp(index_constant(0), index_constant(count), index_constant(1)).operation
    loop.attributes[kern.EACH] = ir.UnitAttr.get()
    leave_alone(loop)
    with ir.InsertionPoint(loop.regions[0].blocks[0]):
        scf.YieldOp([])
    return loop


def one_of_several(size: int, each: int, local: ir.Value, rank: int, loop: ir.Operation) -> ir.Value:
    """The place, along a dimension of so many work-items a group, of the one that the loop is at."""
    if each == 1:
        return local
    block = loop.regions[0].blocks[0]
    with ir.InsertionPoint(terminator(block)):
        number = block.arguments[0]
        if rank == 1:
            return arith.AddIOp(arith.MulIOp(number, index_constant(size)).result, local).result
        return arith.AddIOp(arith.MulIOp(local, index_constant(each)).result, number).result
