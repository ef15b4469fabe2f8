"""Makes expressions; equal ones come out as one object. Sums of index values become forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Constant,
    Count,
    Expression,
    Fold,
    Given,
    Index,
    Length,
    Mask,
    form_of_value,
    index_expression,
)
from pykern.passes.raise_to_linalg.forms import Dim, Form

TRAPS = {
    f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")
}


@dataclass
class Builder:
    """One for each kernel."""

    known: dict[tuple, Expression] = field(default_factory=dict)

    def _unique(self, key: tuple, make: Callable[[], Expression]) -> Any:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def given(self, value: ir.Value) -> Expression:
        return self._unique(("given", value), lambda: Given(value.type, value))

    def constant(self, attribute: ir.Attribute, kind: ir.Type) -> Expression:
        if isinstance(kind, ir.IndexType):
            return self.index(Form((), ir.IntegerAttr(attribute).value))
        return self._unique(("constant", str(attribute)), lambda: Constant(kind, attribute))

    def number(self, value: float, kind: ir.Type) -> Expression:
        attribute = (
            ir.FloatAttr.get(kind, value)
            if isinstance(kind, ir.FloatType)
            else ir.IntegerAttr.get(kind, int(value))
        )
        return self.constant(attribute, kind)

    def truth(self, value: bool) -> Expression:
        return self.number(int(value), ir.IntegerType.get_signless(1))

    def length(self, array: int, dim: int, kind: ir.MemRefType) -> Form:
        if not kind.is_dynamic_dim(dim):
            return Form((), kind.shape[dim])
        made = self._unique(("length", array, dim), lambda: Length(ir.IndexType.get(), array, dim))
        return Form(((made, 1),))

    def count(self, what: str, dim: int) -> Expression:
        return self._unique((what, dim), lambda: Count(ir.IndexType.get(), what, dim))

    def index(self, form: Form) -> Expression:
        value = index_expression(form)
        return self._unique(("index", form), lambda: value) if isinstance(value, Index) else value

    def apply(
        self,
        name: str,
        operands: list[Expression],
        kind: ir.Type,
        attributes: dict | None = None,
        mask: Mask = (),
    ) -> Expression:
        """An op's value. Ops that may trap are told apart by where they run."""
        is_sum = isinstance(kind, ir.IndexType) and name in ("arith.addi", "arith.subi", "arith.muli")
        if is_sum and (form := _sum(name, *(form_of_value(o) for o in operands))) is not None:
            return self.index(form)
        if name == "arith.select" and operands[1] is operands[2]:
            return operands[1]
        attributes = attributes or {}
        where = mask if name in TRAPS and not _is_harmless(name, operands[1]) else ()
        texts = tuple((key, str(value)) for key, value in sorted(attributes.items()))
        key = (name, *operands, str(kind), texts, where)
        return self._unique(key, lambda: Apply(kind, name, tuple(operands), attributes, where))

    def compare(self, predicate: int, left: Expression, right: Expression) -> Expression:
        """`arith.cmpi` by the number of its predicate."""
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
        i1 = ir.IntegerType.get_signless(1)
        return self.apply("arith.cmpi", [left, right], i1, {"predicate": attribute})

    def select(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        return self.apply("arith.select", [condition, yes, no], yes.type)

    def negated(self, value: Expression) -> Expression:
        if isinstance(value.type, ir.FloatType):
            return self.apply("arith.negf", [value], value.type)
        return self.apply("arith.subi", [self.number(0, value.type), value], value.type)

    def extreme(self, combine: str, value: Expression, dims: tuple[Dim, ...]) -> Expression:
        """The least or greatest of an index value and 0 over all positions."""
        start = self.index(Form())
        key = ("extreme", combine, value, dims)
        return self._unique(key, lambda: Fold(value.type, combine, dims, value, start, (), {}))

    def conjunction(self, mask: Mask) -> Expression:
        """One i1 that holds where all of the mask does."""
        total: Expression | None = None
        for condition, wanted in mask:
            term = (
                condition
                if wanted
                else self.apply("arith.xori", [condition, self.truth(True)], condition.type)
            )
            total = term if total is None else self.apply("arith.andi", [total, term], term.type)
        return self.truth(True) if total is None else total


def _is_harmless(name: str, divisor: Expression) -> bool:
    """Whether a division by this never traps: by a number, or by what the language puts in place of 0."""
    number = _number(divisor)
    if number is not None:
        return number not in (0, -1)
    if not isinstance(divisor, Apply) or divisor.name != "arith.select":
        return False
    condition, instead, plain = divisor.operands
    excluded = set(_excluded(condition, plain))
    wanted = {0} if name in ("arith.divui", "arith.remui", "arith.ceildivui") else {0, -1}
    return _number(instead) not in (None, 0, -1) and wanted <= excluded


def _excluded(condition: Expression, value: Expression) -> list[int]:
    """Numbers for which the condition holds: -1 also where it asks for the least dividend as well."""
    if not isinstance(condition, Apply):
        return []
    if condition.name in ("arith.ori", "arith.andi"):
        found = [_excluded(operand, value) for operand in condition.operands]
        both = [number for numbers in found for number in numbers]
        return both if condition.name == "arith.ori" else [number for number in both if number == -1]
    if condition.name == "arith.cmpi" and ir.IntegerAttr(condition.attributes["predicate"]).value == 0:
        left, right = condition.operands
        number = _number(right) if left is value else _number(left) if right is value else None
        return [] if number is None else [number]
    return []


def _number(value: Expression) -> int | None:
    if isinstance(value, Index):
        return value.form.number
    is_integer = isinstance(value, Constant) and isinstance(value.attribute, ir.IntegerAttr)
    return ir.IntegerAttr(value.attribute).value if is_integer else None


def _sum(name: str, left: Form, right: Form) -> Form | None:
    if name == "arith.addi":
        return left + right
    if name == "arith.subi":
        return left - right
    if right.number is not None:
        return left * right.number
    return right * left.number if left.number is not None else None
