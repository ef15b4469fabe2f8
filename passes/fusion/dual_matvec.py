"""Where a program multiplies one matrix with vectors from both sides, so that it can go by once: `A @ x` and `w @ A`.

Comes in: the ops of a program on buffers, and the sizes of caches. Goes out: `ProductPair`s, whose ops may
stand in one place. `w` may be `A @ x` itself, or be computed from it element by element (`r = A @ x - b; r @ A`). Read
next: `codegen/cpu/dual_matvec`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.caches import LAST_CACHE_SHARE
from pykern.passes.analysis.cost_model.lengths import FEWEST_LANES
from pykern.passes.analysis.cost_model.registers import MATVEC_ROWS
from pykern.passes.fusion.legality import between, may_swap, touches
from pykern.passes.ir.memory import is_dense, is_distinct, outputs_of, root_of
from pykern.passes.ir.structured import indexing_maps, loop_lengths, reduces, reduction_loops
from pykern.passes.kernels import find, identity
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class MatvecOp:
    """A product of a matrix and a vector, all of them dense."""

    op: ir.Operation
    vector: ir.Value
    matrix: ir.Value
    length: int
    """Of the result."""
    terms: int
    is_by_rows: bool
    """Whether the terms of a sum lie side by side in the matrix."""

    @property
    def out(self) -> ir.Value:
        return self.op.operands[2]

    @property
    def element(self) -> ir.FloatType:
        return ir.FloatType(ir.MemRefType(self.out.type).element_type)

    @property
    def bytes(self) -> int:
        """Of the matrix."""
        return self.length * self.terms * self.element.width // 8


@dataclass(frozen=True)
class ProductPair:
    """`rows` is the product with a sum for each row of the matrix, `columns` the one with sums along the rows."""

    rows: MatvecOp
    columns: MatvecOp
    between: tuple[ir.Operation, ...]
    """Ops over the rows, in order, that read the sums of rows: what the factors of `columns` may be made by."""
    last: ir.Operation
    """The later one of the two."""

    @property
    def dependent(self) -> bool:
        """Whether the sums of rows must be there before rows are added up."""
        made = [self.rows.out, *(list(op.operands)[-1] for op in self.between)]
        return root_of(self.columns.vector) in map(root_of, made)

    def is_profitable(self, second_cache: int, last_cache: int) -> bool:
        """Whether to read the matrix once saves more than it costs: where both products are computed at once, two rows'
        loads serve both. Where rows are added up after their sums, they are read again from the second cache."""
        if not self.dependent:
            return self.rows.bytes >= second_cache
        is_large = self.rows.bytes * LAST_CACHE_SHARE >= last_cache
        return is_large and self.rows_at_a_time(second_cache) > 0

    def rows_at_a_time(self, cache_bytes: int) -> int:
        """Rows that stay in half of a cache where they are read twice; 0 where not even one does."""
        line = self.rows.terms * self.rows.element.width // 8
        most = MATVEC_ROWS if not self.dependent else min(MATVEC_ROWS, cache_bytes // 2 // line)
        return min(most, self.rows.length)


def pairs(operations: list[ir.Operation], second_cache: int, last_cache: int) -> Iterator[ProductPair]:
    """Those over matrices that do not stay in a cache between two passes.

    Each is to be built before the next one is asked for: what lies between two products may be taken once.
    """
    if len(operations) < 2:
        return
    waiting: list[MatvecOp] = []
    for op in operations:
        product = matrix_vector(op)
        if product is None:
            continue
        for n, other in enumerate(waiting):
            if other.is_by_rows == product.is_by_rows or other.op.block != op.block:
                continue
            pair = _pair(other, product) if other.is_by_rows else _pair(product, other)
            if pair is not None:
                del waiting[n]
                if pair.is_profitable(second_cache, last_cache):
                    remark(pair.last, "the matrix goes by once for products with vectors from both sides")
                    yield pair
                break
        else:
            waiting.append(product)


def matrix_vector(op: ir.Operation) -> MatvecOp | None:
    """The op as a matrix times a vector, either way, in f32 or f64."""
    if op.name != "linalg.generic" or not all(map(is_dense, op.operands)) or len(op.operands) != 3:
        return None
    if not all(isinstance(v.type, ir.MemRefType) for v in op.operands) or not multiplies(op):
        return None
    maps, kinds = indexing_maps(op), [ir.MemRefType(v.type) for v in op.operands]
    element = kinds[2].element_type
    same = all(kind.element_type == element for kind in kinds)
    if not same or not isinstance(element, ir.F32Type | ir.F64Type):
        return None
    matrix = 0 if kinds[0].rank == 2 else 1
    ranks = [kinds[1 - matrix].rank, kinds[matrix].rank, kinds[2].rank]
    if ranks != [1, 2, 1] or not all(isinstance(e, ir.AffineDimExpr) for one in maps for e in one.results):
        return None
    at = [[ir.AffineDimExpr(e).position for e in one.results] for one in maps]
    [row], [term] = at[2], at[1 - matrix]
    if {*at[matrix]} != {row, term} or reduction_loops(op) != [d == term for d in range(2)]:
        return None
    lengths = loop_lengths(op)
    if lengths[row] < FEWEST_LANES or not lengths[term]:
        return None
    vector, factor = op.operands[1 - matrix], op.operands[matrix]
    return MatvecOp(op, vector, factor, lengths[row], lengths[term], at[matrix][1] == term)


def _pair(rows: MatvecOp, columns: MatvecOp) -> ProductPair | None:
    if rows.matrix != columns.matrix:
        return None
    values = [rows.vector, rows.matrix, rows.out, columns.vector, columns.out]
    roots = [root_of(v) for v in values]
    if not all(map(is_distinct, roots)):
        return None
    x, matrix, sums, factors, out = roots
    same = columns.vector == rows.out
    if out in (x, matrix, sums, factors) or sums in (x, matrix) or (sums == factors and not same):
        return None
    block = [identity(o.operation) for o in rows.op.block.operations]
    early = sorted((rows, columns), key=lambda p: block.index(identity(p.op)))
    if same and early[0] is columns:  # whose factors are what the sums overwrite
        return None
    taken = _taken(rows, columns, early[0] is rows)
    return None if taken is None else ProductPair(rows, columns, taken, early[1].op)


def _taken(rows: MatvecOp, columns: MatvecOp, rows_first: bool) -> tuple[ir.Operation, ...] | None:
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
    fixed = [root_of(v) for v in (columns.out, *list(rows.op.operands)[:2])]
    if any(root_of(list(op.operands)[-1]) in fixed for op in taken):
        return None
    return tuple(taken)


def _is_over_rows(op: ir.Operation, rows: MatvecOp) -> bool:
    """Whether the op computes one element a row from elements of that row and numbers, into memory of its own."""
    if op.name != "linalg.generic" or outputs_of(op) != 1 or reduces(op):
        return False
    length = rows.length
    for value, one in zip(op.operands, indexing_maps(op), strict=True):
        if not isinstance(value.type, ir.MemRefType):
            continue
        kind = ir.MemRefType(value.type)
        if list(kind.shape) != [length] or one != ir.AffineMap.get_identity(1) or not is_dense(value):
            return False
    return not find(op, lambda o: o.name == "linalg.index" or bool(o.regions))
