"""Privatised reductions: each thread sums in its own memory what work-items scatter over a small array (histograms).

Comes in: loops over work-items with atomic additions, after those with a fixed cell have left their loops.
Goes out: the same loops twice, once with additions to a private array of the thread. `kern-lower-atomics` makes those
additions plain ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.dialect.atomics import AtomicRmwOp
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import VERSIONED_OPS
from pykern.passes.analysis.cost_model.memory import OWN_SUM_CELLS
from pykern.passes.analysis.cost_model.operations import OWN_SUM_ITEMS
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.index_arithmetic import product
from pykern.passes.ir.loops import over_cells
from pykern.passes.ir.reduction import neutral
from pykern.passes.ir.values import defining, has_uses, is_inside
from pykern.passes.ir.word_conversions import as_bits
from pykern.passes.kernels import find, index_constant, named
from pykern.passes.remarks import remark

_INTEGERS = (8, 16, 32, 64)


@dataclass(frozen=True)
class PrivatiseReductions(Pass):
    """Give each thread a private array for atomic additions, and add these arrays up at the end.

    In:  kernels without workgroups, whose arguments do not overlap (`kern.noalias`). The privatised arrays are those
         that the kernel only uses in ``atomic add``, without the old value.
    Out: two versions of each such loop. Where the arrays have at most `most` cells together, and there are `each`
         times as many work-items as cells, the loop adds to zeroed private arrays, whose cells are added
         atomically to the argument at the end. The order of atomic additions is open, and the kernel does not
         read the sums, so the result is one that the original loop may give.
    """

    name: ClassVar[str] = "kern-privatise-reductions"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("kern.atomic_rmw",)
    most: int = OWN_SUM_CELLS
    each: int = OWN_SUM_ITEMS
    ops: int = VERSIONED_OPS
    """The most ops of a loop that is made twice."""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if kern.NOALIAS not in kernel.attributes or kern.WORKGROUP in kernel.attributes:
                continue
            sums = {a for a in kernels.body(kernel).arguments if _is_only_added_to(a)}
            for loop in _outermost_loops(kernel) if sums else []:
                if not loop.results:
                    self._loop(loop, sums)

    def _loop(self, loop: ir.Operation, sums: set[ir.Value]) -> None:
        additions = [op for op in named(loop, "kern.atomic_rmw") if op.operands[1] in sums]
        arrays = list(dict.fromkeys(op.operands[1] for op in additions))
        if not arrays or len(find(loop, lambda _: True)) > self.ops:
            return
        remark(loop, "atomic additions go to an array of the thread first, where it is small")
        with ir.InsertionPoint(loop), loop.location:
            branch = scf.IfOp(self._is_worth_it(loop, additions[0], arrays), has_else=True)
        with ir.InsertionPoint(branch.then_block), loop.location:
            _on_private_arrays(loop, arrays)
            scf.YieldOp([])
        with ir.InsertionPoint(branch.else_block), loop.location:
            end = scf.YieldOp([])
        loop.move_before(end.operation)

    def _is_worth_it(self, loop: ir.Operation, addition: ir.Operation, arrays: list[ir.Value]) -> ir.Value:
        cells = index_constant(0)
        for array in arrays:
            cells = arith.AddIOp(cells, product(_lengths(array))).result
        few = arith.CmpIOp(arith.CmpIPredicate.sle, cells, index_constant(self.most)).result
        needed = arith.MulIOp(cells, index_constant(self.each)).result
        enough = arith.CmpIOp(arith.CmpIPredicate.sle, needed, product(_trips(loop, addition))).result
        return arith.AndIOp(few, enough).result


def _outermost_loops(kernel: ir.Operation) -> list[ir.Operation]:
    """The loops that are in no other one; they may be in branches, as versions for some lengths are."""
    loops = named(kernel, "scf.for")
    inner = {one for loop in loops for one in named(loop, "scf.for") if one != loop}
    return [loop for loop in loops if loop not in inner]


def _is_only_added_to(array: ir.Value) -> bool:
    """Whether all uses of the array are additions without the old value: the kernel cannot see when they happen."""
    if not isinstance(array.type, ir.MemRefType) or not _has_plain_sums(ir.MemRefType(array.type)):
        return False
    uses = [(use.owner.operation, use.operand_number) for use in array.uses]
    return all(
        op.name == "memref.dim"
        or (op.name == "kern.atomic_rmw" and place == 1 and _adds(op) and not has_uses(op.results[0]))
        for op, place in uses
    )


def _adds(op: ir.Operation) -> bool:
    return ir.StringAttr(op.attributes["kind"]).value == "add"


def _has_plain_sums(kind: ir.MemRefType) -> bool:
    element = kind.element_type
    is_integer = isinstance(element, ir.IntegerType) and element.width in _INTEGERS
    return kind.rank > 0 and (is_integer or isinstance(element, ir.F32Type | ir.F64Type))


def _lengths(array: ir.Value) -> list[ir.Value]:
    rank = ir.MemRefType(array.type).rank
    return [memref.DimOp(array, index_constant(n)).result for n in range(rank)]


def _trips(loop: ir.Operation, inner: ir.Operation) -> list[ir.Value]:
    """The trip counts of the loops around `inner`, as far as numbers in front of `loop` tell: those of a loop whose
    bounds depend on outer counters as they are in the middle of these loops."""
    around: list[ir.Operation] = []
    parent = inner.parent
    while parent is not None and parent.operation != loop.parent.operation:  # type: ignore[union-attr]
        around.append(parent.operation)
        parent = parent.operation.parent
    found: list[ir.Value] = []
    middle: dict[ir.Value, ir.Value] = {}
    for one in reversed(around):
        if one.name != "scf.for":
            continue
        lower, upper = (_at(bound, middle, loop) for bound in list(one.operands)[:2])
        if lower is None or upper is None:
            continue
        length = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
        half = arith.ShRUIOp(length, index_constant(1)).result
        middle[one.opview.induction_variable] = arith.AddIOp(lower, half).result
        found.append(length)
    return found


def _at(value: ir.Value, known: dict[ir.Value, ir.Value], loop: ir.Operation) -> ir.Value | None:
    """A value of `loop` computed in front of it, from `known` values of its counters; None where that cannot be."""
    if value in known or not is_inside(value, loop):
        return known.get(value, value)
    op = defining(value)
    if op is None or not op.name.startswith("arith.") or not is_speculatable(op):
        return None
    operands = [_at(operand, known, loop) for operand in op.operands]
    if any(operand is None for operand in operands):
        return None
    copy = op.clone()
    for place, operand in enumerate(operands):
        copy.operation.operands[place] = operand
    return copy.operation.results[0]


def _on_private_arrays(loop: ir.Operation, arrays: list[ir.Value]) -> None:
    """Clone the loop at the insertion point, over private arrays, and add these to the arguments behind it."""
    private = {array: _zeroed(array) for array in arrays}
    clone = loop.clone()
    for op in named(clone, "kern.atomic_rmw"):
        if op.operands[1] in private:
            op.operands[1] = private[op.operands[1]]
    for array, sums in private.items():
        over_cells(_lengths(array), lambda at, array=array, sums=sums: _add(sums, array, at))
        memref.DeallocOp(sums)


def _zeroed(array: ir.Value) -> ir.Value:
    kind, lengths = ir.MemRefType(array.type), _lengths(array)
    sizes = [n for n, length in zip(lengths, kind.shape, strict=True) if length == kind.get_dynamic_size()]
    made = memref.AllocOp(ir.MemRefType.get(kind.shape, kind.element_type), sizes, [], alignment=64).result
    nothing = neutral("add", kind.element_type)
    over_cells(lengths, lambda at: memref.StoreOp(nothing, made, at))
    return made


def _add(sums: ir.Value, array: ir.Value, at: list[ir.Value]) -> None:
    """Add the private `sums` to `array` at one cell, unless nothing was added to that cell."""
    value = memref.LoadOp(sums, at).result
    branch = scf.IfOp(
        arith.CmpIOp(arith.CmpIPredicate.ne, as_bits(value), as_bits(neutral("add", value.type))).result
    )
    with ir.InsertionPoint(branch.then_block):
        AtomicRmwOp.create("add", value, array, at)
        scf.YieldOp([])
