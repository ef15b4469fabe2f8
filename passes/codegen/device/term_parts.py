"""A product whose terms are cut into parts: each group sums one part of a tile, and a second kernel adds the sums up.

Comes in: a product on a device, and how many parts there are. Goes out: memory for their sums, the part that a group
has, and the second kernel, which also does what is computed from the result. Sums are added in order: every run gives
the same bits. Which products are cut: `pykern.passes.analysis.product_tiles`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import memref, scf

from pykern.passes.analysis.cost_model.devices import JOINED_TOGETHER
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.points import Items
from pykern.passes.codegen.device.product_space import ProductElements, ProductSpace, added, split
from pykern.passes.kernels import index_constant


@dataclass(frozen=True)
class TermParts:
    """Groups that have the same cells, each with a part of the terms. `memory` holds `count` sums of each cell, and is
    None where each group has all terms."""

    count: int = 1
    memory: ir.Value | None = None

    @classmethod
    def of(cls, product: ProductSpace, count: int) -> TermParts:
        """With memory for the sums, allocated before the op."""
        if count == 1:
            return cls()
        op, cells = product.space.op, math.prod(_lengths(product))
        with ir.InsertionPoint(op), op.location:
            kind = ir.MemRefType.get([count, cells], product.join.kind)
            return cls(count, memref.AllocOp(kind, [], []).result)

    def steps(self, steps: int) -> int:
        """Of one part, where there are `steps` over all terms."""
        return -(-steps // self.count)

    def prepare(self, elements: ProductElements) -> None:
        """Bring the memory into a kernel; at its top."""
        if self.memory is not None:
            elements.kernel.value(self.memory)

    def place(self, elements: ProductElements, number: ir.Value) -> ir.Value:
        """Set the batch of the `number`-th group, and give its part."""
        part = index_constant(0)
        if self.memory is not None:
            number, part = split(number, self.count)
        elements.place(elements.product.batch, number)
        return part

    def store(
        self, elements: ProductElements, part: ir.Value, row: ir.Value, column: ir.Value, products: ir.Value
    ) -> None:
        """Store a group's sum of products of a cell: the result's, or that of its part."""
        if self.memory is None:
            elements.finish(row, column, products)
        else:
            elements.keep(row, column, products, elements.kernel.value(self.memory), part)

    def join(self, place: KernelContext, product: ProductSpace, start: ir.Value | None) -> None:
        """Launch the second kernel: each work-item has a cell."""
        if self.memory is None:
            return
        items = Items(tuple(_lengths(product)))
        with Kernel(place, product.space.op, items.ndrange, items.workgroup) as kernel:
            elements = ProductElements(kernel, product, start)
            sums = kernel.value(self.memory)
            at = items.coordinates()
            elements.points.counters |= dict(zip(product.space.parallel, at, strict=True))
            elements.finish_here(self._joined(elements, sums, elements.cell()))

    def _joined(self, elements: ProductElements, sums: ir.Value, cell: ir.Value) -> ir.Value:
        """The sum of all parts of a cell. Several are loaded before the first is added: each load takes long."""
        join, together = elements.product.join, math.gcd(self.count, JOINED_TOGETHER)
        bounds = (index_constant(each) for each in (0, self.count, together))
        loop = scf.ForOp(*bounds, [join.neutral()])
        with ir.InsertionPoint(loop.body):
            parts = [added(loop.induction_variable, n) for n in range(together)]
            loaded = [memref.LoadOp(sums, [part, cell]).result for part in parts]
            total = loop.inner_iter_args[0]
            for each in loaded:
                total = join.join(total, each)
            scf.YieldOp([total])
        return loop.results[0]


def _lengths(product: ProductSpace) -> list[int]:
    """Of the result's loops."""
    return [product.space.lengths[group] for group in product.space.parallel]
