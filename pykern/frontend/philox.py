"""``pk.random(seed, i)``: random numbers that are a function of a seed and of counters, as ops: Philox4x32-10.

Comes in: scalars. Goes out: a scalar. Nothing is stored, so each work-item, tile or iteration computes its own, in any
order and on any device; gradients compute them again. `pykern.runtime.philox` is the reference.
Source: J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import arith

from pykern.data.philox import BITS, LOW, MULTIPLIERS, ROUNDS, WEYL
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.casts import constant, convert, materialise
from pykern.frontend.values import OperandError, Scalar
from pykern.types import DType, f32, f64, i32, i64, u32, u64

NAMES = ("random", "random_normal", "random_bits")
Words = tuple[ir.Value, ir.Value, ir.Value, ir.Value]


def draw(name: str, seed: Scalar, counters: list[Scalar], dtype: DType, fastmath: bool) -> Scalar:
    """The number that the function `name` gives. Raises `OperandError` for operands that are no integers."""
    if not 1 <= len(counters) <= 4:
        raise OperandError(f"`{name}` takes a seed and one to four counters", f"as in pk.{name}(seed, i)")
    for scalar in (seed, *counters):
        if scalar.dtype.is_float:
            raise OperandError(
                f"seeds and counters are integers, not {scalar.dtype.name}", "convert them: int(x)"
            )
    if not dtype.is_float or dtype.is_storage:
        raise OperandError(
            f"`{name}` gives floats, not {dtype.name}", "write dtype=pk.f32, or pk.random_bits"
        )
    words = _words(seed, counters)
    if name == "random_bits":
        return Scalar(u32, _narrow(words[0]))
    wide = f64 if dtype.bits == 64 else f32
    if name == "random":
        return convert(_unit(words[:2], dtype, wide), dtype)
    pairs = words[:2], words[2:]
    if wide is f64:
        radius, angle = (_unit(pair, f64, wide) for pair in pairs)
    else:
        radius, angle = (_unit((word, word), f32, wide) for word in words[:2])
    return convert(_normal(radius, angle, wide, fastmath), dtype)


def _normal(radius: Scalar, angle: Scalar, wide: DType, fastmath: bool) -> Scalar:
    """By Box and Muller (1958): the first of the two numbers that a pair makes."""

    def of(value: float) -> Scalar:
        return Scalar(wide, const=value)

    def apply(name: str, x: Scalar) -> Scalar:
        found = mathematics.apply(name, [x], fastmath)
        assert isinstance(found, Scalar)
        return found

    above = arithmetic.binary("+", radius, of(2.0 ** -BITS[wide.name]))
    length = apply("sqrt", arithmetic.binary("*", of(-2.0), apply("log", above)))
    return arithmetic.binary("*", length, apply("cos", arithmetic.binary("*", of(2 * math.pi), angle)))


def _unit(pair: tuple[ir.Value, ...], dtype: DType, wide: DType) -> Scalar:
    """A number in [0, 1), of as many bits as `dtype` has, in the type `wide`."""
    if wide is f64:
        high = arith.ShLIOp(_shifted(pair[0], 5), constant(26, u64)).result
        bits = Scalar(i64, arith.AddIOp(high, _shifted(pair[1], 6)).result)
    else:
        bits = Scalar(i32, _narrow(_shifted(pair[0], 32 - BITS[dtype.name])))
    return arithmetic.binary("*", convert(bits, wide), Scalar(wide, const=2.0 ** -BITS[dtype.name]))


def _words(seed: Scalar, counters: list[Scalar]) -> Words:
    """Four words, as integers of 64 bits that are below 2**32."""
    key = materialise(convert(seed, u64))
    place = [materialise(convert(c, u64)) for c in counters]
    if len(place) > 2:
        a, b, c, d = [_low(p) for p in place] + [constant(0, u64)] * (4 - len(place))
    else:
        first, second = (*place, constant(0, u64))[:2]
        a, b, c, d = _low(first), _shifted(first, 32), _low(second), _shifted(second, 32)
    k, h = _low(key), _shifted(key, 32)
    for _ in range(ROUNDS):
        one = arith.MulIOp(a, constant(MULTIPLIERS[0], u64)).result
        two = arith.MulIOp(c, constant(MULTIPLIERS[1], u64)).result
        a, b, c, d = _xor(_shifted(two, 32), b, k), _low(two), _xor(_shifted(one, 32), d, h), _low(one)
        k, h = (
            _low(arith.AddIOp(word, constant(w, u64)).result) for word, w in zip((k, h), WEYL, strict=True)
        )
    return a, b, c, d


def _narrow(word: ir.Value) -> ir.Value:
    return arith.TruncIOp(ir.IntegerType.get_signless(32), word).result


def _low(word: ir.Value) -> ir.Value:
    return arith.AndIOp(word, constant(LOW, u64)).result


def _shifted(word: ir.Value, by: int) -> ir.Value:
    return arith.ShRUIOp(word, constant(by, u64)).result


def _xor(a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
    return arith.XOrIOp(arith.XOrIOp(a, b).result, c).result
