"""A loop over work-items is split where clamped and periodic indices and tests of edges change their outcome.

Comes in: loops over work-items. Goes out: the interior, in which none of these is left, and the rims, which run the
loop as it was. Read next: `edges` (what an outcome is), `tighten_bounds` (tests that guard all there is need no rims).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import VERSIONED_OPS
from pykern.passes.framework import Pass
from pykern.passes.ir.both_ends import run_at_both_ends
from pykern.passes.ir.clone import clone
from pykern.passes.ir.effects import erase_dead
from pykern.passes.ir.index_arithmetic import hoist, materialise
from pykern.passes.ir.loops import leave_alone
from pykern.passes.ir.values import is_nested_in, made_by
from pykern.passes.kernel.edges import HalfLine, edges_of
from pykern.passes.kernel.narrow_sums import are_small, sum_of
from pykern.passes.kernel.tables_read import hoist_added
from pykern.passes.kernels import find, index_constant, is_constant, named, replace
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class SplitEdges(Pass):
    """Split the index set of work-items at the edges of arrays.

    In:  kernels as loops over work-items, the innermost marked `kern.items`; where it pays, of at most `ops` ops.
         Nests of programs, of whose innermost loops the same holds if they read nothing that they write.
    Out: of the innermost loop, where an index or a branch depends on an edge, and of the loops around it, where a
         branch does: the interior, with outcomes in place of clamps, remainders and comparisons, and one loop for both
         rims, which is what it was. Where loops of the work-item take part (`i + a >= 0`), the interior is where the
         outcome is the same for all their iterations. Each loop is written out once more at most.
    """

    name: ClassVar[str] = "kern-split-edges"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.cmpi", "arith.maxsi", "arith.minsi")
    ops: int = VERSIONED_OPS

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for loop in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                for around in _nest(loop):
                    changed = self._loop(around) or changed
        for nest in (o.operation for o in module.body.operations if kern.NEST in o.operation.attributes):
            for loop in find(nest, _is_elementwise):
                loop.attributes[kern.ITEMS] = ir.UnitAttr.get()
                changed = self._loop(loop) or changed
                del loop.attributes[kern.ITEMS]
        return changed

    def _loop(self, loop: ir.Operation) -> bool:
        branches_only = kern.ITEMS not in loop.attributes
        hoist_added(loop)
        edges = edges_of(loop, branches_only)
        if loop.results or not edges:
            return False
        if len(find(loop, lambda op: True)) > self.ops:
            remark(loop, f"edges stay tests of each work-item: the loop has more than {self.ops} ops")
            return False
        with ir.InsertionPoint(loop):
            rim = clone(loop, lambda value: _own_memory(value, loop))
        lines: list[HalfLine] = []
        while edges:  # one clamp within another comes to light when that is settled
            for edge in edges:
                remark(
                    edge.op, f"{edge.says}: the rims are loops of their own, and the interior is without it"
                )
                edge.settle()
                lines += edge.lines
            edges = edges_of(loop, branches_only)
        small = list(dict.fromkeys(value for line in lines for value in line.small))
        if small:
            _widen(loop, small)
        for branch in named(loop, "scf.if"):
            if branch.results and branch.parent is not None and branch.parent.operation == loop:
                hoist(branch.results[0], loop)
        erase_dead(loop.regions[0].blocks[0])
        _split(loop, rim, lines, small)
        return True


def _is_elementwise(loop: ir.Operation) -> bool:
    """Whether iterations are as independent as work-items are: an innermost loop that reads nothing that it writes."""
    if loop.name != "scf.for" or loop.results or is_constant(loop.operands[2]) != 1:
        return False
    ops = find(loop, lambda op: op != loop)
    written = [op.operands[1] for op in ops if op.name == "memref.store"]
    return all(
        op.name.startswith(("arith.", "math.", "scf.yield", "memref.store"))
        or (op.name == "memref.load" and op.operands[0] not in written)
        for op in ops
    )


def _nest(innermost: ir.Operation) -> list[ir.Operation]:
    """The loops over work-items, the outermost first."""
    loops, around = [innermost], innermost.parent
    while around is not None and around.operation.name in ("scf.for", "scf.if"):
        if around.operation.name == "scf.for":
            loops.insert(0, around.operation)
        around = around.operation.parent
    return loops


def _own_memory(value: ir.Value, loop: ir.Operation) -> ir.Value:
    """For memory that only this loop uses, other memory of the kind: work-items of the rims keep nothing in it."""
    array = made_by(value, "memref.alloca")
    if array is None or not all(is_nested_in(use.owner.operation, loop) for use in value.uses):
        return value
    with ir.InsertionPoint(array):
        return array.clone().operation.results[0]


def _widen(loop: ir.Operation, small: list[ir.Value]) -> None:
    """Compute with indices what was computed with 32 bits, where no sum of `small` numbers wraps."""
    for cast in named(loop, "arith.index_cast"):
        found = sum_of(cast.results[0], loop) if isinstance(cast.results[0].type, ir.IndexType) else None
        if found is None or found.form.coefficient != 1 or not found.small:
            continue
        if set(found.small) <= set(small):
            with ir.InsertionPoint(loop), loop.location:
                offset = materialise(found.form)
            with ir.InsertionPoint(cast), cast.location:
                replace(cast, [arith.AddIOp(loop.opview.induction_variable, offset).result])


def _split(loop: ir.Operation, rim: ir.Operation, lines: list[HalfLine], small: list[ir.Value]) -> None:
    """Let `loop` run where all half-lines meet, and `rim` below and above; and everywhere if not all of `small` are."""
    lower, upper = list(loop.operands)[:2]
    with ir.InsertionPoint(rim), loop.location:
        first, last = lower, upper
        for form, is_lower, stride in dict.fromkeys((n.bound, n.is_lower, n.stride) for n in lines):
            bound = materialise(form)
            if stride > 1:
                bound = arith.CeilDivSIOp(bound, index_constant(stride)).result
            if is_lower:
                first = arith.MaxSIOp(first, bound).result
            else:
                last = arith.MinSIOp(last, bound).result
        first = arith.MinSIOp(first, upper).result
        if small:
            tests = are_small(small)
            holds = functools.reduce(lambda a, b: arith.AndIOp(a, b).result, tests)
            first = arith.SelectOp(holds, first, upper).result
        last = arith.MaxSIOp(first, last).result
        rims = run_at_both_ends(rim, (lower, first), (last, upper))
    loop.operands[0], loop.operands[1] = first, last
    for op in (rim, *find(rim, lambda op: kern.ITEMS in op.attributes)):
        if kern.ITEMS in op.attributes:
            del op.attributes[kern.ITEMS]
    leave_alone(rims)
    if all(line.is_short for line in lines):
        leave_alone(rim)
