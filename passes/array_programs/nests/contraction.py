"""Products of matrices as register tiles: a block of sums stays in vectors while a panel streams past.

Comes in: a linalg.generic `out[.., m, n] += a[.., m, k] * b[.., k, n]` on buffers, its operands as the new
function has them. Goes out: loops. `a` and `b` may lie in any order (transposed); dimensions that all
three have are batches.  The order of sums depends on the lengths alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.passes.array_programs.nests.emit import evaluate
from pykern.passes.array_programs.nests.space import Space
from pykern.passes.kernels import index_constant

VECTOR_BYTES = 64
ROWS = 6
"""Rows of a tile: with vectors of 64 bytes 12 registers of AVX2 hold the sums, 3 the operands."""
DEPTH = 256
"""Terms summed before they go to memory: a panel of `b` of that depth stays in the first cache."""
BLOCK_ROWS = 32 * ROWS
"""Rows of `a` that stay in the second cache while all panels of `b` go by."""
FEWEST = 8


@dataclass(frozen=True)
class Contraction:
    """Which dimension of the op is which."""

    space: Space
    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    left: int = 0
    """The operand that has `m`: the right one is at `1 - left`."""

    @property
    def lanes(self) -> int:
        return VECTOR_BYTES // (self.element.width // 8)

    @property
    def element(self) -> ir.FloatType:
        return ir.FloatType(ir.MemRefType(self.space.op.operands[2].type).element_type)

    def length(self, dimension: int) -> int:
        return self.space.lengths[self._group(dimension)]

    def _group(self, dimension: int) -> int:
        return next(n for n, group in enumerate(self.space.groups) if group == [dimension])

    @property
    def row_tiles(self) -> int:
        return -(-self.length(self.m) // ROWS)


def contraction_of(space: Space) -> Contraction | None:
    """The op as a product of matrices; None where it is none, or too small to be worth it."""
    if (
        len(space.op.operands) != 3
        or any(len(group) != 1 for group in space.groups)
        or not _multiplies(space.op)
    ):
        return None
    if not all(isinstance(v.type, ir.MemRefType) for v in space.op.operands):
        return None
    placed = []
    for m in space.maps:
        if not all(isinstance(e, ir.AffineDimExpr) for e in m.results):
            return None
        placed.append([e.position for e in m.results])
    a, b, out = placed
    dims = range(len(space.groups))
    batch = tuple(d for d in dims if d in a and d in b and d in out)
    m = [d for d in dims if d in a and d not in b and d in out]
    n = [d for d in dims if d in b and d not in a and d in out]
    k = [d for d in dims if d in a and d in b and d not in out]
    if (len(m), len(n), len(k)) != (1, 1, 1) or len(batch) + 3 != len(dims):
        return None
    found = Contraction(space, batch, m[0], n[0], k[0])
    if out[-1] == m[0]:  # the transposed product: its factors change places
        found = Contraction(space, batch, n[0], m[0], k[0], left=1)
    strides, _ = ir.MemRefType(space.op.operands[2].type).get_strides_and_offset()
    if out[-1] != found.n or strides[-1] != 1:
        return None
    large = found.length(found.m) >= ROWS and min(found.length(found.n), found.length(found.k)) >= FEWEST
    return found if large else None


def _multiplies(op: ir.Operation) -> bool:
    """Whether the body is `out + a * b` in f32 or f64."""
    block = op.regions[0].blocks[0]
    ops = [o.operation for o in block.operations]
    if [o.name for o in ops] != ["arith.mulf", "arith.addf", "linalg.yield"]:
        return False
    a, b, out = block.arguments
    product, total, end = ops
    right = set(product.operands) == {a, b} and set(total.operands) == {out, product.result}
    return right and end.operands[0] == total.result and isinstance(a.type, ir.F32Type | ir.F64Type)


@dataclass
class Tiles:
    """Emits the loops of a contraction for the row tiles `lo..hi`."""

    contraction: Contraction
    operands: list[ir.Value]
    initial: ir.Value | None

    def emit(self, lo: ir.Value, hi: ir.Value) -> None:
        c = self.contraction
        self.vector = ir.VectorType.get([c.lanes], c.element)
        first, last = times(lo, ROWS), least(times(hi, ROWS), c.length(c.m))
        kind = ir.MemRefType.get([DEPTH, c.lanes], c.element)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), VECTOR_BYTES)
        self.panel = memref.AllocaOp(kind, [], [], alignment=alignment).result
        edge = ir.MemRefType.get([c.lanes], c.element)
        self.edge = memref.AllocaOp(edge, [], [], alignment=alignment).result
        self._batches(list(c.batch), {}, first, last)

    def _batches(self, left: list[int], at: dict[int, ir.Value], first: ir.Value, last: ir.Value) -> None:
        if left:
            with Counted(index_constant(0), index_constant(self.contraction.length(left[0])), 1) as i:
                self._batches(left[1:], {**at, left[0]: i}, first, last)
            return
        self.at = at
        c = self.contraction
        if self.initial is not None:
            with (
                Counted(first, last, 1) as i,
                Counted(index_constant(0), index_constant(c.length(c.n)), 1) as j,
            ):
                memref.StoreOp(self.initial, self.operands[2], self._place(2, {c.m: i, c.n: j}))
        zero, depth, width = index_constant(0), index_constant(c.length(c.k)), index_constant(c.length(c.n))
        with (
            Counted(zero, depth, DEPTH) as k,
            Counted(first, last, BLOCK_ROWS) as i,
            Counted(zero, width, c.lanes) as j,
        ):
            terms = least(plus(k, DEPTH), c.length(c.k))
            columns = least(plus(j, c.lanes), c.length(c.n))
            self._pack(k, terms, j, columns)
            until = arith.MinSIOp(plus(i, BLOCK_ROWS), last).result
            count = arith.SubIOp(until, i).result
            whole = arith.SubIOp(until, arith.RemUIOp(count, index_constant(ROWS)).result).result
            with Counted(i, whole, ROWS) as row:
                self._tile(row, ROWS, k, terms, j, columns)
            with Counted(whole, until, 1) as row:
                self._tile(row, 1, k, terms, j, columns)

    def _place(self, operand: int, at: dict[int, ir.Value]) -> list[ir.Value]:
        dimensions = {**self.at, **at}
        return [evaluate(e, dimensions) for e in self.contraction.space.maps[operand].results]

    def _pack(self, k: ir.Value, terms: ir.Value, j: ir.Value, columns: ir.Value) -> None:
        """Columns j.. of `b`, depth k.., side by side; columns beyond the last are zeros."""
        c = self.contraction
        zero, count = index_constant(0), arith.SubIOp(columns, j).result
        with Counted(k, terms, 1) as row:
            depth = arith.SubIOp(row, k).result
            with Counted(zero, count, 1) as column:
                at = self._place(1 - c.left, {c.k: row, c.n: arith.AddIOp(j, column).result})
                memref.StoreOp(
                    memref.LoadOp(self.operands[1 - c.left], at).result,
                    self.panel,
                    [depth, column],
                )
            with Counted(count, index_constant(c.lanes), 1) as column:
                nothing = arith.ConstantOp(c.element, ir.FloatAttr.get(c.element, 0.0)).result
                memref.StoreOp(nothing, self.panel, [depth, column])

    def _tile(
        self, row: ir.Value, rows: int, k: ir.Value, terms: ir.Value, j: ir.Value, columns: ir.Value
    ) -> None:
        c = self.contraction
        numbers = [plus(row, r) for r in range(rows)]
        nothing = arith.ConstantOp(self.vector, ir.DenseElementsAttr.get_splat(
            self.vector, ir.FloatAttr.get(c.element, 0.0))).result  # fmt: skip
        loop = scf.ForOp(k, terms, index_constant(1), [nothing] * rows)
        with ir.InsertionPoint(loop.body):
            depth = arith.SubIOp(loop.induction_variable, k).result
            line = vector.LoadOp(self.vector, self.panel, [depth, index_constant(0)]).result
            sums = []
            for number, held in zip(numbers, loop.inner_iter_args, strict=True):
                element = memref.LoadOp(
                    self.operands[c.left], self._place(c.left, {c.m: number, c.k: loop.induction_variable})
                ).result
                wide = vector.BroadcastOp(self.vector, element).result
                sums.append(vector.FMAOp(wide, line, held).result)
            scf.YieldOp(sums)
        full = arith.CmpIOp(
            arith.CmpIPredicate.eq, arith.SubIOp(columns, j).result, index_constant(c.lanes)
        ).result
        branch = scf.IfOp(full, has_else=True)
        with ir.InsertionPoint(branch.then_block):
            for number, value in zip(numbers, loop.results, strict=True):
                at = self._place(2, {c.m: number, c.n: j})
                held = vector.LoadOp(self.vector, self.operands[2], at).result
                vector.StoreOp(arith.AddFOp(held, value).result, self.operands[2], at)
            scf.YieldOp([])
        with ir.InsertionPoint(branch.else_block):
            for number, value in zip(numbers, loop.results, strict=True):
                self._add_edge(number, value, j, columns)
            scf.YieldOp([])

    def _add_edge(self, number: ir.Value, value: ir.Value, j: ir.Value, columns: ir.Value) -> None:
        """The last columns, one by one."""
        c = self.contraction
        vector.StoreOp(value, self.edge, [index_constant(0)])
        with Counted(j, columns, 1) as column:
            at = self._place(2, {c.m: number, c.n: column})
            part = memref.LoadOp(self.edge, [arith.SubIOp(column, j).result]).result
            held = memref.LoadOp(self.operands[2], at).result
            memref.StoreOp(arith.AddFOp(held, part).result, self.operands[2], at)


class Counted:
    """`with Counted(lower, upper, step) as i`: an scf.for whose body is what is emitted inside."""

    def __init__(self, lower: ir.Value, upper: ir.Value, step: int) -> None:
        self.loop = scf.ForOp(lower, upper, index_constant(step))
        self.point = ir.InsertionPoint(self.loop.body)

    def __enter__(self) -> ir.Value:
        self.point.__enter__()
        return self.loop.induction_variable

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            scf.YieldOp([])
        self.point.__exit__(*error)


def times(value: ir.Value, factor: int) -> ir.Value:
    return arith.MulIOp(value, index_constant(factor)).result


def plus(value: ir.Value, offset: int) -> ir.Value:
    return arith.AddIOp(value, index_constant(offset)).result if offset else value


def least(value: ir.Value, limit: int) -> ir.Value:
    return arith.MinSIOp(value, index_constant(limit)).result
