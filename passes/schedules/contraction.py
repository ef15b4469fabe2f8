"""The body of a scheduled contraction, as a linalg.generic that says all of it.

Comes in: operands cut down to what is multiplied, the dimensions, what sums start from. Goes out: the op,
marked for `recipe` and `register_tile`. Where sums start from a value, the body takes that instead of memory at the
first term: the op means the same to every other pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.schedules.product import Product
from pykern.passes.schedules.recipe import PART
from pykern.passes.schedules.register_tile import MARK, mark


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
    product: Product | None = None
    """Whose conversions the factors need; None: they are converted."""
    part: int = 0

    def emit(self) -> ir.Operation:
        left, right, out = self.operands
        given = [v for v in (self.start, self.first) if v is not None]
        nothing = ir.AffineMap.get(self.dimensions, 0, [])
        inputs = [left, right, *given]
        kinds = [
            ir.Attribute.parse(f"#linalg.iterator_type<{'reduction' if d in self.terms else 'parallel'}>")
            for d in range(self.dimensions)
        ]
        maps = [self.maps[0], self.maps[1], *[nothing] * len(given), self.maps[2]]
        marks = dict(self.marks)
        if self.start is not None:
            marks["start"] = 2
            marks["first"] = 3 if self.first is not None else -1
        i64 = ir.IntegerType.get_signless(64)
        op = ir.Operation.create(
            "linalg.generic",
            operands=[*inputs, out],
            attributes={
                "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
                "iterator_types": ir.ArrayAttr.get(kinds),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), 1]),
                MARK: mark(**marks),
                PART: ir.IntegerAttr.get(i64, self.part),
            },
            regions=1,
        )
        block = op.regions[0].blocks.append(*map(element_of, [*inputs, out]))
        with ir.InsertionPoint(block):
            self._body(list(block.arguments))
        return op

    def _body(self, arguments: list[ir.Value]) -> None:
        a, b, *given, held = arguments
        if self.product is not None:
            a, b = self.product.converted(0, a), self.product.converted(1, b)
        if self.start is not None:
            held = arith.SelectOp(self._at_first(given[1:]), given[0], held).result
        is_float = isinstance(held.type, ir.FloatType)
        multiply, add = (arith.MulFOp, arith.AddFOp) if is_float else (arith.MulIOp, arith.AddIOp)
        total = add(held, multiply(a, b).result).result
        ir.Operation.create("linalg.yield", operands=[total])

    def _at_first(self, first: list[ir.Value]) -> ir.Value:
        zero = arith.ConstantOp(ir.IndexType.get(), 0).result
        found = list(first)
        for d in self.terms:
            number = linalg.IndexOp(ir.IntegerAttr.get(ir.IntegerType.get_signless(64), d)).result
            found.append(arith.CmpIOp(arith.CmpIPredicate.eq, number, zero).result)
        while len(found) > 1:
            found[:2] = [arith.AndIOp(found[0], found[1]).result]
        return found[0]


def element_of(value: ir.Value) -> ir.Type:
    kind = value.type
    return ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind
