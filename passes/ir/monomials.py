"""Products of a number and of values, as lengths of rows are: `3 * h * w`.

Comes in: an integer value. Goes out: `Monomial`, which divides exactly or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.values import made_by
from pykern.passes.kernels import index_constant, is_constant


@dataclass(frozen=True)
class Monomial:
    """`number` times the product of `factors`, in the order of their hashes."""

    number: int = 1
    factors: tuple[ir.Value, ...] = ()

    @property
    def is_positive(self) -> bool:
        """Whether it is positive where all factors are."""
        return self.number > 0

    def times(self, other: Monomial) -> Monomial:
        factors = sorted([*self.factors, *other.factors], key=hash)
        return Monomial(self.number * other.number, tuple(factors))

    def divided_by(self, other: Monomial) -> Monomial | None:
        """The quotient, if each factor of `other` is one of these; None where nobody knows."""
        left = list(self.factors)
        for factor in other.factors:
            if factor not in left:
                return None
            left.remove(factor)
        if not other.number or self.number % other.number:
            return None
        return Monomial(self.number // other.number, tuple(left))


ONE = Monomial()


def monomial_of(value: ir.Value) -> Monomial:
    """What a value is the product of."""
    number = is_constant(value)
    if number is not None:
        return Monomial(number)
    product = made_by(value, "arith.muli")
    if product is None:
        return Monomial(1, (value,))
    left, right = map(monomial_of, product.operands)
    return left.times(right)


def written(monomial: Monomial) -> ir.Value:
    """The product as an index, at the insertion point."""
    if not monomial.factors:
        return index_constant(monomial.number)
    total, *others = monomial.factors
    for factor in others:
        total = arith.MulIOp(total, factor).result
    if monomial.number != 1:
        total = arith.MulIOp(total, index_constant(monomial.number)).result
    return total
