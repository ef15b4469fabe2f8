"""Index arithmetic seen as `coefficient * iv + invariant`, and written down again outside of the loop.

Index values are taken to lie within +-2**61 and their arithmetic not to wrap; 64-bit integers of unknown
origin are not: where sums of them are formed they are clamped first, which no comparison with an
index can notice.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.values import defining, free_values, is_inside, made_by
from pykern.passes.kernels import index_constant, is_constant

LARGEST = 1 << 61


@dataclass(frozen=True)
class Affine:
    """`coefficient * iv + sum(factor * value for factor, value in terms) + constant`."""

    coefficient: int = 0
    terms: tuple[tuple[int, ir.Value], ...] = ()
    constant: int = 0

    def __add__(self, other: Affine) -> Affine:
        terms = list(self.terms)
        for factor, value in other.terms:
            same = next((k for k, (_, known) in enumerate(terms) if known == value), None)
            if same is None:
                terms.append((factor, value))
            else:
                terms[same] = (terms[same][0] + factor, value)
        kept = tuple(term for term in terms if term[0])
        return Affine(self.coefficient + other.coefficient, kept, self.constant + other.constant)

    def __mul__(self, factor: int) -> Affine:
        if factor == 0:
            return Affine()
        terms = tuple((factor * f, value) for f, value in self.terms)
        return Affine(factor * self.coefficient, terms, factor * self.constant)

    def __sub__(self, other: Affine) -> Affine:
        return self + other * -1

    @property
    def is_number(self) -> bool:
        return self.coefficient == 0 and not self.terms


def affine_of(value: ir.Value, loop: ir.Operation, inner: Container[ir.Value] = ()) -> Affine | None:
    """`value` as a function of `loop`'s induction variable, None where it is not affine.

    Invariant ops within the loop that a term needs are moved in front of it. Values of `inner`, such as variables of
    loops inside, are terms as they are.
    """
    if value == loop.opview.induction_variable:
        return Affine(coefficient=1)
    if value in inner:
        return Affine(terms=((1, value),))
    if not _is_wide(value.type):
        return None
    number = is_constant(value)
    if number is not None and abs(number) < LARGEST:
        return Affine(constant=number)
    op = defining(value)
    if op is not None and is_inside(value, loop):
        combined = _combine(op, loop, inner)
        if combined is not None:
            return combined
    return Affine(terms=((1, value),)) if hoist(value, loop) else None


def _combine(op: ir.Operation, loop: ir.Operation, inner: Container[ir.Value]) -> Affine | None:
    if op.name == "arith.index_cast":
        return affine_of(op.operands[0], loop, inner)
    if op.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return None
    left, right = (affine_of(operand, loop, inner) for operand in op.operands)
    if left is None or right is None:
        return None
    if op.name == "arith.addi":
        return left + right
    if op.name == "arith.subi":
        return left - right
    if left.is_number:
        return right * left.constant
    return left * right.constant if right.is_number else None


def _is_wide(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IndexType) or kind == ir.IntegerType.get_signless(64)


def counted_from(index: ir.Value) -> tuple[ir.Value | None, int]:
    """What an index is counted from, None for zero, and how far it lies behind that."""
    number = is_constant(index)
    if number is not None:
        return None, number
    op = made_by(index, "arith.addi", "arith.subi")
    step = None if op is None else is_constant(op.operands[1])
    if op is None or step is None:
        return index, 0
    start, by = counted_from(op.operands[0])
    return start, by + (step if op.name == "arith.addi" else -step)


def hoist(value: ir.Value, loop: ir.Operation) -> bool:
    """Make an invariant value available in front of the loop; False where it is not invariant."""
    if not is_inside(value, loop):
        return True
    op = defining(value)
    if op is None or not (is_speculatable(op) or _only_chooses(op)):
        return False
    if not all(hoist(operand, loop) for operand in free_values(op)):
        return False
    op.move_before(loop)
    return True


def _only_chooses(op: ir.Operation) -> bool:
    """Whether an op is a branch that computes numbers alone."""
    if op.name != "scf.if":
        return False
    inside = [
        inner.operation for region in op.regions for block in region.blocks for inner in block.operations
    ]
    return all(o.name == "scf.yield" or is_speculatable(o) or _only_chooses(o) for o in inside)


def materialise(form: Affine) -> ir.Value:
    """The invariant part of `form` as an index value, at the current insertion point."""
    single = len(form.terms) == 1 and form.terms[0][0] == 1 and form.constant == 0
    total: ir.Value | None = None
    for factor, value in sorted(form.terms, key=lambda term: term[0] < 0):
        term = as_index(value) if single else _within_range(value)
        if abs(factor) != 1:
            term = arith.MulIOp(term, index_constant(abs(factor))).result
        if total is None:
            total = term if factor > 0 else arith.SubIOp(index_constant(0), term).result
        else:
            total = (arith.AddIOp if factor > 0 else arith.SubIOp)(total, term).result
    if total is None:
        return index_constant(form.constant)
    if form.constant:
        total = arith.AddIOp(total, index_constant(form.constant)).result
    return total


def as_index(value: ir.Value) -> ir.Value:
    """A 64-bit integer as index; the cast is undone where the value came from an index."""
    if isinstance(value.type, ir.IndexType):
        return value
    op = defining(value)
    if op is not None and op.name == "arith.index_cast" and isinstance(op.operands[0].type, ir.IndexType):
        return op.operands[0]
    return arith.IndexCastOp(ir.IndexType.get(), value).result


def _within_range(value: ir.Value) -> ir.Value:
    index = as_index(value)
    if is_constant(value) is None and _is_small(value):
        return index
    low, high = index_constant(-LARGEST), index_constant(LARGEST)
    return arith.MaxSIOp(arith.MinSIOp(index, high).result, low).result


def _is_small(value: ir.Value) -> bool:
    """Index values are; 64-bit integers where they come from an index or from fewer bits."""
    op = defining(value)
    return isinstance(value.type, ir.IndexType) or (
        op is not None and op.name in ("arith.index_cast", "arith.extsi", "arith.extui")
    )


def row_major(size: Sequence[int], coordinates: Sequence[ir.Value]) -> ir.Value:
    """The number of a cell of a box of known `size`, the last coordinate fastest."""
    number = coordinates[0]
    for width, coordinate in zip(size[1:], coordinates[1:], strict=True):
        number = arith.AddIOp(arith.MulIOp(number, index_constant(width)).result, coordinate).result
    return number


def product(factors: Sequence[ir.Value]) -> ir.Value:
    """The product of one index or more."""
    found = factors[0]
    for factor in factors[1:]:
        found = arith.MulIOp(found, factor).result
    return found
