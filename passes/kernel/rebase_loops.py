"""Loops that every work-item begins elsewhere and runs equally often begin at 0: windows, and rows of a flat array.

Comes in: a kernel as loops over work-items. Goes out: `for y in range(i - 1, i + 2)` as `for a in range(3)`, with
`i - 1 + a` for `y`. Read next: `unroll_index_loops`, `vectorize.items`, which take bounds that are the same for all.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.index_arithmetic import Affine, affine_of, hoist, materialise
from pykern.passes.ir.values import defining, is_inside
from pykern.passes.kernels import find, index_constant, is_constant, named
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class RebaseLoops(Pass):
    """Begin loops at 0 whose bounds depend on the work-item, and whose length does not.

    In:  kernels as loops over work-items, the innermost marked `kern.items`.
    Out: loops of step 1 in a work-item, whose bounds differ by the same for all of them, run from 0 to that difference;
         their variable is added to the first bound.
    """

    name: ClassVar[str] = "kern-rebase-loops"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for items in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                for loop in named(items, "scf.for"):
                    changed = (loop != items and _rebase(loop, items)) or changed
        return changed


def _rebase(loop: ir.Operation, items: ir.Operation) -> bool:
    lower, upper, step = list(loop.operands)[:3]
    is_plain = isinstance(lower.type, ir.IndexType) and "unsignedCmp" not in loop.attributes
    if not is_plain or is_constant(step) != 1 or not _is_of_work_item(lower, items):
        return False
    top = _outermost(items)
    first, end = (affine_of(bound, top, _Opaque()) for bound in (lower, upper))
    if first is None or end is None or not _is_same_for_all(end - first, top):
        return False
    with ir.InsertionPoint(top), loop.location:
        count = materialise(end - first)
    with ir.InsertionPoint(loop), loop.location:
        loop.operands[0] = index_constant(0)
    loop.operands[1] = count
    body = loop.regions[0].blocks[0]
    variable = body.arguments[0]
    with ir.InsertionPoint.at_block_begin(body), loop.location:
        number = arith.AddIOp(lower, variable)
    variable.replace_all_uses_except(number.result, number.operation)
    remark(loop, "the loop runs equally often for all work-items, and begins at 0")
    return True


def _is_of_work_item(value: ir.Value, items: ir.Operation) -> bool:
    """Whether a bound is computed in the loops over work-items; not a number that was written there."""
    return is_constant(value) is None and is_inside(value, _outermost(items))


class _Opaque(Container[ir.Value]):
    """Values that are no sums: whatever they are, they may be the same in both bounds."""

    def __contains__(self, value: object) -> bool:
        op = defining(value) if isinstance(value, ir.Value) else None
        if op is not None and op.name == "arith.muli":
            return all(is_constant(operand) is None for operand in op.operands)
        return op is None or op.name not in ("arith.addi", "arith.subi", "arith.constant")


def _is_same_for_all(length: Affine, top: ir.Operation) -> bool:
    return not length.coefficient and all(hoist(value, top) for _, value in length.terms)


def _outermost(items: ir.Operation) -> ir.Operation:
    """The outermost loop around the work-items."""
    top, around = items, items.parent
    while around is not None and around.operation.name != "func.func":
        if around.operation.name == "scf.for":
            top = around.operation
        around = around.operation.parent
    return top
