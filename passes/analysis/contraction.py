"""What a contraction is, for the CPU and for devices.

Comes in: a `linalg.generic` of two inputs and an output. Goes out: whether it adds up products of the two, which may be
converted before, that conversion, and which of its dimensions are rows, columns and terms.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.structured import indexing_maps, loop_lengths, reduction_loops
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body

CONVERSIONS = {"arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp"}
"""The conversions that an element of a factor may go through before it is multiplied."""


@dataclass(frozen=True)
class ProductDimensions:
    """Dimensions by what has them: both factors and the result, one factor and the result, the result alone, or both
    factors."""

    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    repeated: tuple[int, ...]
    terms: tuple[int, ...]


def product_dimensions(
    left: Collection[int], right: Collection[int], out: Collection[int], reductions: Sequence[bool]
) -> ProductDimensions | None:
    """The dimensions of a contraction; None where a sum goes over a dimension of the result or of one factor alone."""
    every = range(len(reductions))
    if any(reductions[d] == (d in out) or not (d in out or (d in left and d in right)) for d in every):
        return None
    return ProductDimensions(
        tuple(d for d in every if d in left and d in right and d in out),
        tuple(d for d in every if d in left and d not in right),
        tuple(d for d in every if d in right and d not in left),
        tuple(d for d in every if d not in left and d not in right),
        tuple(d for d in every if d not in out),
    )


def shape_of_product(op: ir.Operation) -> tuple[int, int, int] | None:
    """How many rows, columns and terms a product has whose indices are dimensions; None for any other op."""
    maps = indexing_maps(op)
    if len(maps) != 3 or len(body(op).arguments) != 3 or not multiplies(op):
        return None
    if not all(isinstance(e, ir.AffineDimExpr) for one in maps for e in one.results):
        return None
    held = [{ir.AffineDimExpr(e).position for e in one.results} for one in maps]
    found = product_dimensions(held[0], held[1], held[2], reduction_loops(op))
    if found is None or found.repeated:
        return None
    lengths = loop_lengths(op)
    rows, columns, terms = (
        math.prod(lengths[d] for d in g) for g in (found.rows, found.columns, found.terms)
    )
    return rows, columns, terms


def multiplies(op: ir.Operation) -> bool:
    """Whether the body is `out + convert(a) * convert(b)`."""
    block = body(op)
    if len(block.arguments) != 3:
        return False
    *ops, end = [o.operation for o in block.operations]
    if len(ops) < 2 or end.name != "linalg.yield":
        return False
    *conversions, product, total = ops
    if product.name not in ("arith.mulf", "arith.muli") or total.name != product.name.replace("mul", "add"):
        return False
    if any(o.name not in CONVERSIONS for o in conversions):
        return False
    a, b, out = block.arguments
    sources = [_source(v) for v in product.operands]
    pairs = sources in ([a, b], [b, a])
    sums = set(total.operands) == {out, product.results[0]}
    return pairs and sums and end.operands[0] == total.results[0] and a != b


def convert(op: ir.Operation, operand: int, value: ir.Value) -> ir.Value:
    """Emit the conversions of the product's body for one element of an operand, or for a vector of elements."""
    use = _use(body(op).arguments[operand])
    while use.name in CONVERSIONS:
        kind = use.results[0].type
        if isinstance(value.type, ir.VectorType):
            kind = ir.VectorType.get(list(ir.VectorType(value.type).shape), kind)
        value = ir.Operation.create(use.name, [kind], [value]).results[0]
        use = _use(use.results[0])
    return value


def _use(value: ir.Value) -> ir.Operation:
    return next(iter(value.uses)).owner.operation


def _source(value: ir.Value) -> ir.Value:
    """The block argument that a value is a conversion of."""
    while (view := made_by(value, *CONVERSIONS)) is not None:
        value = view.operands[0]
    return value
