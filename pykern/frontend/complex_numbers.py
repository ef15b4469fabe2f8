"""Complex numbers while a kernel or a program is translated: pairs of real numbers, computed by real operations.

Comes in: pairs and numbers. Goes out: pairs, or numbers. Nothing behind the frontend knows complex types. Quotients are
scaled as NumPy's are (R. L. Smith, Algorithm 116, 1962), and a real factor scales both parts (C99, Annex G).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Union

from pykern.data.promotion import promote
from pykern.data.source import COMPLEX as COMPLEX_NAME
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.casts import convert
from pykern.frontend.values import ComplexValue, OperandError, Scalar, Value
from pykern.types import COMPLEX, DType, f32, f64, weak_float, weak_int


def pair(real: Value, imag: Value) -> ComplexValue:
    return ComplexValue((real, imag), COMPLEX_NAME, ("real", "imag"))


def constant_pair(value: complex, dtype: DType = weak_float) -> ComplexValue:
    """A complex constant."""
    return pair(Scalar(dtype, const=value.real), Scalar(dtype, const=value.imag))


def complex_type_of(part: DType) -> DType:
    """The complex type whose parts are of a type."""
    return COMPLEX["c64" if part == f32 else "c128"]


Pair = tuple[Scalar, Scalar]
Number = Union[Scalar, Pair]


def part_type(dtype: DType) -> DType:
    """The type of the parts of a complex number that a real one becomes."""
    if dtype.is_float:
        return f32 if dtype.bits == 16 else dtype
    if dtype.weak:
        return weak_float
    return f32 if dtype.bits <= 16 else f64


def as_pair(a: Number) -> Pair:
    """A number with its imaginary part."""
    if isinstance(a, tuple):
        return a
    real = convert(a, part_type(a.dtype))
    return real, Scalar(real.dtype, const=0.0)


class Calculator:
    """Computes with pairs."""

    def __init__(self, fastmath: bool) -> None:
        self.fastmath = fastmath

    # -- real numbers -----------------------------------------------------------------------

    def op(self, symbol: str, a: Scalar, b: Scalar) -> Scalar:
        return arithmetic.binary(symbol, a, b, self.fastmath)

    def call(self, name: str, *args: Scalar) -> Scalar:
        made = mathematics.apply(name, list(args), self.fastmath)
        assert isinstance(made, Scalar)
        return made

    def number(self, like: Scalar, value: float) -> Scalar:
        return Scalar(like.dtype, const=value)

    def choose(self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
        return self.call("where", condition, a, b)

    def minus(self, a: Scalar) -> Scalar:
        return arithmetic.negate(a)

    def pairs(self, *numbers: Number) -> list[Pair]:
        """Numbers as pairs of one type."""
        made = [as_pair(n) for n in numbers]
        dtype = functools.reduce(promote, (p.dtype for p, _ in made))
        return [(convert(p, dtype), convert(q, dtype)) for p, q in made]

    def converted(self, a: Number, part: DType) -> Pair:
        real, imag = as_pair(a)
        return convert(real, part), convert(imag, part)

    # -- operators --------------------------------------------------------------------------

    def binary(self, symbol: str, a: Number, b: Number) -> Number:
        """``a symbol b``, of which one is complex. Raises `OperandError` where NumPy has no such operator."""
        if symbol in ("==", "!="):
            (p, q), (r, s) = as_pair(a), as_pair(b)
            return self.op("&" if symbol == "==" else "|", self.op(symbol, p, r), self.op(symbol, q, s))
        rule = _OPERATORS.get(symbol)
        if rule is None:
            compares = symbol in arithmetic.COMPARISONS
            hint = "compare z.real, z.imag or abs(z)" if compares else "write it with z.real and z.imag"
            raise OperandError(f"`{symbol}` is not available of complex numbers", hint)
        return rule(self, *_same_type(a, b))

    def operator(self, symbol: str, *numbers: Number) -> Number:
        """An operator of one number or two."""
        if len(numbers) == 2:
            return self.binary(symbol, *numbers)
        return self.unary(symbol, as_pair(numbers[0]))

    def where(self, numbers: list[Number]) -> Number:
        """One of two numbers."""
        condition, a, b = numbers
        (p, q), (r, s) = self.pairs(a, b)
        if not isinstance(condition, Scalar):
            raise OperandError("a condition is no complex number", "compare it: z != 0")
        return self.choose(condition, p, r), self.choose(condition, q, s)

    def unary(self, symbol: str, a: Pair) -> Pair:
        if symbol == "~":
            raise OperandError(
                "`~` needs an integer, not a complex number", "write z.conj() for the conjugate"
            )
        return (self.minus(a[0]), self.minus(a[1])) if symbol == "-" else a

    def add(self, a: Number, b: Number) -> Pair:
        (p, q), (r, s) = as_pair(a), as_pair(b)
        return self.op("+", p, r), self.op("+", q, s)

    def subtract(self, a: Number, b: Number) -> Pair:
        (p, q), (r, s) = as_pair(a), as_pair(b)
        return self.op("-", p, r), self.op("-", q, s)

    def multiply(self, a: Number, b: Number) -> Pair:
        if isinstance(a, Scalar):
            a, b = b, a
        p, q = as_pair(a)
        if isinstance(b, Scalar):
            return self.op("*", p, b), self.op("*", q, b)
        r, s = b
        real = self.op("-", self.op("*", p, r), self.op("*", q, s))
        return real, self.op("+", self.op("*", p, s), self.op("*", q, r))

    def divide(self, a: Number, b: Number) -> Pair:
        p, q = as_pair(a)
        if isinstance(b, Scalar):
            return self.op("/", p, b), self.op("/", q, b)
        r, s = b
        swaps = self.op("<", self.call("abs", r), self.call("abs", s))
        big, small = self.choose(swaps, s, r), self.choose(swaps, r, s)
        zero = self.number(r, 0.0)
        is_zero = self.op("==", big, zero)
        ratio = self.choose(is_zero, zero, self.op("/", small, big))
        below = self.choose(is_zero, zero, self.op("+", big, self.op("*", small, ratio)))
        scale = self.op("/", self.number(r, 1.0), below)
        first, second = self.choose(swaps, q, p), self.choose(swaps, p, q)
        real = self.op("*", self.op("+", first, self.op("*", second, ratio)), scale)
        imag = self.op("*", self.op("-", second, self.op("*", first, ratio)), scale)
        return real, self.choose(swaps, self.minus(imag), imag)

    def power(self, a: Number, b: Number) -> Pair:
        """Of whole constants by products, else ``exp(b * log(a))``, and 0 to a power whose real part is above 0."""
        if isinstance(b, Scalar) and b.is_const and float(b.const) == int(b.const) and abs(b.const) < 100:  # type: ignore[arg-type]
            return self._whole_power(as_pair(a), int(b.const))  # type: ignore[call-overload]
        base, exponent = as_pair(a), as_pair(b)
        real, imag = self.exp(self.multiply(b if isinstance(b, Scalar) else exponent, self.log(base)))
        zero = self.number(real, 0.0)
        at_zero = self.op("&", self.op("==", base[0], zero), self.op("==", base[1], zero))
        one = self.op("&", self.op("==", exponent[0], zero), self.op("==", exponent[1], zero))
        positive = self.op(">", exponent[0], zero)
        nan = self.number(real, float("nan"))
        there = self.choose(one, self.number(real, 1.0), self.choose(positive, zero, nan))
        beside = self.choose(self.op("|", one, positive), zero, nan)
        return self.choose(at_zero, there, real), self.choose(at_zero, beside, imag)

    def _whole_power(self, a: Pair, n: int) -> Pair:
        one = self.number(a[0], 1.0)
        result: Number = one
        square, rest = a, abs(n)
        while rest:
            if rest & 1:
                result = square if result is one else self.multiply(result, square)
            rest >>= 1
            if rest:
                square = self.multiply(square, square)
        if n < 0:
            result = self.divide(one, result)
        return as_pair(result)

    # -- functions --------------------------------------------------------------------------

    def function(self, name: str, a: Pair) -> Number:
        """A function of one complex number. Raises `OperandError` for one that is not available."""
        rule = FUNCTIONS.get(name)
        if rule is None:
            raise OperandError(f"`{name}` is not available of complex numbers",
                               f"there are {', '.join(sorted(FUNCTIONS))}")  # fmt: skip
        return rule(self, a)

    def conj(self, a: Pair) -> Pair:
        return a[0], self.minus(a[1])

    def exp(self, a: Pair) -> Pair:
        """With an imaginary part of zero where that of `a` is, also of infinities."""
        size = self.call("exp", a[0])
        zero = self.number(size, 0.0)
        is_real = self.op("==", a[1], zero)
        imag = self.op("*", size, self.call("sin", a[1]))
        return self.op("*", size, self.call("cos", a[1])), self.choose(is_real, a[1], imag)

    def log(self, a: Pair) -> Pair:
        """The size near 1 by `log1p` of what is above 1, which the logarithm of the size would lose."""
        p, q = self.call("abs", a[0]), self.call("abs", a[1])
        size = self.call("hypot", p, q)
        more, less = self.call("maximum", p, q), self.call("minimum", p, q)
        one, half = self.number(size, 1.0), self.number(size, 0.5)
        above = self.op("*", self.op("-", more, one), self.op("+", more, one))
        near = self.op("*", half, self.call("log1p", self.op("+", above, self.op("*", less, less))))
        is_near = self.op("&", self.op(">", size, half), self.op("<", size, self.number(size, 2.0)))
        return self.choose(is_near, near, self.call("log", size)), self.angle(a)

    def _log_by(self, base: float) -> Callable[[Pair], Pair]:
        def apply(a: Pair) -> Pair:
            p, q = self.log(a)
            return self.op("*", p, self.number(p, base)), self.op("*", q, self.number(q, base))

        return apply

    def sqrt(self, a: Pair) -> Pair:
        """The root with a real part of at least 0."""
        half, zero = self.number(a[0], 0.5), self.number(a[0], 0.0)
        p = self.call("abs", a[0])
        middle = self.op("+", self.op("*", half, p), self.op("*", half, self.call("hypot", p, a[1])))
        root = self.call("sqrt", middle)
        is_zero = self.op("==", root, zero)
        other = self.op("/", self.op("*", half, a[1]), root)
        other = self.choose(self.op("|", is_zero, self.call("isinf", a[1])), a[1], other)
        left = self.op("<", a[0], zero)
        turned = self.call("copysign", root, a[1])
        return self.choose(left, self.call("abs", other), root), self.choose(left, turned, other)

    def angle(self, a: Pair) -> Scalar:
        return self.call("atan2", a[1], a[0])

    def sinh(self, a: Pair) -> Pair:
        real = self.op("*", self.call("sinh", a[0]), self.call("cos", a[1]))
        return real, self.op("*", self.call("cosh", a[0]), self.call("sin", a[1]))

    def cosh(self, a: Pair) -> Pair:
        real = self.op("*", self.call("cosh", a[0]), self.call("cos", a[1]))
        return real, self.op("*", self.call("sinh", a[0]), self.call("sin", a[1]))

    def sin(self, a: Pair) -> Pair:
        imag, real = self.sinh((a[1], a[0]))
        return real, imag

    def cos(self, a: Pair) -> Pair:
        real, imag = self.cosh((a[1], a[0]))
        return real, self.minus(imag)

    def either(self, name: str, a: Pair) -> Scalar:
        return self.op("&" if name == "isfinite" else "|", self.call(name, a[0]), self.call(name, a[1]))


FUNCTIONS: dict[str, Callable[[Calculator, Pair], Number]] = {
    "abs": lambda c, a: c.call("hypot", *a), "conj": Calculator.conj, "angle": Calculator.angle,
    "exp": Calculator.exp, "log": Calculator.log, "sqrt": Calculator.sqrt,
    "log2": lambda c, a: c._log_by(1.4426950408889634)(a), "log10": lambda c, a: c._log_by(0.4342944819032518)(a),
    "sin": Calculator.sin, "cos": Calculator.cos, "sinh": Calculator.sinh, "cosh": Calculator.cosh,
    "square": lambda c, a: c.multiply(a, a), "reciprocal": lambda c, a: c.divide(c.number(a[0], 1.0), a),
    "real": lambda c, a: a[0], "imag": lambda c, a: a[1],
    "negative": lambda c, a: c.unary("-", a), "positive": lambda c, a: a,
    **{name: lambda c, a, name=name: c.either(name, a) for name in ("isnan", "isinf", "isfinite")},
}  # fmt: skip
NAMES = ("real", "imag", "conj", "angle")
"""Functions that are of complex numbers alone."""
_OPERATORS = {
    "+": Calculator.add, "-": Calculator.subtract, "*": Calculator.multiply, "/": Calculator.divide,
    "**": Calculator.power,
}  # fmt: skip


def _same_type(a: Number, b: Number) -> tuple[Number, Number]:
    """Both operands with parts of their common type; a whole constant stays what it is."""
    if any(isinstance(n, tuple) and n[0].dtype.weak for n in (a, b)):  # beside Python's numbers
        a, b = (_wide(n) if isinstance(n, Scalar) else n for n in (a, b))
    kinds = [part_type(n.dtype) if isinstance(n, Scalar) else n[0].dtype for n in (a, b)]
    dtype = promote(*kinds)

    def made(n: Number) -> Number:
        if isinstance(n, Scalar):
            return n if n.is_const and n.dtype == weak_int else convert(n, dtype)
        return convert(n[0], dtype), convert(n[1], dtype)

    return made(a), made(b)


def _wide(a: Scalar) -> Scalar:
    """An integer of NumPy's as the float that it becomes beside a Python number."""
    return a if a.dtype.is_float or a.dtype.weak else convert(a, f64)
