"""Values with operators: expressions over `Real` emit arith and math ops where they stand."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, math


@dataclass(frozen=True)
class Integer:
    """An integer SSA value, as wide as the float it belongs to."""

    value: ir.Value

    def _constant(self, number: int) -> ir.Value:
        return arith.ConstantOp(self.value.type, ir.IntegerAttr.get(self.value.type, number)).result

    def __add__(self, other: Integer | int) -> Integer:
        return Integer(arith.AddIOp(self.value, self._lift(other)).result)

    def __sub__(self, other: Integer | int) -> Integer:
        return Integer(arith.SubIOp(self.value, self._lift(other)).result)

    def __and__(self, other: int) -> Integer:
        return Integer(arith.AndIOp(self.value, self._constant(other)).result)

    def __lshift__(self, amount: int) -> Integer:
        return Integer(arith.ShLIOp(self.value, self._constant(amount)).result)

    def __rshift__(self, amount: int) -> Integer:
        """Arithmetic: the sign is kept."""
        return Integer(arith.ShRSIOp(self.value, self._constant(amount)).result)

    def is_zero(self) -> ir.Value:
        return arith.CmpIOp(arith.CmpIPredicate.eq, self.value, self._constant(0)).result

    def is_set(self, bit: int) -> ir.Value:
        """Whether a bit stands."""
        return arith.CmpIOp(arith.CmpIPredicate.ne, (self & bit).value, self._constant(0)).result

    def as_real(self, kind: ir.Type) -> Real:
        return Real(arith.BitcastOp(kind, self.value).result)

    def to_real(self, kind: ir.Type) -> Real:
        return Real(arith.SIToFPOp(kind, self.value).result)

    def _lift(self, other: Integer | int) -> ir.Value:
        return other.value if isinstance(other, Integer) else self._constant(other)


@dataclass(frozen=True)
class Real:
    """A float SSA value, f32 or f64."""

    value: ir.Value

    @property
    def kind(self) -> ir.Type:
        return self.value.type

    @property
    def mantissa(self) -> int:
        """Bits behind the leading one: 23 or 52."""
        return 23 if isinstance(self.kind, ir.F32Type) else 52

    @property
    def bias(self) -> int:
        return 127 if isinstance(self.kind, ir.F32Type) else 1023

    def constant(self, number: float) -> Real:
        return Real(arith.ConstantOp(self.kind, ir.FloatAttr.get(self.kind, number)).result)

    def _lift(self, other: Real | float) -> ir.Value:
        return other.value if isinstance(other, Real) else self.constant(other).value

    def __add__(self, other: Real | float) -> Real:
        return Real(arith.AddFOp(self.value, self._lift(other)).result)

    def __radd__(self, other: float) -> Real:
        return self.constant(other) + self

    def __sub__(self, other: Real | float) -> Real:
        return Real(arith.SubFOp(self.value, self._lift(other)).result)

    def __rsub__(self, other: float) -> Real:
        return self.constant(other) - self

    def __mul__(self, other: Real | float) -> Real:
        return Real(arith.MulFOp(self.value, self._lift(other)).result)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | float) -> Real:
        return Real(arith.DivFOp(self.value, self._lift(other)).result)

    def __rtruediv__(self, other: float) -> Real:
        return self.constant(other) / self

    def __neg__(self) -> Real:
        return Real(arith.NegFOp(self.value).result)

    def __abs__(self) -> Real:
        return Real(math.AbsFOp(self.value).result)

    def fma(self, factor: Real | float, added: Real | float) -> Real:
        """``self * factor + added`` rounded once."""
        return Real(math.FmaOp(self.value, self._lift(factor), self._lift(added)).result)

    def rounded(self) -> Real:
        """The nearest integer, halves to even."""
        return Real(math.RoundEvenOp(self.value).result)

    def within(self, low: float, high: float) -> Real:
        """Brought into a range; NaN becomes a bound, and is put back by `keep_nan`."""
        above = arith.MaxNumFOp(self.value, self.constant(low).value).result
        return Real(arith.MinNumFOp(above, self.constant(high).value).result)

    def sign_of(self, other: Real) -> Real:
        """The magnitude of self with the sign of `other`."""
        return Real(math.CopySignOp(self.value, other.value).result)

    def bits(self) -> Integer:
        width = 32 if isinstance(self.kind, ir.F32Type) else 64
        return Integer(arith.BitcastOp(ir.IntegerType.get_signless(width), self.value).result)

    def to_integer(self) -> Integer:
        width = 32 if isinstance(self.kind, ir.F32Type) else 64
        return Integer(arith.FPToSIOp(ir.IntegerType.get_signless(width), self.value).result)

    def compare(self, predicate: str, other: Real | float) -> ir.Value:
        """An i1; `predicate` is one of arith.cmpf's, upper case: OLT, UNO, OEQ ..."""
        return arith.CmpFOp(getattr(arith.CmpFPredicate, predicate), self.value, self._lift(other)).result

    def select(self, condition: ir.Value, otherwise: Real) -> Real:
        """self where `condition` holds, else `otherwise`."""
        return Real(arith.SelectOp(condition, self.value, otherwise.value).result)

    def keep_nan(self, argument: Real) -> Real:
        """self, but NaN where the argument is NaN."""
        return argument.select(argument.compare("UNO", argument), self)


def polynomial(x: Real, coefficients: tuple[float, ...]) -> Real:
    """Horner's rule; `coefficients` from the constant term up."""
    result = x.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result.fma(x, coefficient)
    return result


def power_of_two(k: Integer, like: Real) -> Real:
    """2**k for k in the range of normal numbers."""
    return ((k + like.bias) << like.mantissa).as_real(like.kind)
