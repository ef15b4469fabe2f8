"""A softmax over the last dimension, in the forms in which programs have it.

Comes in: the weights of a sum, or the powers and what divides the sum of them. Goes out: `Softmax`, or None. Where
numbers are f16 or bf16, conversions stand between the operations; they are looked through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.elements import Operand, composed, dims, operand, through, within
from pykern.passes.ir.structured import is_elementwise, loop_count, reduction_loops
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import body

CONVERSIONS = ("arith.extf", "arith.truncf")


@dataclass(frozen=True)
class Softmax:
    """The scores, the tensors on the way from them, and whether their maximum is taken off first."""

    top: ir.Value
    members: tuple[ir.Value, ...]
    shifted: bool


def softmax(weights: ir.Value, rank: int) -> Softmax | None:
    """`e / sum(e)`, or `e * (1 / sum(e))`, with `e` as `powers` knows it."""
    quotient, inverse = single(weights, "arith.divf"), None
    if quotient is None:
        quotient, inverse = _times_inverse(weights)
    if quotient is None or quotient[0].at != dims(*range(rank)):
        return None
    found = powers(quotient[0].value, quotient[1], rank)
    if found is None:
        return None
    more = (weights,) if inverse is None else (weights, inverse)
    return Softmax(found.top, (*more, *found.members), found.shifted)


def powers(exponentials: ir.Value, divisor: Operand, rank: int) -> Softmax | None:
    """`exp(t - max(t))` or `exp(t)`, where `divisor` is their sum."""
    everywhere, rows = dims(*range(rank)), dims(*range(rank - 1))
    total, converted = unconverted(divisor)
    if total.at != rows or reduced(total.value, "arith.addf", 0.0) != exponentials:
        return None
    power = single(exponentials, "math.exp")
    if power is None or power[0].at != everywhere:
        return None
    members = (exponentials, power[0].value, total.value, *converted)
    difference = single(power[0].value, "arith.subf")
    if difference is not None and difference[0].at == everywhere:
        top, largest = difference[0].value, through(difference[1])
        if largest.at == rows and reduced(largest.value, "arith.maximumf", -math.inf) == top:
            return Softmax(top, (*members, top, largest.value), True)
    return Softmax(power[0].value, members, False)


def divided_product(op: ir.Operation) -> tuple[ir.Operation, Operand, tuple[ir.Value, ...]] | None:
    """`product / total`: the op that makes what is divided, the divisor, over the dimensions of the result, and the
    tensors between the two ops."""
    if op.name != "linalg.generic" or len(op.results) != 1:
        return None
    quotient = single(op.results[0], "arith.divf")
    if quotient is None or quotient[0].at != dims(*range(loop_count(op))):
        return None
    divided, converted = unconverted(quotient[0])
    product = defining(divided.value)
    if product is None or divided.at != dims(*range(loop_count(op))):
        return None
    return product, quotient[1], (divided.value, *converted)


def narrow(value: ir.Value) -> ir.Value:
    """The value before it was converted."""
    op = defining(value)
    return op.operands[0] if op is not None and op.name == "arith.extf" else value


def unwidened(read: Operand) -> Operand:
    """The same elements before they were widened, transposed or reshaped."""
    read = through(read)
    found = single(read.value, "arith.extf")
    return read if found is None else unwidened(found[0].seen_from(read.at))


def starts_from(value: ir.Value, *numbers: float) -> bool:
    """Whether a tensor is filled with one of the numbers."""
    op = made_by(value, "linalg.generic", "linalg.fill")
    if op is None or len(op.operands) != 2:
        return False
    return _constant(op.operands[0]) in numbers


def _constant(value: ir.Value) -> float | None:
    op = made_by(value, "arith.constant")
    if op is None or not isinstance(value.type, ir.FloatType | ir.IntegerType):
        return None
    kind = ir.FloatAttr if isinstance(value.type, ir.FloatType) else ir.IntegerAttr
    return kind(op.attributes["value"]).value


def unconverted(read: Operand) -> tuple[Operand, list[ir.Value]]:
    """What was read before it was converted, and the tensors on the way."""
    passed: list[ir.Value] = []
    while True:
        read = through(read)
        found = next((each for name in CONVERSIONS if (each := single(read.value, name))), None)
        if found is None:
            return read, passed
        passed.append(read.value)
        read = found[0].seen_from(read.at)


def single(value: ir.Value, name: str) -> list[Operand] | None:
    """What the one op of an elementwise generic takes, over the dimensions of `value`."""
    op = made_by(value, "linalg.generic")
    if op is None or body(op).operations[0].operation.name != name:  # the cheapest question first
        return None
    inside = [o.operation for o in body(op).operations]
    if (
        len(inside) != 2
        or inside[1].operands[0] != inside[0].results[0]
        or not is_elementwise(op, indices=True)
    ):
        return None
    arguments = list(body(op).arguments)
    if any(v not in arguments for v in inside[0].operands):
        return None
    known = within(op, dims(*range(loop_count(op))))
    reads = [operand(op, arguments.index(v)) for v in inside[0].operands]
    return [Operand(r.value, composed(r.at, known)) for r in reads]


def _times_inverse(weights: ir.Value) -> tuple[list[Operand] | None, ir.Value | None]:
    """`e * (1 / s)`: e and s, and the tensor of the inverses."""
    factors = single(weights, "arith.mulf")
    for e, factor in () if factors is None else (factors, factors[::-1]):
        read = through(factor)
        op = defining(read.value)
        if op is None or not is_elementwise(op, indices=True):
            continue
        first, *_ = [o.operation for o in body(op).operations]
        arguments = list(body(op).arguments)
        if (
            first.name != "arith.divf"
            or _constant(first.operands[0]) != 1.0
            or first.operands[1] not in arguments
        ):
            continue
        if len(list(body(op).operations)) == 2:
            divisor = operand(op, arguments.index(first.operands[1]))
            known = within(op, dims(*range(loop_count(op))))
            divisor = Operand(divisor.value, composed(divisor.at, known))
            return [e, divisor.seen_from(read.at)], read.value
    return None, None


def reduced(value: ir.Value, name: str, start: float) -> ir.Value | None:
    """The tensor whose last dimension is reduced; its elements may be widened on the way."""
    op = made_by(value, "linalg.generic")
    if op is None or len(op.operands) != 2 or len(op.results) != 1:
        return None
    rank = loop_count(op)
    if reduction_loops(op) != [False] * (rank - 1) + [True]:
        return None
    *conversions, joined, _ = [None, *(o.operation for o in body(op).operations)]
    if joined is None or joined.name != name or {*map(narrow, joined.operands)} != {*body(op).arguments}:
        return None
    if any(o is not None and o.name != "arith.extf" for o in conversions):
        return None
    maps = operand(op, 0).at == dims(*range(rank)) and operand(op, 1).at == dims(*range(rank - 1))
    return op.operands[0] if maps and starts_from(op.operands[1], start) else None
