"""The function for a matrix times vectors from both sides: some rows at a time, which stay in the second cache.

Comes in: a `ProductPair` and what its sums start from. Goes out: a function and its call. Threads share parts of the
rows, as many as the sizes say; each part has sums along the rows of its own, added up in order at the end: the number
of threads changes no bit.

    both factors known:  a row's vectors are loaded once, for its own sum and for those along the rows
    one from the other:  the sums of some rows, while the rows before them are added up, from the cache
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.environment.machine import Cpu
from pykern.passes.analysis.cost_model.caches import LINE_BYTES
from pykern.passes.analysis.cost_model.threads import FACTOR_PART_BYTES, FACTOR_PARTS
from pykern.passes.analysis.reductions import combines
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.codegen.cpu.loop_nest.parts import join_parts
from pykern.passes.fusion.dual_matvec import ProductPair
from pykern.passes.ir.affine import DYNAMIC
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, least, plus, times
from pykern.passes.ir.loops import Counted, When, leave_alone, over_cells
from pykern.passes.ir.values import home
from pykern.passes.kernels import body, index_constant

Step = Callable[[Number, "list[ir.Value]"], "list[ir.Value]"]
"""What is done at a column with sums so far, and gives them."""


@dataclass
class DualMatvec:
    """Builds the function and its call."""

    place: NestContext
    pair: ProductPair
    starts: tuple[ir.Value | None, ir.Value | None]
    """What sums of rows, and those along the rows, start from where memory is not to be read."""
    cpu: Cpu
    team: bool

    def build(self, at: ir.Operation) -> None:
        """Before `at`, the later one of the two ops."""
        rows, columns = self.pair.rows, self.pair.columns
        self.length, self.width = rows.length, rows.terms
        self.lanes, self.many = self.cpu.lanes(rows.element.width), self.pair.rows_at_a_time(self.cpu.l2)
        self.kind = ir.VectorType.get([self.lanes], rows.element)
        size = rows.bytes
        wanted = (
            max(1, min(FACTOR_PARTS, size // FACTOR_PART_BYTES, self.length // self.many)) if self.team else 1
        )
        self.size = -(-self.length // (wanted * self.many)) * self.many
        self.count = -(-self.length // self.size)
        out = columns.out
        if self.count > 1:
            shape = [self.count, *ir.MemRefType(out.type).shape]
            with ir.InsertionPoint(at), at.location:
                out = memref.AllocOp(ir.MemRefType.get(shape, rows.element), [], []).result
        self.nest = Nest(self.place, at, self._outside(out), self.count, has_body=False)
        with self.nest.inside() as (lo, hi):
            self._function(lo, hi, self.nest.value(out))
        self.nest.call(self.team and self.count > 1)
        if self.count > 1:
            joins = combines(columns.op)
            assert joins is not None
            join_parts(self.place, at, joins, [out], [columns.out], [self.starts[1]])

    def _outside(self, out: ir.Value) -> list[ir.Value]:
        rows, columns = self.pair.rows, self.pair.columns
        found = [
            rows.vector,
            rows.matrix,
            rows.out,
            columns.vector,
            out,
            *(v for v in self.starts if v is not None),
        ]
        for op in self.pair.between:
            inner = [v for each in body(op).operations for v in each.operation.operands]
            found += [*op.operands, *(v for v in inner if _is_from_outside(v, op))]
        return list(dict.fromkeys(found))

    # -- the function ------------------------------------------------------------------------

    def _function(self, lo: ir.Value, hi: ir.Value, out: ir.Value) -> None:
        rows, inside = self.pair.rows, self.nest.value
        self.matrix = inside(rows.matrix)
        self.factors = (inside(rows.vector), inside(self.pair.columns.vector))
        self.sums = inside(rows.out)
        self.first = [None if v is None else inside(v) for v in self.starts]
        whole = self.length - self.length % self.many
        with Counted(lo, hi, 1) as part:
            self.out = out if self.count == 1 else self._part_of(out, part)
            zero = self.first[1] if self.count == 1 else constant(rows.element, 0)
            if zero is not None:
                over_cells([self.width], lambda at: memref.StoreOp(zero, self.out, at))
            begin = times(part, self.size)
            end = least(plus(begin, self.size), self.length)
            full = as_value(least(end, whole))
            if self.pair.dependent:
                with When(_greater(full, begin)):
                    self._staggered(begin, full)
            else:
                with Counted(as_value(begin), full, self.many) as row:
                    self._rows(row, self.many)
            if whole < self.length:
                with When(_greater(end, whole)):
                    self._rows(whole, self.length - whole)

    def _part_of(self, partial: ir.Value, number: ir.Value) -> ir.Value:
        kind = ir.MemRefType(partial.type)
        layout = ir.StridedLayoutAttr.get(DYNAMIC, [1])
        result = ir.MemRefType.get([self.width], kind.element_type, layout)
        return memref.subview(partial, [number, 0], [1, self.width], [1, 1], result_type=result)

    def _rows(self, begin: Number, many: int) -> None:
        """Some rows: their own sums, and what they add to those along the rows."""
        rows = _each(begin, many)
        if self.pair.dependent:
            factors = self._finish(rows, self._pass(rows))
            self._pass([], rows, factors)
        else:
            factors = [memref.LoadOp(self.factors[1], [as_value(row)]).result for row in rows]
            self._finish(rows, self._pass(rows, rows, factors))

    def _staggered(self, begin: Number, end: ir.Value) -> None:
        """Rows `begin..end`, some at a time: the sums of these, and what those before them add."""
        rows = _each(begin, self.many)
        factors = self._finish(rows, self._pass(rows))
        second = as_value(plus(begin, self.many))
        loop = scf.ForOp(second, end, index_constant(self.many), factors)
        with ir.InsertionPoint(loop.body):
            rows, before = (_each(plus(loop.induction_variable, n), self.many) for n in (0, -self.many))
            scf.YieldOp(self._finish(rows, self._pass(rows, before, list(loop.inner_iter_args))))
        self._pass([], _each(plus(end, -self.many), self.many), list(loop.results))

    def _finish(self, rows: list[Number], totals: list[ir.Value]) -> list[ir.Value]:
        """Sums into memory, and what is computed from them; gives the factors of the rows, where they follow."""
        factors = []
        for row, total in zip(map(as_value, rows), totals, strict=True):
            held = self.first[0] if self.first[0] is not None else memref.LoadOp(self.sums, [row]).result
            memref.StoreOp(arith.AddFOp(held, total).result, self.sums, [row])
            for op in self.pair.between:
                self._element(op, row)
            if self.pair.dependent:
                factors.append(memref.LoadOp(self.factors[1], [row]).result)
        return factors

    def _element(self, op: ir.Operation, row: ir.Value) -> None:
        """One element of an op over the rows."""
        block, inside = body(op), self.nest.value
        known: dict[ir.Value, ir.Value] = {}
        for argument, value in zip(block.arguments, op.operands, strict=True):
            is_memory = isinstance(value.type, ir.MemRefType)
            known[argument] = memref.LoadOp(inside(value), [row]).result if is_memory else inside(value)
        *ops, end = [o.operation for o in block.operations]

        def value_of(value: ir.Value) -> ir.Value:
            return known[value] if value in known else inside(value)

        for each in ops:
            made = each.clone()
            for n, operand in enumerate(each.operands):
                made.operands[n] = value_of(operand)
            known.update(zip(each.results, made.results, strict=True))
        memref.StoreOp(value_of(end.operands[0]), inside(list(op.operands)[-1]), [row])

    # -- a pass over some rows ---------------------------------------------------------------

    def _pass(
        self, rows: list[Number], along: Sequence[Number] = (), factors: Sequence[ir.Value] = ()
    ) -> list[ir.Value]:
        """Over all columns: the sums of `rows`, which it gives; rows `along` times their factors are added up."""
        p = self.pair.rows
        step = max(1, LINE_BYTES * 8 // (self.lanes * p.element.width)) * self.lanes
        wide = [vector.BroadcastOp(self.kind, f).result for f in factors]
        totals = [constant(self.kind, 0)] * len(rows)
        main, full = self.width - self.width % step, self.width - self.width % self.lanes

        def vectors(column: Number, totals: Sequence[ir.Value]) -> list[ir.Value]:
            return self._columns(column, self.kind, rows, totals, along, wide)

        def line(column: Number, totals: Sequence[ir.Value]) -> list[ir.Value]:
            for at in range(0, step, self.lanes):
                totals = vectors(plus(column, at), totals)
            return list(totals)

        totals = _loop(0, main, step, totals, line)
        totals = _loop(main, full, self.lanes, totals, vectors)
        add = ir.Attribute.parse("#vector.kind<add>")
        reassociated = ir.Attribute.parse("#arith.fastmath<reassoc>")
        totals = [vector.ReductionOp(p.element, add, t, fastmath=reassociated).result for t in totals]
        return _loop(
            full, self.width, 1, totals, lambda at, sums: self._columns(at, None, rows, sums, along, factors)
        )

    def _columns(
        self, column: Number, kind: ir.VectorType | None, rows: Sequence[Number], totals: Sequence[ir.Value],
        along: Sequence[Number], factors: Sequence[ir.Value],
    ) -> list[ir.Value]:  # fmt: skip
        """A vector of columns, or one of them."""
        place = as_value(column)
        elements: dict[int, ir.Value] = {}

        def element(row: Number) -> ir.Value:
            if id(row) not in elements:
                elements[id(row)] = _load(self.matrix, [as_value(row), place], kind)
            return elements[id(row)]

        made = list(totals)
        if rows:
            shared = _load(self.factors[0], [place], kind)
            made = [_multiply_add(t, element(row), shared) for t, row in zip(totals, rows, strict=True)]
        if along:
            total = _load(self.out, [place], kind)
            for row, factor in zip(along, factors, strict=True):
                total = _multiply_add(total, element(row), factor)
            store = memref.StoreOp if kind is None else vector.StoreOp
            store(total, self.out, [place])
        return made


def _loop(begin: int, end: int, step: int, carried: list[ir.Value], inside: Step) -> list[ir.Value]:
    """`inside` over columns, as a loop where there are several steps."""
    if end - begin <= step:
        return inside(begin, carried) if begin < end else carried
    loop = scf.ForOp(index_constant(begin), index_constant(end), index_constant(step), carried)
    leave_alone(loop.operation)
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(inside(loop.induction_variable, list(loop.inner_iter_args)))
    return list(loop.results)


def _each(begin: Number, many: int) -> list[Number]:
    return [plus(begin, n) for n in range(many)]


def _greater(a: Number, b: Number) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.sgt, as_value(a), as_value(b)).result


def _load(memory: ir.Value, place: list[ir.Value], kind: ir.VectorType | None) -> ir.Value:
    return memref.LoadOp(memory, place).result if kind is None else vector.LoadOp(kind, memory, place).result


def _multiply_add(total: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
    if isinstance(total.type, ir.VectorType):
        return vector.FMAOp(a, b, total).result
    contract = ir.Attribute.parse("#arith.fastmath<contract>")
    product = arith.MulFOp(a, b, fastmath=contract).result
    return arith.AddFOp(total, product, fastmath=contract).result


def _is_from_outside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value that the op's body uses is none of the body's."""
    return home(value) != body(op)
