"""Expressions over MLIR values, so that the rules read as mathematics.

Comes in: a value of f32 or f64, scalar or vector. Goes out: arith and math ops at the current
insertion point, none of them with fastmath flags: what the formulas say is what is computed.
A vector takes the same rules, its constants are splats. Constants are made once an expansion.
Read next: `exponential`, the shortest rules.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Union

from mlir import ir

from pykern.passes.arithmetic.vector_math.formats import F32, F64, Format

_ORDERED = {"==": 1, ">": 2, ">=": 3, "<": 4, "<=": 5}  # arith.cmpf: oeq, ogt, oge, olt, ole
_ONE = 6  # arith.cmpf one
_UNORDERED = 14  # arith.cmpf uno
_INTEGER = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}  # arith.cmpi, signed


@dataclass
class Expansion:
    """One expansion: the shape its values share, and the constants made so far.

    `library`: rare arguments may be left to functions of the C library. `fused`: math.fma rounds once. `doubles`: there
    are floats of 64 bits. `moderate`: angles are no larger than `pi_reduction.SHORT`.
    """

    shape: tuple[int, ...] | None
    library: bool = True
    fused: bool = True
    doubles: bool = True
    moderate: bool = False
    constants: dict[tuple[str, int], ir.Value] = field(default_factory=dict)

    def type(self, element: ir.Type) -> ir.Type:
        return element if self.shape is None else ir.VectorType.get(self.shape, element)

    def op(self, name: str, result: ir.Type, *operands: ir.Value, **attributes: ir.Attribute) -> ir.Value:
        return ir.Operation.create(name, [self.type(result)], operands, attributes).results[0]

    def constant(self, element: ir.Type, key: tuple[str, int], attribute: ir.Attribute) -> ir.Value:
        if key not in self.constants:
            if self.shape is not None:
                attribute = ir.DenseElementsAttr.get_splat(self.type(element), attribute)
            self.constants[key] = self.op("arith.constant", element, value=attribute)
        return self.constants[key]

    def real(self, format: Format, number: float) -> Real:
        """A float constant, rounded to the format."""
        pattern = struct.unpack("<q", struct.pack("<d", number))[0]  # 0.0 and -0.0 differ
        kind = format.type()
        return Real(self, format, self.constant(kind, (format.name, pattern), ir.FloatAttr.get(kind, number)))

    def whole(self, bits: int, number: int) -> Whole:
        """An integer constant; only its low `bits` matter."""
        kind = ir.IntegerType.get_signless(bits)
        number = ((number + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
        return Whole(self, bits, self.constant(kind, (f"i{bits}", number), ir.IntegerAttr.get(kind, number)))


@dataclass(frozen=True, eq=False)
class Real:
    """A float; the other operand of an operator may be a Python number."""

    scope: Expansion
    format: Format
    value: ir.Value

    def like(self, other: RealLike) -> Real:
        return other if isinstance(other, Real) else self.scope.real(self.format, float(other))

    def op(self, name: str, *operands: RealLike) -> Real:
        values = [self.like(o).value for o in operands]
        return Real(self.scope, self.format, self.scope.op(name, self.format.type(), *values))

    def __add__(self, other: RealLike) -> Real:
        return self.op("arith.addf", self, other)

    def __radd__(self, other: float) -> Real:
        return self.op("arith.addf", other, self)

    def __sub__(self, other: RealLike) -> Real:
        return self.op("arith.subf", self, other)

    def __rsub__(self, other: float) -> Real:
        return self.op("arith.subf", other, self)

    def __mul__(self, other: RealLike) -> Real:
        return self.op("arith.mulf", self, other)

    def __rmul__(self, other: float) -> Real:
        return self.op("arith.mulf", other, self)

    def __truediv__(self, other: RealLike) -> Real:
        return self.op("arith.divf", self, other)

    def __rtruediv__(self, other: float) -> Real:
        return self.op("arith.divf", other, self)

    def __neg__(self) -> Real:
        return self.op("arith.negf", self)

    def __abs__(self) -> Real:
        return self.op("math.absf", self)

    def __lt__(self, other: RealLike) -> Truth:
        return self.compare("<", other)

    def __le__(self, other: RealLike) -> Truth:
        return self.compare("<=", other)

    def __gt__(self, other: RealLike) -> Truth:
        return self.compare(">", other)

    def __ge__(self, other: RealLike) -> Truth:
        return self.compare(">=", other)

    def compare(self, relation: str, other: RealLike) -> Truth:
        """Comparison; false where an operand is NaN."""
        return self._compare(_ORDERED[relation], other)

    def equals(self, other: RealLike) -> Truth:
        return self.compare("==", other)

    def differs(self, other: RealLike) -> Truth:
        """Less or greater; false where an operand is NaN."""
        return self._compare(_ONE, other)

    def is_nan(self) -> Truth:
        return self._compare(_UNORDERED, self)

    def _compare(self, predicate: int, other: RealLike) -> Truth:
        made = self.scope.op(
            "arith.cmpf", _i1(), self.value, self.like(other).value, predicate=_index(predicate)
        )
        return Truth(self.scope, made)

    def trunc(self) -> Real:
        """The integer next to it towards 0."""
        return self.op("math.trunc", self)

    def sqrt(self) -> Real:
        return self.op("math.sqrt", self)

    def at_most(self, bound: RealLike) -> Real:
        """The lesser of the two; NaN stays."""
        return select(self > bound, bound, self)

    def at_least(self, bound: RealLike) -> Real:
        """The greater of the two; NaN stays."""
        return select(self < bound, bound, self)

    def bits(self) -> Whole:
        """The bit pattern as an integer."""
        kind = ir.IntegerType.get_signless(self.format.bits)
        return Whole(self.scope, self.format.bits, self.scope.op("arith.bitcast", kind, self.value))

    def sign(self) -> Whole:
        """The bit pattern, only the sign bit kept."""
        return self.bits() & self.format.sign

    def with_sign(self, sign: Whole) -> Real:
        """Negated where `sign` (as `sign()` gives it) is set."""
        return (self.bits() ^ sign).real()

    def copysign(self, other: Real) -> Real:
        return self.op("math.copysign", self, other)

    def to(self, format: Format) -> Real:
        """The same number in another format, rounded to nearest."""
        if format == self.format:
            return self
        name = "arith.extf" if format.bits > self.format.bits else "arith.truncf"
        return Real(self.scope, format, self.scope.op(name, format.type(), self.value))


@dataclass(frozen=True, eq=False)
class Whole:
    """An integer of `bits` bits; the other operand of an operator may be a Python int."""

    scope: Expansion
    bits: int
    value: ir.Value

    def like(self, other: WholeLike) -> Whole:
        return other if isinstance(other, Whole) else self.scope.whole(self.bits, other)

    def op(self, name: str, other: WholeLike) -> Whole:
        kind = ir.IntegerType.get_signless(self.bits)
        return Whole(self.scope, self.bits, self.scope.op(name, kind, self.value, self.like(other).value))

    def __add__(self, other: WholeLike) -> Whole:
        return self.op("arith.addi", other)

    def __sub__(self, other: WholeLike) -> Whole:
        return self.op("arith.subi", other)

    def __rsub__(self, other: int) -> Whole:
        return self.like(other) - self

    def __mul__(self, other: WholeLike) -> Whole:
        return self.op("arith.muli", other)

    def __and__(self, other: WholeLike) -> Whole:
        return self.op("arith.andi", other)

    def __or__(self, other: WholeLike) -> Whole:
        return self.op("arith.ori", other)

    def __xor__(self, other: WholeLike) -> Whole:
        return self.op("arith.xori", other)

    def __lshift__(self, count: WholeLike) -> Whole:
        return self.op("arith.shli", count)

    def __rshift__(self, count: WholeLike) -> Whole:
        """Logical: zeros come in from the left (AVX2 has no arithmetic shift of 64 bits)."""
        return self.op("arith.shrui", count)

    def compare(self, relation: str, other: WholeLike) -> Truth:
        """Comparison as signed integers."""
        predicate = _index(_INTEGER[relation])
        return Truth(
            self.scope,
            self.scope.op("arith.cmpi", _i1(), self.value, self.like(other).value, predicate=predicate),
        )

    def to(self, bits: int) -> Whole:
        """The low `bits` of it, or zeros in front."""
        name = "arith.trunci" if bits < self.bits else "arith.extui"
        return Whole(self.scope, bits, self.scope.op(name, ir.IntegerType.get_signless(bits), self.value))

    def where(self, condition: Truth) -> Whole:
        """self, or 0 where the condition does not hold."""
        return choose(condition, self, 0)

    def real(self) -> Real:
        """The float with these bits."""
        format = F32 if self.bits == 32 else F64
        return Real(self.scope, format, self.scope.op("arith.bitcast", format.type(), self.value))


@dataclass(frozen=True, eq=False)
class Truth:
    """A condition."""

    scope: Expansion
    value: ir.Value

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.scope, self.scope.op("arith.andi", _i1(), self.value, other.value))

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.scope, self.scope.op("arith.ori", _i1(), self.value, other.value))

    def __xor__(self, other: Truth) -> Truth:
        return Truth(self.scope, self.scope.op("arith.xori", _i1(), self.value, other.value))

    def __invert__(self) -> Truth:
        return self ^ Truth(self.scope, self.scope.constant(_i1(), ("i1", 1), ir.BoolAttr.get(True)))


RealLike = Union[Real, float]
WholeLike = Union[Whole, int]


def fma(a: RealLike, b: RealLike, c: RealLike) -> Real:
    """``a * b + c``, rounded once."""
    some = next(v for v in (a, b, c) if isinstance(v, Real))
    return some.op("math.fma", a, b, c)


def select(condition: Truth, then: RealLike, otherwise: RealLike) -> Real:
    """`then` where the condition holds; one of the two must be a `Real`."""
    some = then if isinstance(then, Real) else otherwise
    assert isinstance(some, Real)
    values = (condition.value, some.like(then).value, some.like(otherwise).value)
    return Real(some.scope, some.format, some.scope.op("arith.select", some.format.type(), *values))


def choose(condition: Truth, then: Whole, otherwise: WholeLike) -> Whole:
    """`select` for integers."""
    kind = ir.IntegerType.get_signless(then.bits)
    values = (condition.value, then.value, then.like(otherwise).value)
    return Whole(then.scope, then.bits, then.scope.op("arith.select", kind, *values))


def polynomial(x: Real, coefficients: Sequence[RealLike]) -> Real:
    """``c0 + c1 x + c2 x^2 + ...``; from nine coefficients on in two chains, which overlap."""
    if len(coefficients) >= 9:
        square = x * x
        return fma(polynomial(square, coefficients[1::2]), x, polynomial(square, coefficients[0::2]))
    result = x.like(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = fma(result, x, coefficient)
    return result


def _i1() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def _index(number: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
