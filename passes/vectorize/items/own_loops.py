"""Loops of a work-item's own that are taken for loops over work-items, where work-items do not run in lanes.

Comes in: a loop over work-items. Goes out: loops in it, the inner ones first, whose iterations are independent and
that have loops in them: `for c in range(n): for j in range(i): ...` in a kernel of one work-item. LLVM vectorises
innermost loops alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.code_size import VERSIONED_OPS
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.own_cells import UNDERSTOOD, is_independent
from pykern.passes.kernels import find, index_arithmetic, index_constant, is_constant


def independent_loops(items: ir.Operation) -> Iterator[ir.Operation]:
    """Loops whose iterations may run in lanes, with a loop in each; none that has one of these in it."""
    found: list[ir.Operation] = []
    for loop in find(items, lambda op: op.name == "scf.for"):  # inner ones first
        inside = find(loop, lambda _: True)
        loops = [op for op in inside if op.name == "scf.for"]
        if not loops or any(op in found for op in loops):
            continue
        if loop.results or is_constant(loop.operands[2]) != 1 or "unsignedCmp" in loop.attributes:
            continue
        if all(op.name.startswith(UNDERSTOOD) for op in inside) and is_independent(loop):
            found.append(loop)
            yield loop


def is_long(loop: ir.Operation, least: int) -> bool:
    """Whether the loop has so many iterations; where it is known at run time alone, a copy runs where it has not."""
    lower, upper = list(loop.operands)[:2]
    first, end = is_constant(lower), is_constant(upper)
    if first is not None and end is not None:
        return end - first >= least
    if len(find(loop, lambda op: True)) > VERSIONED_OPS:
        return False
    with ir.InsertionPoint(loop), loop.location:
        length = index_arithmetic("subi", upper, lower)
        enough = arith.CmpIOp(arith.CmpIPredicate.sge, length, index_constant(least)).result
        branch_on(loop, enough)
    return True
