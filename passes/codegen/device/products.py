"""Products of matrices: a group computes a tile of the result, terms come through shared memory a few at a time.

Comes in: a `ProductSpace` (`product_space`), and the instruction that the target has for small matrices. Goes out: a
kernel and its launch. Read next: `matrix_product` (tiles by such instructions) and `fma_product` (by multiply-adds).
"""

from __future__ import annotations

import math
from dataclasses import replace

from mlir import ir
from mlir.dialects import memref

from pykern.dialect.fragments import BFLOAT_UNIT, FRAGMENT_UNIT
from pykern.dialect.matrix_units import MatrixInstruction
from pykern.dialect.warpgroups import ITEMS
from pykern.passes.analysis.cost_model.devices import (
    FEWEST_GROUPS,
    FEWEST_SPLIT_STEPS,
    FRAGMENT_TILES,
    MATRIX_TILES,
    PRODUCT_SIDE,
    SPLIT_GROUPS,
    WARPGROUP_TILES,
)
from pykern.passes.analysis.space import ungrouped
from pykern.passes.codegen.device.factor_boxes import FactorBoxes, factor_boxes
from pykern.passes.codegen.device.fma_product import FmaProduct
from pykern.passes.codegen.device.fragment_product import FragmentProduct, FragmentTile, fragments_refuse
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.matrix_layout import MatrixTile
from pykern.passes.codegen.device.matrix_panel import copies_chunks
from pykern.passes.codegen.device.matrix_product import (
    MatrixProduct,
    TermParts,
    factor_types,
    instruction_of,
    steps_of,
    why_not,
)
from pykern.passes.codegen.device.parts import reduction_of_parts
from pykern.passes.codegen.device.product_space import ProductElements, ProductSpace, product_of
from pykern.passes.codegen.device.warpgroup_product import WarpgroupProduct, WarpgroupTile
from pykern.passes.fusion.contraction import FactorReads, contraction_group
from pykern.passes.remarks import remark


def launch_product(
    place: KernelContext, product: ProductSpace, start: ir.Value | None
) -> tuple[list[ir.Operation], ir.Operation | None]:
    """Make the kernel and launch it before the op. Gives what was computed with it, to be erased; and, where groups
    left sums of parts of the terms, the op that adds these up."""
    if place.matrix_unit in (FRAGMENT_UNIT, BFLOAT_UNIT):
        reason = fragments_refuse(product.space.op)
        if reason is None:
            return _by_fragments(place, product, start), None
        remark(product.space.op, f"the product does not use matrices of subgroups: {reason}")
        return _by_multiply_adds(place, product, start), None
    reason = why_not(product.space.op, place.matrix_unit)
    if reason is None:
        return _by_matrices(place, product, start)
    remark(product.space.op, f"the product does not use tensor cores: {reason}")
    return _by_multiply_adds(place, product, start), None


def _by_matrices(
    place: KernelContext, product: ProductSpace, start: ir.Value | None
) -> tuple[list[ir.Operation], ir.Operation | None]:
    sides = [each for each, _, _ in MATRIX_TILES]
    side = next((each for each in sides if _groups(product, each, each) >= FEWEST_GROUPS), sides[-1])
    instruction = instruction_of(product, place.matrix_unit)
    tiles, count = _tiles(product, side, side), _parts(product, side, instruction)
    product = _grouped(product, tiles, start, readers=count == 1)
    if place.warpgroup_unit and count == 1:
        boxes = _boxes(place, product)
        if boxes is not None:
            return _by_warpgroups(place, product, start, boxes), None
    parts = None if count == 1 else TermParts(count, _partial(product, count))
    by_words = instruction.groups > 0
    copied = tuple(copies_chunks(product, n, place.aligned, by_words) for n in (0, 1))
    tile = MatrixTile.of_side(side, copied, instruction)
    remark(product.space.op, f"the product uses tensor cores, in tiles of {side} rows and columns")
    ndrange = product.count(product.batch) * count, tiles[0], tiles[1] * tile.items
    with Kernel(place, product.space.op, ndrange, (1, 1, tile.items)) as kernel:
        MatrixProduct(ProductElements(kernel, product, start), tile, place.matrix_unit, parts).emit()
    if parts is None:
        return product.group.operations, None
    remark(product.space.op, f"its terms are summed in {count} parts, since the result has few tiles")
    return product.group.operations, reduction_of_parts(product.space, product.join, parts.memory, 0)


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
    sides = [each for each, _ in WARPGROUP_TILES]
    side = next((each for each in sides if _groups(product, each, each) >= FEWEST_GROUPS), sides[-1])
    tile = WarpgroupTile.of_side(side, -(-product.count(product.terms) // boxes[0].terms))
    tiles = _tiles(product, side, side)
    what = f"the product uses tensor cores, by subgroups in fours, in tiles of {side} rows and columns"
    remark(product.space.op, what)
    ndrange = product.count(product.batch), tiles[0], tiles[1] * ITEMS
    with Kernel(place, product.space.op, ndrange, (1, 1, ITEMS)) as kernel:
        WarpgroupProduct(ProductElements(kernel, product, start), tile, boxes).emit()
    return product.group.operations


def _parts(product: ProductSpace, side: int, instruction: MatrixInstruction) -> int:
    """Groups that each cell has: more than one where there would be few groups with many terms."""
    groups = _groups(product, side, side)
    if groups >= FEWEST_GROUPS:
        return 1
    return max(1, min(SPLIT_GROUPS // groups, steps_of(product, instruction) // FEWEST_SPLIT_STEPS))


def _partial(product: ProductSpace, count: int) -> ir.Value:
    """Memory for the sums of so many parts of the terms."""
    op, cells = product.space.op, math.prod(product.space.lengths[g] for g in product.space.parallel)
    with ir.InsertionPoint(op), op.location:
        return memref.AllocOp(ir.MemRefType.get([count, cells], product.join.kind), [], []).result


def _by_multiply_adds(
    place: KernelContext, product: ProductSpace, start: ir.Value | None
) -> list[ir.Operation]:
    """Each work-item has `each` times `each` cells."""
    sides = {r: PRODUCT_SIDE * r for r in (4, 2)}
    each = next((r for r, side in sides.items() if _groups(product, side, side) >= FEWEST_GROUPS), 1)
    tiles = _tiles(product, PRODUCT_SIDE * each, PRODUCT_SIDE * each)
    product = _grouped(product, tiles, start)
    ndrange = product.count(product.batch), tiles[0] * PRODUCT_SIDE, tiles[1] * PRODUCT_SIDE
    with Kernel(place, product.space.op, ndrange, (1, PRODUCT_SIDE, PRODUCT_SIDE)) as kernel:
        FmaProduct(ProductElements(kernel, product, start), each, vectors=place.aligned and each == 4).emit()
    return product.group.operations


def _tiles(product: ProductSpace, rows: int, columns: int) -> tuple[int, int]:
    """How many tiles of this size the result has, along its rows and its columns."""
    return -(-product.count(product.rows) // rows), -(-product.count(product.columns) // columns)


def _groups(product: ProductSpace, rows: int, columns: int) -> int:
    down, across = _tiles(product, rows, columns)
    return product.count(product.batch) * down * across


def _grouped(
    product: ProductSpace, tiles: tuple[int, int], start: ir.Value | None, readers: bool = True
) -> ProductSpace:
    """The product with what is computed with it, at the place of what reads its sums, where `readers` are to be."""
    reads = [FactorReads(times, from_memory=True) for times in reversed(tiles)]
    group = contraction_group(product.space, (reads[0], reads[1]), readers and start is not None)
    if not group.operations:
        return product
    if group.reader is not None:
        product.space.op.move_before(group.reader.op)
    apart = product_of(ungrouped(product.space))
    assert apart is not None, "dimensions stay what they are, one by one"
    return replace(apart, group=group)
