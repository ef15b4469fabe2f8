"""Products of matrices: a group computes a tile of the result, terms come through shared memory a few at a time.

Comes in: a `ProductSpace` (`product_space`), and the instruction that the target has for small matrices. Goes out: a
kernel and its launch. Read next: `matrix_product` (tiles by such instructions) and `fma_product` (by multiply-adds).
"""

from __future__ import annotations

from dataclasses import replace

from mlir import ir

from pykern.passes.analysis.cost_model.devices import FEWEST_GROUPS, MATRIX_TILES, PRODUCT_SIDE
from pykern.passes.analysis.space import ungrouped
from pykern.passes.codegen.device.fma_product import FmaProduct
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.matrix_layout import MatrixTile
from pykern.passes.codegen.device.matrix_panel import copies_chunks
from pykern.passes.codegen.device.matrix_product import MatrixProduct, why_not
from pykern.passes.codegen.device.product_space import ProductElements, ProductSpace, product_of
from pykern.passes.fusion.contraction import FactorReads, contraction_group
from pykern.passes.remarks import remark


def launch_product(place: KernelContext, product: ProductSpace, start: ir.Value | None) -> list[ir.Operation]:
    """Make the kernel and launch it before the op. Gives what was computed with it, to be erased."""
    reason = why_not(product.space.op, place.matrix_unit)
    if reason is None:
        return _by_matrices(place, product, start)
    remark(product.space.op, f"the product does not use tensor cores: {reason}")
    return _by_multiply_adds(place, product, start)


def _by_matrices(place: KernelContext, product: ProductSpace, start: ir.Value | None) -> list[ir.Operation]:
    sides = [each for each, _, _ in MATRIX_TILES]
    side = next((each for each in sides if _groups(product, each, each) >= FEWEST_GROUPS), sides[-1])
    tiles = _tiles(product, side, side)
    product = _grouped(product, tiles, start)
    tile = MatrixTile.of_side(side, tuple(copies_chunks(product, n, place.aligned) for n in (0, 1)))
    remark(product.space.op, f"the product uses tensor cores, in tiles of {side} rows and columns")
    ndrange = product.count(product.batch), tiles[0], tiles[1] * tile.items
    with Kernel(place, product.space.op, ndrange, (1, 1, tile.items)) as kernel:
        MatrixProduct(ProductElements(kernel, product, start), tile).emit()
    return product.group.operations


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
        FmaProduct(ProductElements(kernel, product, start), each).emit()
    return product.group.operations


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
