"""Conditions taken apart: what holds where a branch runs, and what that says about index values."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Constant,
    Count,
    Expression,
    Length,
    Literal,
    Mask,
    form_of_value,
)
from pykern.passes.raise_to_linalg.forms import Form

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
SLT, SGE = PREDICATES.index("slt"), PREDICATES.index("sge")
_NEGATED = {"eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
            "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt"}  # fmt: skip


@dataclass(frozen=True)
class Facts:
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


def facts(literal: Literal) -> Facts | None:
    """What a comparison of index values says, None of other literals and of "not equal"."""
    condition, wanted = literal
    if not isinstance(condition, Apply) or condition.name != "arith.cmpi":
        return None
    left, right = (_index_form(operand) for operand in condition.operands)
    if left is None or right is None:
        return None
    predicate = PREDICATES[ir.IntegerAttr(condition.attributes["predicate"]).value]
    predicate = predicate if wanted else _NEGATED[predicate]
    if predicate in ("sgt", "sge", "ugt", "uge"):
        left, right, predicate = right, left, predicate.replace("g", "l")
    if predicate == "eq":
        return Facts(zero=(left - right,))
    if predicate in ("slt", "sle"):
        return Facts((right - left - int(predicate == "slt"),))
    if predicate in ("ult", "ule") and is_length(right):  # a negative value is a huge one without its sign
        return Facts((left, right - left - int(predicate == "ult")))
    return None


def is_length(form: Form) -> bool:
    """Whether the form is never negative, whatever its terms are."""
    lengths = (Length, Count)
    return form.constant >= 0 and all(
        k > 0 and isinstance(term, lengths) and getattr(term, "what", "count") == "count"
        for term, k in form.terms
    )


def _index_form(value: Expression) -> Form | None:
    """Index values, and 64-bit integers made of them."""
    if isinstance(value.type, ir.IndexType):
        return form_of_value(value)
    if value.type != ir.IntegerType.get_signless(64) or not isinstance(value, Apply):
        return None
    inner = value.operands[0] if value.name == "arith.index_cast" else None
    return form_of_value(inner) if inner is not None and isinstance(inner.type, ir.IndexType) else None
