"""The body of a scheduled contraction, as a linalg.generic that says all of it.

Comes in: operands cut down to what is multiplied, the dimensions, what sums start from. Goes out: the op,
marked for `apply_schedules` and `register_tile`. Where sums start from a value, the body takes that instead of memory
at the first term: the op means the same to every other pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.dialect import attributes as kern
from pykern.passes.analysis.masks import mark_needed
from pykern.passes.codegen.cpu.contraction.edges import Edges
from pykern.passes.codegen.cpu.contraction.narrow import Dot
from pykern.passes.codegen.cpu.contraction.needed import Condition, truth
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.codegen.cpu.contraction.register_tile import mark
from pykern.passes.fusion.readers import SumReader
from pykern.passes.ir.structured import generic


@dataclass
class Contraction:
    """One op. `maps` are those of left, right and out; `terms` the dimensions that are summed."""

    operands: list[ir.Value]
    maps: list[ir.AffineMap]
    dimensions: int
    terms: tuple[int, ...]
    marks: dict[str, int]
    start: ir.Value | None = None
    first: ir.Value | None = None
    """Whether these are the first terms (i1); None: they are."""
    product: Product | Dot | None = None
    """Whose conversions the factors need; None: they are converted."""
    feeds: tuple[list[tuple[ir.Value, ir.AffineMap]], ...] = ()
    """What the prologues of left and right need beside the factors, with maps."""
    needed: tuple[Condition, ...] = ()
    """Conditions of the cells of the result that are read later, as a mask has them; all cells without any."""
    edges: Edges | None = None
    """The edges, where tiles reach beyond the result; None: no tile does."""
    part: int = 0
    reader: SumReader | None = None
    reads: tuple[tuple[ir.Value, ir.AffineMap], ...] = ()
    """What the reader needs beside the sums, with maps; scalars with empty ones."""
    result: tuple[ir.Value, ir.AffineMap] | None = None
    """The operand that the reader writes."""
    last: ir.Value | None = None
    """Whether these are the last terms (i1); None: they are."""

    def emit(self) -> ir.Operation:
        left, right, out = self.operands
        nothing = ir.AffineMap.get(self.dimensions, 0, [])
        inputs = [(left, self.maps[0]), (right, self.maps[1])]
        outs = [(out, self.maps[2])]
        marks = dict(self.marks)
        if self.edges is not None:
            marks["clip"] = self.edges.mark
        for name, value in (("start", self.start), ("first", self.first), ("last", self.last)):
            marks[name] = -1
            if value is not None:
                marks[name] = len(inputs)
                inputs.append((value, nothing))
        self.fed = [len(inputs)]
        for each in self.feeds:
            inputs += each
            self.fed.append(len(inputs))
        self.given = len(inputs)
        if self.result is not None:
            marks["reads"] = len(inputs)
            inputs += self.reads
            outs.append(self.result)
        i64 = ir.IntegerType.get_signless(64)
        op = generic(
            [v for v, _ in inputs],
            [v for v, _ in outs],
            [m for _, m in (*inputs, *outs)],
            [d in self.terms for d in range(self.dimensions)],
            {kern.TILE: mark(**marks), kern.PART: ir.IntegerAttr.get(i64, self.part)},
        )
        mark_needed(op, [form for form, _ in self.needed])
        if isinstance(self.product, Dot):
            op.attributes[kern.DOT] = self.product.attribute()
        block = op.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            self._body(list(block.arguments))
        return op

    def _body(self, arguments: list[ir.Value]) -> None:
        a, b = arguments[:2]
        kept = held = arguments[-2 if self.result is not None else -1]
        if self.product is not None:
            a, b = self._factor(0, arguments), self._factor(1, arguments)
        if self.start is not None:
            held = arith.SelectOp(self._at_first(arguments), arguments[2], held).result
        is_float = isinstance(held.type, ir.FloatType)
        multiply, add = (arith.MulFOp, arith.AddFOp) if is_float else (arith.MulIOp, arith.AddIOp)
        total = add(held, multiply(a, b).result).result
        results = [total]
        if self.edges is not None:
            results = [arith.SelectOp(self.edges.truth(), total, kept).result]
        if self.needed:
            results = [arith.SelectOp(truth(self.needed), total, kept).result]
        if self.reader is not None:
            results.append(self.reader.emit(results[0], arguments[self.given : -2]))
        ir.Operation.create("linalg.yield", operands=results)

    def _factor(self, number: int, arguments: list[ir.Value]) -> ir.Value:
        """An element of left or right as it is multiplied."""
        value, product = arguments[number], self.product
        assert product is not None
        prologue = product.prologues[number] if isinstance(product, Product) else None
        if prologue is not None:
            begin = self.fed[number] if self.feeds else 0
            given = arguments[begin : begin + len(prologue.others)]
            given.insert(prologue.main, value)
            value = prologue.element(given)
        return product.converted(number, value)

    def _at_first(self, arguments: list[ir.Value]) -> ir.Value:
        zero = arith.ConstantOp(ir.IndexType.get(), 0).result
        found = [] if self.first is None else [arguments[3]]
        for d in self.terms:
            number = linalg.IndexOp(ir.IntegerAttr.get(ir.IntegerType.get_signless(64), d)).result
            found.append(arith.CmpIOp(arith.CmpIPredicate.eq, number, zero).result)
        while len(found) > 1:
            found[:2] = [arith.AndIOp(found[0], found[1]).result]
        return found[0]
