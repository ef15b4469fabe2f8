"""Where a program multiplies one matrix with vectors from both sides, so that it can go by once: `A @ x` and `w @ A`.

Comes in: the ops of a program on buffers. Goes out: `ProductPair`s, whose ops may stand in one place. `w` may be
`A @ x` itself, or be computed from it element by element (`r = A @ x - b; r @ A`). Read next: `emit`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.space import space_of
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.codegen.cpu.contraction.schedule_contraction import scheduled_product
from pykern.passes.fusion.legality import between, may_swap, touches
from pykern.passes.ir.memory import is_dense, is_distinct, outputs_of, root_of
from pykern.passes.ir.structured import indexing_maps, reduces
from pykern.passes.kernels import find, identity


@dataclass(frozen=True)
class ProductPair:
    """`rows` is the product with a sum for each row of the matrix, `columns` the one with sums along the rows."""

    rows: Product
    columns: Product
    between: tuple[ir.Operation, ...]
    """Ops over the rows, in order, that read the sums of rows: what the factors of `columns` may be made by."""
    last: ir.Operation
    """The later one of the two."""

    @property
    def dependent(self) -> bool:
        """Whether the sums of rows must be there before rows are added up."""
        made = [self.rows.operand(2), *(list(op.operands)[-1] for op in self.between)]
        return root_of(self.columns.operand(0)) in map(root_of, made)

    @property
    def matrix(self) -> ir.Value:
        return self.rows.operand(1)


def pairs(operations: list[ir.Operation], least_bytes: int) -> Iterator[ProductPair]:
    """Those over matrices of at least `least_bytes`: smaller ones stay in a cache between two passes.

    Each is to be built before the next one is asked for: what lies between two products may be taken once.
    """
    if len(operations) < 2:
        return
    waiting: list[tuple[Product, bool]] = []
    for op in operations:
        product = _product(op)
        if product is None or _bytes(product) < least_bytes:
            continue
        is_rows = _of_rows(product)
        for n, (other, of_rows) in enumerate(waiting):
            if of_rows == is_rows or other.op.block != op.block:
                continue
            pair = _pair(other, product) if of_rows else _pair(product, other)
            if pair is not None:
                del waiting[n]
                yield pair
                break
        else:
            waiting.append((product, is_rows))


def _product(op: ir.Operation) -> Product | None:
    """A matrix times a vector, either way."""
    if op.name != "linalg.generic" or not all(map(is_dense, op.operands)):
        return None
    product = scheduled_product(space_of(op))
    if product is None or not isinstance(product.element, ir.FloatType) or product.permutation:
        return None
    if product.n != (product.lane,) or len(product.k) != 1 or product.m or product.batch:
        return None
    kinds = [ir.MemRefType(v.type) for v in op.operands]
    if any(kind.element_type != product.element for kind in kinds):
        return None
    ranks = [ir.MemRefType(product.operand(n).type).rank for n in range(3)]
    return product if ranks == [1, 2, 1] and 1 in product.strides(1) else None


def _of_rows(product: Product) -> bool:
    return product.strides(1)[product.k[0]] == 1


def _bytes(product: Product) -> int:
    return product.lengths[product.lane] * product.lengths[product.k[0]] * product.bits // 8


def _pair(rows: Product, columns: Product) -> ProductPair | None:
    [term], [row] = rows.k, columns.k
    if rows.operand(1) != columns.operand(1) or rows.lengths[rows.lane] != columns.lengths[row]:
        return None
    if (
        rows.strides(1)[rows.lane] != columns.strides(1)[row]
        or rows.lengths[term] != columns.lengths[columns.lane]
    ):
        return None
    values = [rows.operand(0), rows.operand(1), rows.operand(2), columns.operand(0), columns.operand(2)]
    roots = [root_of(v) for v in values]
    if not all(map(is_distinct, roots)):
        return None
    x, matrix, sums, factors, out = roots
    same = columns.operand(0) == rows.operand(2)
    if out in (x, matrix, sums, factors) or sums in (x, matrix) or (sums == factors and not same):
        return None
    block = [identity(o.operation) for o in rows.op.block.operations]
    early = sorted((rows, columns), key=lambda p: block.index(identity(p.op)))
    if same and early[0] is columns:  # whose factors are what the sums overwrite
        return None
    taken = _taken(rows, columns, early[0] is rows)
    return None if taken is None else ProductPair(rows, columns, taken, early[1].op)


def _taken(rows: Product, columns: Product, rows_first: bool) -> tuple[ir.Operation, ...] | None:
    """What has to be computed with them, so that both may stand where the later one does; None where they may not."""
    earlier, later = (rows, columns) if rows_first else (columns, rows)
    moved = touches(earlier.op)
    taken: list[ir.Operation] = []
    for op in between(earlier.op, later.op) or ():
        touched = touches(op)
        if not all(is_distinct(each.root) for each in touched):
            return None
        reads_it = any(each.root == made.root for each in touched for made in moved if made.written)
        if reads_it and rows_first and _is_over_rows(op, rows):
            taken.append(op)
            moved += touched
        elif not may_swap(moved, touched):
            return None
    fixed = [root_of(v) for v in (columns.operand(2), *list(rows.op.operands)[:2])]
    if any(root_of(list(op.operands)[-1]) in fixed for op in taken):
        return None
    return tuple(taken)


def _is_over_rows(op: ir.Operation, rows: Product) -> bool:
    """Whether the op computes one element a row from elements of that row and numbers, into memory of its own."""
    if op.name != "linalg.generic" or outputs_of(op) != 1 or reduces(op):
        return False
    length = rows.lengths[rows.lane]
    for value, one in zip(op.operands, indexing_maps(op), strict=True):
        if not isinstance(value.type, ir.MemRefType):
            continue
        kind = ir.MemRefType(value.type)
        if list(kind.shape) != [length] or one != ir.AffineMap.get_identity(1) or not is_dense(value):
            return False
    return not find(op, lambda o: o.name == "linalg.index" or bool(o.regions))
