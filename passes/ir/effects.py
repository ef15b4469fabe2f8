"""Which ops touch memory, which may run where they did not run before, and what lies inside what."""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.values import has_uses
from pykern.passes.kernels import is_constant

DIVISIONS = {"divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"}
"""Integer divisions of the arith dialect, which trap."""


def is_speculatable(op: ir.Operation) -> bool:
    """Pure, cheap, and safe to run also where the program would not have come to it."""
    dialect, _, name = op.name.partition(".")
    if dialect == "arith":
        return name not in DIVISIONS or is_constant(op.operands[1]) not in (None, 0, -1)
    if op.name == "memref.dim":
        dim = is_constant(op.operands[1])
        return dim is not None and 0 <= dim < ir.MemRefType(op.operands[0].type).rank
    return False


def writes_nothing(op: ir.Operation) -> bool:
    """Whether leaving the op out cannot be noticed but through its results."""
    if op.name in ("scf.if", "scf.for"):
        inner = [o.operation for region in op.regions for block in region.blocks for o in block.operations]
        return all(o.name == "scf.yield" or writes_nothing(o) for o in inner)
    return op.name.startswith(("arith.", "math.")) or op.name in ("memref.load", "memref.dim", "vector.load")


def erase_dead(block: ir.Block) -> None:
    """Erase ops under `block` that write nothing and whose results nobody uses; users before what they use."""
    for op in reversed([o.operation for o in block.operations]):
        if op.results and writes_nothing(op) and not any(has_uses(result) for result in op.results):
            op.erase()  # with all that lies within
            continue
        for region in op.regions:
            for inner in region.blocks:
                erase_dead(inner)
