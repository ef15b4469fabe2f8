"""Sums under a mask, as an `if` over indices leaves them in a kernel: the sum, and the mask behind it.

Comes in: functions on tensors. Goes out: the same, where a product of matrices is a product again, marked with the
inequalities of the cells that are needed of it (`kern.needed`): triangles, bands, trapezoids, boxes. A mask of another
kind leaves the whole product to be computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.masks import dimensions_of, inequalities, mark_needed
from pykern.passes.framework import Pass
from pykern.passes.ir.affine import Sum
from pykern.passes.ir.lengths import empty_like
from pykern.passes.ir.structured import generic, indexing_maps, reduction_loops
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, named


@dataclass(frozen=True)
class UnmaskSums(Pass):
    """Take the mask out of a sum.

    In:  `out + (mask ? term : 0)` over reduction loops, where the mask is computed from indices of parallel loops.
    Out: `out + term`, marked `kern.needed`, and an elementwise op that takes what the sum started from where the
         mask fails. Terms that are sums themselves and may be reordered are one op each.
    """

    name: ClassVar[str] = "kern-unmask-sums"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "linalg.generic"):
            found = _masked(op)
            if found is not None:
                with op.location, ir.InsertionPoint(op):
                    _split(op, *found)


def _masked(op: ir.Operation) -> tuple[list[ir.Operation], ir.Value, list[Sum]] | None:
    """The products that are summed, the mask, and the inequalities that hold where it does."""
    kinds = reduction_loops(op)
    if not any(kinds) or len(op.results) != 1:
        return None
    block = body(op)
    total = made_by(list(block.operations)[-1].operation.operands[0], "arith.addf", "arith.addi")
    if total is None or total.operands[0] != block.arguments[len(block.arguments) - 1]:
        return None
    chosen = made_by(total.operands[1], "arith.select")
    if chosen is None or not _is_zero(chosen.operands[2]):
        return None
    mask, products = chosen.operands[0], _products(chosen.operands[1], block)
    wanted = inequalities(mask, len(kinds))
    if wanted is None or not products or any(kinds[d] for d in dimensions_of(mask)):
        return None
    return products, mask, wanted


def _is_zero(value: ir.Value) -> bool:
    constant = made_by(value, "arith.constant")
    return constant is not None and getattr(constant.attributes["value"], "value", 1) == 0


def _products(value: ir.Value, block: ir.Block) -> list[ir.Operation]:
    """Products of two arguments that a term is the sum of."""
    product = made_by(value, "arith.mulf", "arith.muli")
    if product is not None:
        arguments = list(block.arguments)
        return [product] if all(v in arguments for v in product.operands) else []
    total = made_by(value, "arith.addf", "arith.addi")
    if total is None or (total.name == "arith.addf" and "reassoc" not in str(total.attributes["fastmath"])):
        return []
    parts = [_products(v, block) for v in total.operands]
    return parts[0] + parts[1] if all(parts) else []


def _split(op: ir.Operation, products: list[ir.Operation], mask: ir.Value, wanted: list[Sum]) -> None:
    start = op.operands[len(op.operands) - 1]
    value = start
    for product in products:
        value = _contraction(op, product, value, wanted)
    op.results[0].replace_all_uses_with(_chosen(op, mask, value, start))
    op.erase()


def _contraction(op: ir.Operation, product: ir.Operation, out: ir.Value, wanted: list[Sum]) -> ir.Value:
    """One product's sum, without the mask."""
    arguments = list(body(op).arguments)
    numbers = [arguments.index(v) for v in product.operands]
    maps = indexing_maps(op)
    made = generic(
        [op.operands[n] for n in numbers],
        [out],
        [*(maps[n] for n in numbers), maps[-1]],
        reduction_loops(op),
    )
    mark_needed(made, wanted)
    block = body(made)
    with ir.InsertionPoint(block):
        a, b, held = block.arguments
        fast = {name: product.attributes[name] for name in product.attributes}
        term = ir.Operation.create(product.name, [a.type], [a, b], attributes=fast).results[0]
        add = product.name.replace("mul", "add")
        total = ir.Operation.create(add, [a.type], [held, term], attributes=fast).results[0]
        ir.Operation.create("linalg.yield", operands=[total])
    return made.results[0]


def _chosen(op: ir.Operation, mask: ir.Value, value: ir.Value, start: ir.Value) -> ir.Value:
    """The sum where the mask holds, else what it started from."""
    out = indexing_maps(op)[-1]
    kind = ir.RankedTensorType(value.type)
    places = {e.position: n for n, e in enumerate(ir.AffineDimExpr(e) for e in out.results)}
    identity = ir.AffineMap.get_identity(kind.rank)
    fill = made_by(start, "linalg.fill")
    read = [value] if fill is not None else [value, start]
    made = generic(read, [empty_like(value)], [identity] * (len(read) + 1), [False] * kind.rank)
    block = body(made)
    with ir.InsertionPoint(block):
        truth = _copied(mask, places)
        total, first = block.arguments[0], block.arguments[1] if fill is None else fill.operands[0]
        choice = ir.Operation.create("arith.select", [total.type], [truth, total, first]).results[0]
        ir.Operation.create("linalg.yield", operands=[choice])
    return made.results[0]


def _copied(value: ir.Value, places: dict[int, int]) -> ir.Value:
    """A mask again, where dimension `d` is number `places[d]`."""
    op = value.owner.operation
    attributes = {name: op.attributes[name] for name in op.attributes}
    if op.name == "linalg.index":
        number = places[ir.IntegerAttr(attributes["dim"]).value]
        attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
    operands = [_copied(v, places) for v in op.operands]
    return ir.Operation.create(op.name, [value.type], operands, attributes=attributes).results[0]
