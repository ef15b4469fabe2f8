"""Conditions taken apart: what holds where a branch runs, and what that says about index values."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.predicates import NEGATED, PREDICATES, predicate_of
from pykern.passes.raise_to_linalg.builder import Builder
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Constant,
    Count,
    Expression,
    Given,
    Length,
    Literal,
    Mask,
    form_of_value,
)
from pykern.passes.raise_to_linalg.forms import Form

LARGEST = 1 << 61
SLT, SGE = PREDICATES.index("slt"), PREDICATES.index("sge")


@dataclass(frozen=True)
class IndexFacts:
    """What a literal says of index values: these forms are not negative, these are zero."""

    not_negative: tuple[Form, ...] = ()
    zero: tuple[Form, ...] = ()


def literals(condition: Expression, wanted: bool) -> Mask:
    """Conditions that hold together exactly where `condition` is `wanted`."""
    if not isinstance(condition, Apply):
        return () if truth_of(condition) is wanted else ((condition, wanted),)
    operands = condition.operands
    if condition.name == ("arith.andi" if wanted else "arith.ori"):
        return joined(literals(operands[0], wanted), literals(operands[1], wanted))
    if condition.name == "arith.xori":
        for one, other in ((0, 1), (1, 0)):
            if (known := truth_of(operands[one])) is not None:
                return literals(operands[other], wanted != known)
    if condition.name == "arith.select":
        if truth_of(operands[2]) is (not wanted):
            return joined(literals(operands[0], True), literals(operands[1], wanted))
        if truth_of(operands[1]) is (not wanted):
            return joined(literals(operands[0], False), literals(operands[2], wanted))
    return ((condition, wanted),)


def joined(mask: Mask, more: Mask) -> Mask:
    """Both, each literal once."""
    return (*mask, *(literal for literal in more if literal not in mask))


def truth_of(value: Expression) -> bool | None:
    if not isinstance(value, Constant) or not isinstance(value.attribute, ir.IntegerAttr):
        return None
    return bool(value.attribute.value) if value.type == ir.IntegerType.get_signless(1) else None


def facts(literal: Literal) -> IndexFacts | None:
    """What a comparison of index values says, None of other literals and of "not equal"."""
    condition, wanted = literal
    if not isinstance(condition, Apply) or condition.name != "arith.cmpi":
        return None
    if not isinstance(condition.operands[0].type, ir.IndexType):
        return None
    left, right = (form_of_value(operand) for operand in condition.operands)
    predicate = predicate_of(condition)
    predicate = predicate if wanted else NEGATED[predicate]
    if predicate in ("sgt", "sge", "ugt", "uge"):
        left, right, predicate = right, left, predicate.replace("g", "l")
    if predicate == "eq":
        return IndexFacts(zero=(left - right,))
    if predicate in ("slt", "sle"):
        return IndexFacts((right - left - int(predicate == "slt"),))
    if predicate in ("ult", "ule") and is_length(right):  # a negative value is a huge one without its sign
        return IndexFacts((left, right - left - int(predicate == "ult")))
    return None


def is_length(form: Form) -> bool:
    """Whether the form is never negative, whatever its terms are."""
    lengths = (Length, Count)
    return form.constant >= 0 and all(
        k > 0 and isinstance(term, lengths) and getattr(term, "what", "count") == "count"
        for term, k in form.terms
    )


def compared_as_index(builder: Builder, operands: list[Expression]) -> list[Expression]:
    """Operands of a comparison; an index compared as i64 with an argument is compared as an index.

    Index values lie within +-2**61, so that the argument may be clamped to that.
    """
    i64 = ir.IntegerType.get_signless(64)
    inner = [_cast_index(operand) for operand in operands]
    if operands[0].type != i64 or all(value is None for value in inner):
        return operands
    for number, (value, operand) in enumerate(zip(inner, operands, strict=True)):
        if value is None and isinstance(operand, Constant):
            inner[number] = builder.index(Form((), ir.IntegerAttr(operand.attribute).value))
        elif value is None and isinstance(operand, Given):
            index = ir.IndexType.get()
            ends = [builder.index(Form((), sign * LARGEST)) for sign in (1, -1)]
            lower = builder.apply(
                "arith.minsi", [builder.apply("arith.index_cast", [operand], index), ends[0]], index
            )
            inner[number] = builder.apply("arith.maxsi", [lower, ends[1]], index)
    both = [value for value in inner if value is not None]
    return both if len(both) == 2 else operands


def _cast_index(value: Expression) -> Expression | None:
    """The index value that was made an i64."""
    if not isinstance(value, Apply) or value.name != "arith.index_cast":
        return None
    return value.operands[0] if isinstance(value.operands[0].type, ir.IndexType) else None
