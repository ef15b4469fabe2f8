"""Expressions become SSA values: the part that scalars and the bodies of linalg ops have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, tensor

from pykern.passes.ir.constants import constant
from pykern.passes.raise_to_linalg.builder import TRAPS
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Carried,
    Constant,
    Expression,
    Fold,
    Given,
    Index,
    Literal,
    Load,
    Mask,
    inner_first,
)
from pykern.passes.raise_to_linalg.forms import Dim, Form


def _operands(value: Expression) -> tuple[Expression, ...]:
    return value.operands if isinstance(value, Apply) else ()


@dataclass(eq=False)
class Evaluator:
    """Base. `true` are literals known to hold where the values are computed."""

    true: frozenset[Literal] = frozenset()
    memo: dict[object, ir.Value] = field(default_factory=dict)

    def position(self, dim: Dim) -> ir.Value:
        """The value that the dimension stands for."""
        raise NotImplementedError

    def leaf(self, value: Load | Carried | Fold) -> ir.Value:
        """The element that is read from a tensor."""
        raise NotImplementedError

    def value(self, value: Expression) -> ir.Value:
        for part in inner_first(value, _operands, self.is_known):
            self.memo[part] = self.compute(part)
        return self.known(value)

    def is_known(self, value: Expression) -> bool:
        return value in self.memo

    def known(self, value: Expression) -> ir.Value:
        return self.memo[value]

    def compute(self, value: Expression) -> ir.Value:
        match value:
            case Given():
                return value.value
            case Constant():
                return arith.ConstantOp(value.type, value.attribute).result
            case Index():
                return self.form(value.form)
            case Apply():
                return self._apply(value)
            case Load() | Carried() | Fold():
                return self.leaf(value)
        raise TypeError(f"{type(value).__name__} is not evaluated here")

    def _apply(self, value: Apply) -> ir.Value:
        operands = [self.value(operand) for operand in value.operands]
        if value.name in TRAPS:
            operands[1] = self._harmless(operands[1], value)
        made = ir.Operation.create(
            value.name, results=[value.type], operands=operands, attributes=dict(value.attributes)
        )
        return made.results[0]

    def _harmless(self, divisor: ir.Value, value: Apply) -> ir.Value:
        """A division the kernel does not come to everywhere must not trap elsewhere."""
        rest = self.rest(value.mask)
        if not rest:
            return divisor
        one = arith.ConstantOp(divisor.type, ir.IntegerAttr.get(divisor.type, 1)).result
        return arith.SelectOp(self.conjunction(rest), divisor, one).result

    def rest(self, mask: Mask) -> Mask:
        """The conditions of a mask that are not known to hold."""
        return tuple(literal for literal in mask if literal not in self.true)

    def conjunction(self, mask: Mask) -> ir.Value:
        """One i1 that holds where all of the mask, which is not empty, does."""
        total: ir.Value | None = None
        for condition, wanted in mask:
            term = self.value(condition)
            if not wanted:
                true = arith.ConstantOp(term.type, ir.IntegerAttr.get(term.type, 1)).result
                term = arith.XOrIOp(term, true).result
            total = term if total is None else arith.AndIOp(total, term).result
        assert total is not None
        return total

    def form(self, form: Form) -> ir.Value:
        """An index value, term by term."""
        if form in self.memo:
            return self.memo[form]
        total: ir.Value | None = None
        for term, factor in form.terms:
            part = self.position(term) if isinstance(term, Dim) else self.value(term)
            if factor == -1 and total is not None:
                total = arith.SubIOp(total, part).result
                continue
            if factor != 1:
                part = arith.MulIOp(part, index_number(factor)).result
            total = part if total is None else arith.AddIOp(total, part).result
        if total is None:
            total = index_number(form.constant)
        elif form.constant:
            total = arith.AddIOp(total, index_number(form.constant)).result
        self.memo[form] = total
        return total

    def extracted(self, load: Load, source: ir.Value) -> ir.Value:
        """One element. Where the kernel might not come to the load, of a cell that is there."""
        indices = [self.form(form) for form in load.subscripts]
        if self.rest(load.mask):
            indices = [_clamped(index, source, n) for n, index in enumerate(indices)]
        return tensor.ExtractOp(source, indices).result


def _clamped(index: ir.Value, source: ir.Value, dim: int) -> ir.Value:
    length = tensor.DimOp(source, index_number(dim)).result
    last = arith.SubIOp(length, index_number(1)).result
    return arith.MaxSIOp(arith.MinSIOp(index, last).result, index_number(0)).result


def never_empty(source: ir.Value) -> ir.Value:
    """The tensor, or where it is empty one cell in its place: what a clamped index may read."""
    kind = ir.RankedTensorType(source.type)
    zero = index_number(0)
    empty: ir.Value | None = None
    for dim in range(kind.rank):
        if kind.is_dynamic_dim(dim) or kind.shape[dim] == 0:
            none = arith.CmpIOp(
                arith.CmpIPredicate.eq, tensor.DimOp(source, index_number(dim)).result, zero
            ).result
            empty = none if empty is None else arith.OrIOp(empty, none).result
    if empty is None:
        return source
    one = tensor.SplatOp(
        ir.RankedTensorType.get([1] * kind.rank, kind.element_type), constant(kind.element_type, 0), []
    ).result
    one = tensor.CastOp(kind, one).result
    return arith.SelectOp(empty, one, source).result


def stored_type(kind: ir.Type) -> ir.Type:
    """The type of a value in a tensor of its own: truths take a byte, as in arrays."""
    return ir.IntegerType.get_signless(8) if kind == ir.IntegerType.get_signless(1) else kind


def to_stored(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else arith.ExtUIOp(kind, value).result


def from_stored(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else arith.TruncIOp(kind, value).result


def index_number(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), value).result


def array_length(array: ir.Value, dim: int) -> ir.Value:
    return memref.DimOp(array, index_number(dim)).result
