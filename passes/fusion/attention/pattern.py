"""What attention looks like in a program: `exp(t - max(t)) / sum(...)` between two products of matrices.

Comes in: a linalg.generic on tensors, the second product or what divides it, before anything is fused. Goes out:
`Attention`, or None. `t` may be anything that is computed of the first product element by element: scaled, masked,
biased, capped. The maximum may be missing; the sum may divide before the second product, as a factor or as a divisor,
or behind it; factors may be f16 or bf16. Read next: `softmax`, which finds the sum and the powers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.cost_model.lengths import FEWEST_SCORES
from pykern.passes.fusion.attention.softmax import (
    Softmax,
    divided_product,
    narrow,
    powers,
    softmax,
    starts_from,
    unconverted,
    unwidened,
)
from pykern.passes.ir.elements import Operand, composed, dims, is_plain, operand, positions, within
from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.structured import is_elementwise, loop_count, reduction_loops
from pykern.passes.ir.values import defining
from pykern.passes.kernels import body, identity


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
    weights: ir.Type
    """The type of what the program multiplies values with: it may be narrower than that of the sums."""
    shifted: bool
    """Whether the largest score is taken off before exp."""

    @property
    def rank(self) -> int:
        """Dimensions of the scores."""
        return len(self.batches) + 2

    @property
    def element(self) -> ir.FloatType:
        """The type of the sums; the result may be narrower."""
        return ir.FloatType(ir.RankedTensorType(self.product.results[0].type).element_type)


def attention_of(op: ir.Operation) -> Attention | None:
    """The attention whose result `op` gives."""
    divided = divided_product(op)
    product, total, between = (op, None, ()) if divided is None else divided
    rank = loop_count(product) - 1 if product.name == "linalg.generic" else 0
    outside = _product(product)
    if outside is None or rank < 2:
        return None
    for weights, values in (outside, outside[::-1]):
        if weights.at != dims(*range(rank - 1), rank) or not _is_matrix(values, rank, rank - 1, rank - 2):
            continue
        exact, converted = unconverted(weights)  # they may be rounded before they are multiplied
        if exact.at != weights.at:
            continue
        found = softmax(exact.value, rank) if total is None else powers(exact.value, total, rank)
        if found is None:
            continue
        members = [*found.members, *converted, *between]
        scores = _scores(found.top, rank, members)
        if scores is None:
            continue
        inside = {identity(each.owner.operation) for each in members} | {identity(op)}
        if any(_escapes(each, inside) for each in members):
            continue
        element = ir.RankedTensorType(unwidened(weights).value.type).element_type
        return _described(op, found, scores, values, element, rank)
    return None


def _described(
    op: ir.Operation, found: Softmax, product: ir.Operation, values: Operand, weights: ir.Type, rank: int
) -> Attention | None:
    top = found.top
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
    if min(queries, count) < FEWEST_SCORES or not depth or not width or not math.prod(batches):
        return None
    # common dimensions: batches, query, key, depth, width
    value_at = composed(
        values.at,
        {**_same(rank - 2), rank - 1: dims(rank + 1)[0], rank: dims(rank - 1)[0]},
    )
    return Attention(
        op, top, product, unwidened(query), unwidened(keys), unwidened(Operand(values.value, value_at)),
        tuple(batches), queries, count, depth, width, weights, found.shifted,
    )  # fmt: skip


def _same(count: int) -> dict[int, ir.AffineExpr]:
    return {n: dims(n)[0] for n in range(count)}


def _length(read: Operand, dimension: int) -> int:
    shape = ir.RankedTensorType(read.value.type).shape
    return next(n for n, e in zip(shape, read.at, strict=True) if e == dims(dimension)[0])


def _product(op: ir.Operation | None) -> tuple[Operand, Operand] | None:
    """The factors of a sum of products over the last dimension that starts from 0, in f32 or f64; factors may be
    narrower."""
    if op is None or op.name != "linalg.generic" or len(op.operands) != 3 or len(op.results) != 1:
        return None
    rank = loop_count(op) - 1
    if reduction_loops(op) != [False] * rank + [True]:
        return None
    *conversions, multiplied, total, end = [None, None, *(o.operation for o in body(op).operations)]
    if multiplied is None or multiplied.name != "arith.mulf" or total is None or total.name != "arith.addf":
        return None
    if any(o is not None and o.name != "arith.extf" for o in conversions):
        return None
    a, b, out = body(op).arguments
    right = {*map(narrow, multiplied.operands)} == {a, b} and {*total.operands} == {
        out,
        multiplied.results[0],
    }
    if not right or end.operands[0] != total.results[0] or not isinstance(out.type, ir.F32Type | ir.F64Type):
        return None
    if operand(op, 2).at != dims(*range(rank)) or not starts_from(op.operands[2], 0.0):
        return None
    found = operand(op, 0), operand(op, 1)
    return found if all(is_plain(each.at) for each in found) else None


def _is_matrix(read: Operand, first: int, second: int, without: int) -> bool:
    found = positions(read.at)
    return first in found and second in found and without not in found


def _scores(value: ir.Value, rank: int, members: list[ir.Value]) -> ir.Operation | None:
    """The product that `value` comes of, element by element; adds the tensors on the way to `members`."""
    op = defining(value)
    if _product(op) is not None and op is not None and loop_count(op) == rank + 1:
        return op
    if op is None or not is_elementwise(op, indices=True) or loop_count(op) != rank:
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


def _escapes(value: ir.Value, inside: set[int]) -> bool:
    """Whether somebody else needs a tensor that will not be there."""
    for use in value.uses:
        op = use.owner.operation
        if identity(op) in inside:
            continue
        if op.name not in TENSOR_RESHAPES or _escapes(op.results[0], inside):
            return True
    return False
