"""What attention looks like in a program: `exp(t - max(t)) / sum(...)` between two products of matrices.

Comes in: a linalg.generic on tensors, the second product, before anything is fused. Goes out: `Attention`, or None.
`t` may be anything that is computed of the first product element by element: scaled, masked, biased, capped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir

from pykern.passes.array_programs.attention.operands import (
    Operand,
    composed,
    dims,
    is_elementwise,
    is_plain,
    operand,
    positions,
    producer,
    rank_of,
    through,
    within,
)
from pykern.passes.kernels import body, identity

FEWEST = 32
"""Queries and keys below which the matrix of scores is no burden."""


@dataclass(frozen=True)
class Attention:
    """Dimensions of everything: batches, query, key, depth (of queries and keys), width (of values).

    `last` is the op whose result it all is, `top` the scores as the softmax takes them, `product` the op that
    multiplies queries and keys.
    """

    last: ir.Operation
    top: ir.Value
    product: ir.Operation
    query: Operand
    keys: Operand
    values: Operand
    batches: tuple[int, ...]
    queries: int
    count: int
    depth: int
    width: int

    @property
    def rank(self) -> int:
        """Dimensions of the scores."""
        return len(self.batches) + 2

    @property
    def element(self) -> ir.FloatType:
        return ir.FloatType(ir.RankedTensorType(self.last.results[0].type).element_type)


def attention_of(op: ir.Operation) -> Attention | None:
    """The attention whose result `op` gives."""
    rank = rank_of(op) - 1 if op.name == "linalg.generic" else 0
    outside = _product(op)
    if outside is None or rank < 2:
        return None
    for weights, values in (outside, outside[::-1]):
        if weights.at != dims(*range(rank - 1), rank) or not _is_matrix(values, rank, rank - 1, rank - 2):
            continue
        found = _softmax(weights.value, rank)
        if found is None:
            continue
        top, members = found
        product = _scores(top, rank, members)
        if product is None or any(_escapes(each, members, op) for each in members):
            continue
        return _described(op, top, product, values, rank)
    return None


def _described(
    op: ir.Operation, top: ir.Value, product: ir.Operation, values: Operand, rank: int
) -> Attention | None:
    inside = _product(product)
    assert inside is not None
    for query, keys in (inside, inside[::-1]):
        # dimensions of the product: batches, query, key, depth
        if _is_matrix(query, rank, rank - 2, rank - 1) and _is_matrix(keys, rank, rank - 1, rank - 2):
            break
    else:
        return None
    *batches, queries, count = ir.RankedTensorType(top.type).shape
    width = ir.RankedTensorType(op.results[0].type).shape[-1]
    depth = _length(query, rank)
    if min(queries, count) < FEWEST or not depth or not width or not math.prod(batches):
        return None
    # common dimensions: batches, query, key, depth, width
    value_at = composed(
        values.at,
        {**_same(rank - 2), rank - 1: dims(rank + 1)[0], rank: dims(rank - 1)[0]},
    )
    return Attention(
        op, top, product, through(query), through(keys), through(Operand(values.value, value_at)),
        tuple(batches), queries, count, depth, width,
    )  # fmt: skip


def _same(count: int) -> dict[int, ir.AffineExpr]:
    return {n: dims(n)[0] for n in range(count)}


def _length(read: Operand, dimension: int) -> int:
    shape = ir.RankedTensorType(read.value.type).shape
    return next(n for n, e in zip(shape, read.at, strict=True) if e == dims(dimension)[0])


def _product(op: ir.Operation | None) -> tuple[Operand, Operand] | None:
    """The factors of a sum of products over the last dimension that starts from 0, in f32 or f64."""
    if op is None or op.name != "linalg.generic" or len(op.operands) != 3 or len(op.results) != 1:
        return None
    rank = rank_of(op) - 1
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    if ["reduction" in kind for kind in kinds] != [False] * rank + [True]:
        return None
    ops = [o.operation for o in body(op).operations]
    if [o.name for o in ops] != ["arith.mulf", "arith.addf", "linalg.yield"]:
        return None
    a, b, out = body(op).arguments
    multiplied, total, end = ops
    right = {*multiplied.operands} == {a, b} and {*total.operands} == {out, multiplied.results[0]}
    if not right or end.operands[0] != total.results[0] or not isinstance(a.type, ir.F32Type | ir.F64Type):
        return None
    if operand(op, 2).at != dims(*range(rank)) or not _starts_from(op.operands[2], 0.0):
        return None
    found = operand(op, 0), operand(op, 1)
    return found if all(is_plain(each.at) for each in found) else None


def _is_matrix(read: Operand, first: int, second: int, without: int) -> bool:
    found = positions(read.at)
    return first in found and second in found and without not in found


def _starts_from(value: ir.Value, number: float) -> bool:
    """Whether a tensor is filled with a number."""
    op = producer(value)
    if op is None or op.name not in ("linalg.generic", "linalg.fill") or len(op.operands) != 2:
        return False
    filled = producer(op.operands[0])
    if filled is None or filled.name != "arith.constant" or not isinstance(op.operands[0].type, ir.FloatType):
        return False
    return ir.FloatAttr(filled.attributes["value"]).value == number


def _single(value: ir.Value, name: str) -> list[Operand] | None:
    """What the one op of an elementwise generic takes."""
    op = producer(value)
    if op is None or not is_elementwise(op):
        return None
    inside = [o.operation for o in body(op).operations]
    if len(inside) != 2 or inside[0].name != name or inside[1].operands[0] != inside[0].results[0]:
        return None
    arguments = list(body(op).arguments)
    if any(v not in arguments for v in inside[0].operands):
        return None
    known = within(op, dims(*range(rank_of(op))))
    reads = [operand(op, arguments.index(v)) for v in inside[0].operands]
    return [Operand(r.value, composed(r.at, known)) for r in reads]


def _softmax(weights: ir.Value, rank: int) -> tuple[ir.Value, list[ir.Value]] | None:
    """The scores of a softmax over the last dimension, and the tensors on the way."""
    everywhere, rows = dims(*range(rank)), dims(*range(rank - 1))
    quotient = _single(weights, "arith.divf")
    if quotient is None or quotient[0].at != everywhere or through(quotient[1]).at != rows:
        return None
    exponentials, total = quotient[0].value, through(quotient[1]).value
    power = _single(exponentials, "math.exp")
    difference = _single(power[0].value, "arith.subf") if power and power[0].at == everywhere else None
    if power is None or difference is None or difference[0].at != everywhere:
        return None
    top, largest = difference[0].value, through(difference[1])
    if largest.at != rows or _reduced(largest.value, "arith.maximumf", -math.inf) != top:
        return None
    if _reduced(total, "arith.addf", 0.0) != exponentials:
        return None
    return top, [weights, exponentials, power[0].value, top, largest.value, total]


def _reduced(value: ir.Value, name: str, start: float) -> ir.Value | None:
    """The tensor whose last dimension is reduced."""
    op = producer(value)
    if op is None or op.name != "linalg.generic" or len(op.operands) != 2 or len(op.results) != 1:
        return None
    rank = rank_of(op)
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    if ["reduction" in kind for kind in kinds] != [False] * (rank - 1) + [True]:
        return None
    inside = [o.operation for o in body(op).operations]
    if len(inside) != 2 or inside[0].name != name or {*inside[0].operands} != {*body(op).arguments}:
        return None
    maps = operand(op, 0).at == dims(*range(rank)) and operand(op, 1).at == dims(*range(rank - 1))
    return op.operands[0] if maps and _starts_from(op.operands[1], start) else None


def _scores(value: ir.Value, rank: int, members: list[ir.Value]) -> ir.Operation | None:
    """The product that `value` comes of, element by element; adds the tensors on the way to `members`."""
    op = producer(value)
    if _product(op) is not None and op is not None and rank_of(op) == rank + 1:
        return op
    if op is None or not is_elementwise(op) or rank_of(op) != rank:
        return None
    found: ir.Operation | None = None
    for number in range(len(op.operands) - 1):
        read = operand(op, number)
        if not isinstance(read.value.type, ir.RankedTensorType):
            continue
        if composed(read.at, within(op, dims(*range(rank)))) != dims(*range(rank)):
            continue
        inner = _scores(read.value, rank, members)
        if inner is not None:
            if found is not None and identity(found) != identity(inner):
                return None  # of two products
            found = inner
            members.append(read.value)
    return found


def _escapes(value: ir.Value, members: list[ir.Value], last: ir.Operation) -> bool:
    """Whether somebody else needs a tensor that will not be there."""
    inside = {identity(value.owner.operation) for value in members} | {identity(last)}
    return any(identity(use.owner.operation) not in inside for use in value.uses)
