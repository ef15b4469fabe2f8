"""Loops that every work-item begins elsewhere and runs equally often begin at 0: windows, and rows of a flat array.

Comes in: a kernel as loops over work-items. Goes out: `for y in range(i - 1, i + 2)` as `for a in range(3)`, with
`i - 1 + a` for `y`. Read next: `unroll_index_loops`, `vectorize.items`, which take bounds that are the same for all.
"""

from __future__ import annotations

import itertools
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.index_arithmetic import Affine, affine_of, hoist, materialise
from pykern.passes.ir.values import defining, is_inside, made_by
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
    if first is None or end is None:
        return False
    length = _products_subtracted(end - first, top)
    if not _is_same_for_all(length, top):
        return False
    with ir.InsertionPoint(top), loop.location:
        count = materialise(length)
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


def _products_subtracted(length: Affine, top: ir.Operation) -> Affine:
    """The same with `n` for `(i + 1) * n - i * n`."""
    for one, other in itertools.permutations(length.terms, 2):
        left, right = made_by(one[1], "arith.muli"), made_by(other[1], "arith.muli")
        if left is None or right is None or one[0] + other[0] != 0:
            continue
        for (factor, a), (same, b) in itertools.product(_both_ways(left), _both_ways(right)):
            first, second = affine_of(a, top, _Opaque()), affine_of(b, top, _Opaque())
            if factor == same and first is not None and second is not None and (first - second).is_number:
                others = tuple(term for term in length.terms if term not in (one, other))
                return replace(length, terms=(*others, (one[0] * (first - second).constant, factor)))
    return length


def _both_ways(product: ir.Operation) -> list[tuple[ir.Value, ir.Value]]:
    a, b = product.operands
    return [(a, b), (b, a)]


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
