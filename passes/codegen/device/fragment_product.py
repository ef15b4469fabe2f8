"""A product of matrices by 8x8 matrices that subgroups hold in registers (Metal's `simdgroup_matrix`).

Comes in: the elements of a product in a kernel, and a `FragmentTile`. Goes out: the kernel's body. A group fetches some
terms of both factors into shared memory, beyond their edges zeros and what is never read; subgroups load matrices from
there. Sums go through shared memory, a row of matrices at a time, to be finished one by one. Factors of bf16 are
converted to f32, which loses nothing, where the language is older than matrices of bf16.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.fragments import (
    FRAGMENT_LANES,
    FRAGMENT_TYPES,
    SIDE,
    ClearFragmentsOp,
    FragmentsOp,
    LoadFragmentsOp,
    MultiplyFragmentsOp,
    StoreFragmentsOp,
)
from pykern.dialect.index_space import GlobalIdOp, LocalIdOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.cost_model.devices import FRAGMENT_DEPTH, FRAGMENT_PADDING
from pykern.passes.codegen.device.product_space import ProductElements, added, banded_tile, scaled, split
from pykern.passes.ir.structured import element_types
from pykern.passes.kernels import index_constant


def fragments_refuse(op: ir.Operation) -> str | None:
    """Why a product is not computed so; None where it is."""
    left, right, out = map(str, element_types(op.operands)[:3])
    if left != right or left not in FRAGMENT_TYPES:
        return f"its factors are {left} and {right}; they multiply two of {', '.join(FRAGMENT_TYPES)}"
    return None if out == "f32" else f"its sums are {out}"


@dataclass(frozen=True)
class FragmentTile:
    """A square of the result, and how many subgroups share it along both sides."""

    side: int
    subgroups: int

    @property
    def items(self) -> int:
        return FRAGMENT_LANES * self.subgroups * self.subgroups

    @property
    def own(self) -> int:
        """Rows, and columns, of a subgroup."""
        return self.side // self.subgroups

    @property
    def fragments(self) -> int:
        """Matrices along a side of what a subgroup has."""
        return self.own // SIDE


class FragmentProduct:
    """The kernel."""

    def __init__(self, elements: ProductElements, tile: FragmentTile, bfloat: bool) -> None:
        self.elements, self.product, self.tile = elements, elements.product, tile
        given = element_types(elements.points.operands)[0]
        self.sum = ir.F32Type.get()
        self.kind = given if str(given) == "f16" or bfloat else self.sum
        padding = FRAGMENT_PADDING // (self.kind.width // 8)
        self.rows = FRAGMENT_DEPTH + padding, tile.side + padding
        """Elements between rows in shared memory, of both factors: a row is a line of the left one, and a term of the
        right one."""

    def emit(self) -> None:
        tile, product = self.tile, self.product
        sizes = tile.side * self.rows[0], FRAGMENT_DEPTH * self.rows[1]
        shared = [SharedOp.create((size,), self.kind) for size in sizes]
        drained = SharedOp.create((tile.subgroups**2 * SIDE * tile.own,), self.sum)
        held = tile.fragments
        sums = FragmentsOp.create(held * held, self.sum)
        left, right = (FragmentsOp.create(held, self.kind) for _ in range(2))
        self.number = LocalIdOp.create(2)
        self.elements.place(product.batch, GlobalIdOp.create(0))
        origins = [scaled(place, tile.side) for place in banded_tile(product, tile.side)]
        subgroup, self.lane = split(self.number, FRAGMENT_LANES)
        own = [scaled(place, tile.own) for place in split(subgroup, tile.subgroups)]
        ClearFragmentsOp.create(sums)
        first, end = index_constant(0), index_constant(product.count(product.terms))
        loop = scf.ForOp(first, end, index_constant(FRAGMENT_DEPTH))
        with ir.InsertionPoint(loop.body):
            for n, memory in enumerate(shared):
                self._fetch(n, memory, origins[n], loop.induction_variable)
            BarrierOp.create()
            inner = scf.ForOp(first, index_constant(FRAGMENT_DEPTH), index_constant(SIDE))
            with ir.InsertionPoint(inner.body):
                term, (left_row, right_row) = inner.induction_variable, self.rows
                at = added(scaled(own[0], left_row), term), added(scaled(term, right_row), own[1])
                LoadFragmentsOp.create(left, shared[0], at[0], range(held), SIDE * left_row, left_row)
                LoadFragmentsOp.create(right, shared[1], at[1], range(held), SIDE, right_row)
                MultiplyFragmentsOp.create(sums, left, right)
                scf.YieldOp([])
            BarrierOp.create()
            scf.YieldOp([])
        corner = [added(*each) for each in zip(origins, own, strict=True)]
        self._drain(sums, drained, scaled(subgroup, SIDE * tile.own), corner)

    def _fetch(self, n: int, memory: ir.Value, origin: ir.Value, begin: ir.Value) -> None:
        """Work-items side by side fetch what lies side by side."""
        by_terms, side = self.product.lies_by_terms(n), self.tile.side
        lines = self.product.count((self.product.rows, self.product.columns)[n])
        whole = lines % side == 0, self.product.count(self.product.terms) % FRAGMENT_DEPTH == 0
        loop = scf.ForOp(self.number, index_constant(side * FRAGMENT_DEPTH), index_constant(self.tile.items))
        with ir.InsertionPoint(loop.body):
            outer, inner = split(loop.induction_variable, FRAGMENT_DEPTH if by_terms else side)
            line, term = (outer, inner) if by_terms else (inner, outer)
            value = self.elements.factor(n, added(origin, line), added(begin, term), *whole)
            if value.type != self.kind:
                value = arith.ExtFOp(self.kind, value).result
            row, column = (line, term) if n == 0 else (term, line)
            memref.StoreOp(value, memory, [added(scaled(row, self.rows[n]), column)])
            scf.YieldOp([])

    def _drain(self, sums: ir.Value, memory: ir.Value, first: ir.Value, corner: list[ir.Value]) -> None:
        """Finish the sums, a row of matrices at a time."""
        own, held = self.tile.own, self.tile.fragments
        for down in range(held):
            numbers = range(down * held, (down + 1) * held)
            StoreFragmentsOp.create(sums, memory, first, numbers, SIDE, own)
            BarrierOp.create()
            loop = scf.ForOp(self.lane, index_constant(SIDE * own), index_constant(FRAGMENT_LANES))
            with ir.InsertionPoint(loop.body):
                inner_row, inner_column = split(loop.induction_variable, own)
                row = added(corner[0], added(inner_row, down * SIDE))
                column = added(corner[1], inner_column)
                with self.elements.where_inside(row, column, (self.tile.side, self.tile.side)):
                    value = memref.LoadOp(memory, [added(first, loop.induction_variable)]).result
                    self.elements.finish(row, column, value)
                scf.YieldOp([])
            if down + 1 < held:
                BarrierOp.create()
