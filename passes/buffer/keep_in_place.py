"""The form of a loop that is always right: each carried buffer has one place, and is copied there at the end.

Comes in: an scf.for or scf.while that carries buffers made inside of it. Goes out: the same loop, in which
every buffer it yields is the one it began with.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import memref

from pykern.passes.ir.memory import aliases, root_of
from pykern.passes.ir.values import defining, is_inside


def terminator(loop: ir.Operation) -> ir.Operation:
    """The terminator of an iteration: the yield of the body; for scf.while that of the second region."""
    return list(_last_block(loop).operations)[-1].operation


def _last_block(loop: ir.Operation) -> ir.Block:
    regions = list(loop.regions)
    return regions[len(regions) - 1].blocks[0]


def escapes(alloc: ir.Operation, loop: ir.Operation) -> bool:
    """Whether a loop that `alloc` stands in hands the buffer on to its next iteration."""
    end = terminator(loop)
    reached = aliases(alloc.result, until=end)
    return any(value in reached for value in end.operands)


def keep_in_place(loop: ir.Operation) -> None:
    """Rewrite the loop so that each carried buffer stays in one place."""
    end = terminator(loop)
    first = 3 if loop.name == "scf.for" else 0  # bounds and step stand before what is carried
    entered = list(loop.regions[0].blocks[0].arguments)[1 if first else 0 :]
    carried = [k for k, v in enumerate(end.operands) if isinstance(v.type, ir.MemRefType)]
    places: dict[int, ir.Value] = {}
    for k in carried:
        with ir.InsertionPoint(loop), loop.location:
            places[k] = memref.AllocOp(ir.MemRefType(entered[k].type), [], []).result
            memref.CopyOp(loop.operands[first + k], places[k])
        loop.operands[first + k] = places[k]
        entered[k].replace_all_uses_with(places[k])
        if loop.name == "scf.for":
            loop.results[k].replace_all_uses_with(places[k])
    moved = [k for k in carried if end.operands[k] != places[k]]
    with ir.InsertionPoint(end), loop.location:
        sources = {k: end.operands[k] for k in moved}
        for k, value in sources.items():
            if not _is_made_inside(value, loop):  # another place, which may be overwritten before it is read
                sources[k] = memref.AllocOp(ir.MemRefType(places[k].type), [], []).result
                memref.CopyOp(value, sources[k])
        for k, value in sources.items():
            memref.CopyOp(value, places[k])
    for k in moved:
        end.operands[k] = places[k]


def _is_made_inside(value: ir.Value, loop: ir.Operation) -> bool:
    root = root_of(value)
    op = defining(root)
    if op is None:
        return False
    return op.name == "memref.alloc" and is_inside(op.results[0], loop)
