"""Products of matrices: a group computes a tile of the result, terms come through shared memory a few at a time.

Comes in: a `ProductSpace` (`product_space`), and the instruction that the target has for small matrices. Goes out: a
kernel and its launch. Read next: `matrix_product` (tiles by such instructions) and `fma_product` (by multiply-adds).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlir import ir

from pykern.dialect.fragments import BFLOAT_UNIT, FRAGMENT_UNIT
from pykern.dialect.warpgroups import ITEMS
from pykern.passes.analysis.cost_model.devices import (
    FEWEST_GROUPS,
    FRAGMENT_TILES,
    PRODUCT_DEPTH,
    PRODUCT_SIDE,
    VECTOR_ELEMENTS,
)
from pykern.passes.analysis.cost_model.products import FMA_CLOCKS, MATRIX_CLOCKS, WARPGROUP_CLOCKS
from pykern.passes.analysis.product_tiles import ProductTile, shared_out
from pykern.passes.analysis.space import ungrouped
from pykern.passes.codegen.device.factor_boxes import FactorBoxes, factor_boxes
from pykern.passes.codegen.device.fma_product import FmaProduct
from pykern.passes.codegen.device.fragment_product import FragmentProduct, FragmentTile, fragments_refuse
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.matrix_layout import MatrixTile
from pykern.passes.codegen.device.matrix_panel import copies_chunks
from pykern.passes.codegen.device.matrix_product import (
    MatrixProduct,
    factor_types,
    instruction_of,
    steps_of,
    why_not,
)
from pykern.passes.codegen.device.product_space import ProductElements, ProductSpace, product_of
from pykern.passes.codegen.device.term_parts import TermParts
from pykern.passes.codegen.device.warpgroup_product import WarpgroupProduct, WarpgroupTile
from pykern.passes.fusion.contraction import FactorReads, contraction_group
from pykern.passes.remarks import remark


def launch_product(place: KernelContext, product: ProductSpace, start: ir.Value | None) -> list[ir.Operation]:
    """Make the kernels and launch them before the op. Gives what was computed with it, to be erased."""
    if place.matrix_unit in (FRAGMENT_UNIT, BFLOAT_UNIT):
        reason = fragments_refuse(product.space.op)
        if reason is None:
            return _by_fragments(place, product, start)
        remark(product.space.op, f"the product does not use matrices of subgroups: {reason}")
        return _by_multiply_adds(place, product, start)
    reason = why_not(product.space.op, place.matrix_unit)
    if reason is None:
        return _by_matrices(place, product, start)
    remark(product.space.op, f"the product does not use tensor cores: {reason}")
    return _by_multiply_adds(place, product, start)


def _by_matrices(place: KernelContext, product: ProductSpace, start: ir.Value | None) -> list[ir.Operation]:
    instruction = instruction_of(product, place.matrix_unit)
    side, count = _shared_out(product, MATRIX_CLOCKS, steps_of(product, instruction))
    tiles = _tiles(product, side, side)
    product = _grouped(product, tiles, start)
    boxes = _boxes(place, product) if place.warpgroup_unit else None
    if boxes is not None:
        return _by_warpgroups(place, product, start, boxes)
    parts = TermParts.of(product, count)
    by_words = instruction.groups > 0
    copied = tuple(copies_chunks(product, n, place.aligned, by_words) for n in (0, 1))
    tile = MatrixTile.of_side(side, copied, instruction)
    remark(product.space.op, f"the product uses tensor cores, in tiles of {side} rows and columns")
    ndrange = product.count(product.batch) * count, tiles[0], tiles[1] * tile.items
    with Kernel(place, product.space.op, ndrange, (1, 1, tile.items)) as kernel:
        MatrixProduct(ProductElements(kernel, product, start), tile, place.matrix_unit, parts).emit()
    return _joined(place, product, start, parts)


def _joined(
    place: KernelContext, product: ProductSpace, start: ir.Value | None, parts: TermParts
) -> list[ir.Operation]:
    """Add up what groups have left of parts of the terms. Gives what was computed with the product."""
    if parts.count > 1:
        remark(
            product.space.op, f"its terms are summed in {parts.count} parts, since the result has few tiles"
        )
        parts.join(place, product, start)
    return product.group.operations


def _by_fragments(place: KernelContext, product: ProductSpace, start: ir.Value | None) -> list[ir.Operation]:
    """Subgroups multiply 8x8 matrices."""
    tiles = [FragmentTile(*each) for each in FRAGMENT_TILES]
    tile = next((t for t in tiles if _groups(product, t.side, t.side) >= FEWEST_GROUPS), tiles[-1])
    counts = _tiles(product, tile.side, tile.side)
    product = _grouped(product, counts, start)
    remark(
        product.space.op, f"the product uses matrices of subgroups, in tiles of {tile.side} rows and columns"
    )
    ndrange = product.count(product.batch), counts[0], counts[1] * tile.items
    with Kernel(place, product.space.op, ndrange, (1, 1, tile.items)) as kernel:
        elements = ProductElements(kernel, product, start)
        FragmentProduct(elements, tile, place.matrix_unit == BFLOAT_UNIT).emit()
    return product.group.operations


def _boxes(place: KernelContext, product: ProductSpace) -> tuple[FactorBoxes, FactorBoxes] | None:
    """Of both factors; None where a warpgroup does not multiply them."""
    types = factor_types(product.space.op)
    if types is None or types[0] != types[1]:
        return None
    left, right = (factor_boxes(product, n, types[n], place.aligned) for n in (0, 1))
    return None if left is None or right is None else (left, right)


def _by_warpgroups(
    place: KernelContext,
    product: ProductSpace,
    start: ir.Value | None,
    boxes: tuple[FactorBoxes, FactorBoxes],
) -> list[ir.Operation]:
    """A warpgroup computes a tile, whose factors are copied box by box."""
    steps = -(-product.count(product.terms) // boxes[0].terms)
    side, count = _shared_out(product, WARPGROUP_CLOCKS, steps)
    parts = TermParts.of(product, count)
    tile = WarpgroupTile.of_side(side, parts.steps(steps))
    tiles = _tiles(product, side, side)
    what = f"the product uses tensor cores, by subgroups in fours, in tiles of {side} rows and columns"
    remark(product.space.op, what)
    ndrange = product.count(product.batch) * count, tiles[0], tiles[1] * ITEMS
    with Kernel(place, product.space.op, ndrange, (1, 1, ITEMS)) as kernel:
        WarpgroupProduct(ProductElements(kernel, product, start), tile, boxes, parts).emit()
    return _joined(place, product, start, parts)


def _by_multiply_adds(
    place: KernelContext, product: ProductSpace, start: ir.Value | None
) -> list[ir.Operation]:
    """Each work-item has `each` times `each` cells."""
    clocks = {side: taken for side, taken in FMA_CLOCKS.items() if place.aligned or side < max(FMA_CLOCKS)}
    side, count = _shared_out(product, clocks, -(-product.count(product.terms) // PRODUCT_DEPTH))
    each, tiles = side // PRODUCT_SIDE, _tiles(product, side, side)
    product = _grouped(product, tiles, start)
    parts = TermParts.of(product, count)
    ndrange = product.count(product.batch) * count, tiles[0] * PRODUCT_SIDE, tiles[1] * PRODUCT_SIDE
    with Kernel(place, product.space.op, ndrange, (1, PRODUCT_SIDE, PRODUCT_SIDE)) as kernel:
        elements = ProductElements(kernel, product, start)
        FmaProduct(elements, each, place.aligned and each >= VECTOR_ELEMENTS, parts).emit()
    return _joined(place, product, start, parts)


def _shared_out(product: ProductSpace, clocks: Mapping[int, tuple[int, int]], steps: int) -> tuple[int, int]:
    """The side of a tile, and the groups that each tile has; `clocks` of a step of tiles of each side."""
    tiles = [ProductTile(side, _groups(product, side, side), steps, taken) for side, taken in clocks.items()]
    cells = product.count(product.space.parallel)
    tile, parts = shared_out(tiles, cells)
    return tile.side, parts


def _tiles(product: ProductSpace, rows: int, columns: int) -> tuple[int, int]:
    """How many tiles of this size the result has, along its rows and its columns."""
    return -(-product.count(product.rows) // rows), -(-product.count(product.columns) // columns)


def _groups(product: ProductSpace, rows: int, columns: int) -> int:
    down, across = _tiles(product, rows, columns)
    return product.count(product.batch) * down * across


def _grouped(product: ProductSpace, tiles: tuple[int, int], start: ir.Value | None) -> ProductSpace:
    """The product with what is computed with it, at the place of what reads its sums."""
    reads = [FactorReads(times, from_memory=True) for times in reversed(tiles)]
    group = contraction_group(product.space, (reads[0], reads[1]), start is not None)
    if not group.operations:
        return product
    if group.reader is not None:
        product.space.op.move_before(group.reader.op)
    apart = product_of(ungrouped(product.space))
    assert apart is not None, "dimensions stay what they are, one by one"
    return replace(apart, group=group)
