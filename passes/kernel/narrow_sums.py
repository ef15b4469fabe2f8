"""Sums of a loop's variable and numbers that the loop does not change, also those that are computed with 32 bits.

Comes in: a value in a loop over work-items. Goes out: the sum as an `Affine`, and which numbers have to be small, so
that no sum of 32 bits wraps. Offsets that are read from tables are such numbers. Read next: `wrapped_offsets`, `edges`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.lengths import LARGEST_IN_SUM, TERMS_OF_OFFSET
from pykern.passes.ir.index_arithmetic import Affine, affine_of, as_index, hoist
from pykern.passes.ir.values import is_inside, made_by
from pykern.passes.kernels import index_constant, is_constant


@dataclass(frozen=True)
class SmallSum:
    """`form`, where all of `small` lie within +-`LARGEST_IN_SUM`."""

    form: Affine
    small: tuple[ir.Value, ...] = ()


def sum_of(value: ir.Value, loop: ir.Operation, inner: Container[ir.Value] = ()) -> SmallSum | None:
    """A value as a function of a loop's variable; None where it is no sum. `inner`: as for `affine_of`."""
    if not isinstance(value.type, ir.IndexType):
        form = narrow_sum(value, loop)
    else:
        cast = made_by(value, "arith.index_cast") if is_inside(value, loop) else None
        if cast is None or isinstance(cast.operands[0].type, ir.IndexType):
            form = affine_of(value, loop, inner)
            return None if form is None else SmallSum(form)
        form = narrow_sum(cast.operands[0], loop)
    if form is None or len(form.terms) > TERMS_OF_OFFSET or any(abs(f) != 1 for f, _ in form.terms):
        return None
    if abs(form.constant) > LARGEST_IN_SUM or abs(form.coefficient) > 1:
        return None
    bounds = () if form.is_number else tuple(list(loop.operands)[:2])
    return SmallSum(form, (*bounds, *(term for _, term in form.terms)))


def narrow_sum(value: ir.Value, loop: ir.Operation) -> Affine | None:
    """A sum, also one of 32 bits, which is not to wrap."""
    if isinstance(value.type, ir.IndexType):
        cast = made_by(value, "arith.index_cast", "arith.extsi")
        if cast is None or not is_inside(value, loop):
            return affine_of(value, loop)
        return narrow_sum(cast.operands[0], loop)
    if not isinstance(value.type, ir.IntegerType) or value.type.width < 32:
        return None
    number = is_constant(value)
    if number is not None:
        return Affine(constant=number) if abs(number) <= LARGEST_IN_SUM else None
    index = index_behind(value)
    if index is not None:
        return affine_of(index, loop)
    op = made_by(value, "arith.addi", "arith.subi", "arith.extsi")
    if op is None or not is_inside(value, loop):
        return Affine(terms=((1, value),)) if hoist(value, loop) else None
    if op.name == "arith.extsi":
        return narrow_sum(op.operands[0], loop)
    left, right = (narrow_sum(operand, loop) for operand in op.operands)
    if left is None or right is None:
        return None
    return left + right if op.name == "arith.addi" else left - right


def index_behind(value: ir.Value) -> ir.Value | None:
    """The index that a number is, if it is one."""
    if isinstance(value.type, ir.IndexType):
        return value
    cast = made_by(value, "arith.index_cast")
    return None if cast is None else index_behind(cast.operands[0])


def are_small(values: Sequence[ir.Value], least: bool = True) -> list[ir.Value]:
    """Tests that numbers are small; of those that are not negative one is enough. Made where the builder stands."""
    most, low = index_constant(LARGEST_IN_SUM), index_constant(-LARGEST_IN_SUM)
    indices = [as_index(value) for value in values]
    tests = [arith.CmpIOp(arith.CmpIPredicate.sle, index, most).result for index in indices]
    if least:
        tests += [arith.CmpIOp(arith.CmpIPredicate.sge, index, low).result for index in indices]
    return tests
