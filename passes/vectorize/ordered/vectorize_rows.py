"""`kern-vectorize-rows`: sums in their order, of several rows at a time.

Comes in: a kernel whose work-items go along a row each and add up in order. Goes out: the same for groups of rows. Read
next: `chains` (what has an order), `passes_over_rows` (the parts of a row), `blocks` (several rows in lanes).

Why: an addition waits for the one before it, so a sum in order takes the latency of an addition for each element, and
nothing hides it. Other rows do: their sums are independent. Work-items have no order, so they may run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.errors import PassError
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.registers import ROWS_IN_LANES
from pykern.passes.framework import Pass
from pykern.passes.ir.index_arithmetic import affine_of
from pykern.passes.ir.values import is_argument, is_inside
from pykern.passes.kernels import find
from pykern.passes.remarks import remark
from pykern.passes.vectorize.accesses import LoopAccess
from pykern.passes.vectorize.items.lanes import Scalar
from pykern.passes.vectorize.items.vectorize_items import VectorizeItems
from pykern.passes.vectorize.ordered.chains import Chain, chain_of
from pykern.passes.vectorize.ordered.passes_over_rows import PassesOverRows

_HARMLESS = ("arith.", "math.", "memref.dim", "memref.load", "memref.store", "scf.for", "scf.if", "scf.yield")
"""Beginnings of names of ops that only touch arrays of the kernel."""
_FREE = ("contract", "fast")


@dataclass(frozen=True)
class VectorizeRows(Pass):
    """Run `rows` work-items at a time where each goes along a row and adds up in order.

    In:  kernels as loops over work-items, the innermost marked `kern.items`; `kern.noalias`.
    Out: where the loop's body has loops that carry floats in an order that must stay, from one row to the next in
         memory: a loop over groups of rows. The operands of the sums
         are computed along the rows, in vectors, and transposed in registers; each row's additions keep their order,
         and none is joined with a multiplication. Rows that make no group run as they did.
    """

    name: ClassVar[str] = "kern-vectorize-rows"
    powers: ClassVar[tuple[str, ...]] = ("rows",)
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    rows: int = ROWS_IN_LANES

    def run(self, module: ir.Module) -> bool:
        if self.rows < 2 or self.rows & (self.rows - 1):
            raise PassError(f"`{self}`: `rows` is the number of lanes of a vector, a power of two")
        changed = False
        for kernel in kernels.kernels(module):
            if kern.NOALIAS in kernel.attributes:
                for loop in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                    changed |= self._items(kernel, loop)
        return changed

    def _items(self, kernel: ir.Operation, loop: ir.Operation) -> bool:
        chains = chains_of(kernel, loop)
        if not chains or _gains_by_lanes(kernel, loop):
            return False
        remark(loop, f"{self.rows} work-items at a time: sums along rows, in their order")
        for chain in chains:
            _round_each(chain)
        PassesOverRows(kernel, loop, chains, self.rows).emit()
        return True


def chains_of(kernel: ir.Operation, loop: ir.Operation) -> list[Chain]:
    """What work-items of the loop do in order, each along its own row; nothing where it is not that alone."""
    ops = [o.operation for o in loop.regions[0].blocks[0].operations]
    ops = [op for op in ops if op.name == "scf.for" and op.results]
    if not ops or loop.results or not _touches_arrays_alone(loop):
        return []
    arrays = [a for a in kernels.body(kernel).arguments if isinstance(a.type, ir.MemRefType)]
    chains = [chain for op in ops if (chain := chain_of(op, loop, arrays)) is not None]
    return chains if any(_reads_own_row(chain, loop) for chain in chains) else []


def _touches_arrays_alone(loop: ir.Operation) -> bool:
    """Whether work-items share nothing but the kernel's arrays."""
    inside = find(loop, lambda op: True)
    memory = {v for op in inside for v in (*op.operands, *op.results) if isinstance(v.type, ir.MemRefType)}
    return all(op.name.startswith(_HARMLESS) for op in inside) and all(is_argument(v) for v in memory)


def _reads_own_row(chain: Chain, loop: ir.Operation) -> bool:
    """Whether each work-item goes along other memory; what all of them read, or neighbours, is better read in lanes."""
    along = [load for load in chain.accesses.loads if load.column is not None]
    if any(is_inside(i, loop) and not is_inside(i, chain.loop) for load in along for i in load.indices):
        return True
    return any(_is_row_of_flat_array(load, loop) for load in along)


def _is_row_of_flat_array(load: LoopAccess, loop: ir.Operation) -> bool:
    """Whether work-items read `x[i * n + k]`: rows of a flat array, and not `x[i + k]`, windows of it."""
    terms = () if load.column is None else load.column.terms
    places = [affine_of(value, loop) for _, value in terms if is_inside(value, loop)]
    return any(place is None or abs(place.coefficient) > 1 for place in places)


def _gains_by_lanes(kernel: ir.Operation, loop: ir.Operation) -> bool:
    """Whether work-items run in lanes as they are, and have loops in loops, which gain most by it."""
    if not find(loop, lambda op: op.name == "scf.for" and bool(find(op, lambda o: o.name == "scf.for"))):
        return False
    try:
        VectorizeItems().plan(kernel, loop)
    except Scalar:
        return False
    return True


def _round_each(chain: Chain) -> None:
    """Round what is added before it is added, in all rows alike: what was transposed is no product any more."""
    for value in chain.ops:
        op = value.owner.operation
        if "fastmath" in op.attributes and op.name.startswith("arith."):
            flags = str(op.attributes["fastmath"]).partition("<")[2].rstrip(">").split(",")
            kept = ",".join(flag.strip() for flag in flags if flag.strip() not in _FREE) or "none"
            op.attributes["fastmath"] = ir.Attribute.parse(f"#arith.fastmath<{kept}>")
