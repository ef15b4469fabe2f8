"""Floats of 64 bits that only travel, for languages that have none: numbers of a launch, and what reports tell.

A Python float comes as the bits of a float of 64 bits, and kernels round it to what they compute in: the significand is
shifted to its place, rounded to nearest with ties to even, and put behind the exponent, so that carries go where they
belong. A print tells a float as the bits of one of 64 bits. Subnormals, infinities and NaN come out as conversions give
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import named, replace

_SIGNIFICANDS = {"f32": 23, "f16": 10, "bf16": 7}
"""Bits of a float's significand behind its point."""
_GIVEN = 52
_BIAS = 1023
_INFINITE = 2047


@dataclass(frozen=True)
class NarrowWords(Pass):
    """Convert between words that hold floats of 64 bits and smaller floats, in integers.

    In:  kernels in which a word of 64 bits is a float of as many (`arith.bitcast`) and rounded (`arith.truncf`), or a
         float is made one of 64 bits (`arith.extf`) and put into a word.
    Out: the same bits by arithmetic on integers. A float of 64 bits that is used otherwise stays.
    """

    name: ClassVar[str] = "kern-narrow-words"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            for op in named(kernel, "arith.truncf"):
                given = made_by(op.operands[0], "arith.bitcast")
                kind = str(op.results[0].type)
                if given is None or str(given.operands[0].type) != "i64" or kind not in _SIGNIFICANDS:
                    continue
                with ir.InsertionPoint(op), op.location:
                    replace(op, [_rounded(given.operands[0], op.results[0].type)])
                if not list(given.results[0].uses):
                    given.erase()
            for op in named(kernel, "arith.bitcast"):
                given = made_by(op.operands[0], "arith.extf")
                if given is None or str(op.operands[0].type) != "f64":
                    continue
                with ir.InsertionPoint(op), op.location:
                    replace(op, [_widened(given.operands[0])])
                if not list(given.results[0].uses):
                    given.erase()


def _widened(value: ir.Value) -> ir.Value:
    """The bits of the same number as a float of 64 bits."""
    if str(value.type) != "f32":
        value = arith.ExtFOp(ir.F32Type.get(), value).result
    word = arith.ExtUIOp(_i64(0).type, arith.BitcastOp(ir.IntegerType.get_signless(32), value).result).result
    exponent, digits = _and(_right(word, _i64(23)), _i64(255)), _and(word, _i64((1 << 23) - 1))
    zeros = ir.Operation.create("math.ctlz", results=[digits.type], operands=[digits]).result
    shift = arith.SubIOp(
        zeros, _i64(64 - 24)
    ).result  # brings the first digit of a subnormal before the point
    is_small, is_zero = _equal(exponent, 0), _equal(digits, 0)
    moved = _and(arith.ShLIOp(digits, shift).result, _i64((1 << 23) - 1))
    small = arith.SubIOp(_i64(_BIAS - 126), shift).result
    usual = arith.AddIOp(exponent, _i64(_BIAS - 127)).result
    usual = arith.SelectOp(_equal(exponent, 255), _i64(_INFINITE), usual).result
    small = arith.SelectOp(is_zero, _i64(0), small).result
    exponent = arith.SelectOp(is_small, small, usual).result
    digits = arith.SelectOp(
        arith.AndIOp(is_small, arith.CmpIOp(arith.CmpIPredicate.ne, digits, _i64(0)).result).result,
        moved,
        digits,
    ).result
    sign = arith.ShLIOp(_right(word, _i64(31)), _i64(63)).result
    code = arith.OrIOp(
        arith.ShLIOp(exponent, _i64(_GIVEN)).result, arith.ShLIOp(digits, _i64(_GIVEN - 23)).result
    ).result
    return arith.OrIOp(sign, code).result


def _equal(one: ir.Value, number: int) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.eq, one, _i64(number)).result


def _rounded(word: ir.Value, kind: ir.FloatType) -> ir.Value:
    """The float of type `kind` that is nearest to the one of 64 bits that `word` holds."""
    significand = _SIGNIFICANDS[str(kind)]
    most = (1 << (kind.width - 1 - significand)) - 1
    least = _BIAS - (most >> 1)  # the exponent below that of the smallest normal number
    exponent = _and(_right(word, _i64(_GIVEN)), _i64(_INFINITE))
    digits = _and(word, _i64((1 << _GIVEN) - 1))
    whole = arith.OrIOp(digits, _i64(1 << _GIVEN)).result  # a subnormal one rounds to 0 all the same
    below = arith.MaxSIOp(arith.SubIOp(_i64(least + 1), exponent).result, _i64(0)).result
    shift = arith.MinSIOp(arith.AddIOp(below, _i64(_GIVEN - significand)).result, _i64(_GIVEN + 2)).result
    kept = _right(whole, shift)
    half = arith.ShLIOp(_i64(1), arith.SubIOp(shift, _i64(1)).result).result
    rest = arith.SubIOp(whole, arith.ShLIOp(kept, shift).result).result
    odd = _and(kept, _i64(1))
    # more than half, or half behind an odd digit
    up = arith.CmpIOp(arith.CmpIPredicate.sgt, arith.AddIOp(rest, odd).result, half).result
    kept = arith.AddIOp(kept, arith.ExtUIOp(_i64(0).type, up).result).result
    above = arith.MaxSIOp(arith.SubIOp(exponent, _i64(least + 1)).result, _i64(0)).result
    code = arith.AddIOp(arith.ShLIOp(above, _i64(significand)).result, kept).result
    code = arith.MinSIOp(code, _i64(most << significand)).result  # too large is infinite
    nan = arith.AndIOp(
        arith.CmpIOp(arith.CmpIPredicate.eq, exponent, _i64(_INFINITE)).result,
        arith.CmpIOp(arith.CmpIPredicate.ne, digits, _i64(0)).result,
    ).result
    code = arith.SelectOp(nan, _i64((most << significand) | 1 << (significand - 1)), code).result
    sign = _and(_right(word, _i64(64 - kind.width)), _i64(1 << (kind.width - 1)))
    bits = arith.TruncIOp(ir.IntegerType.get_signless(kind.width), arith.OrIOp(sign, code).result).result
    return arith.BitcastOp(kind, bits).result


def _i64(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IntegerType.get_signless(64), value).result


def _and(one: ir.Value, other: ir.Value) -> ir.Value:
    return arith.AndIOp(one, other).result


def _right(value: ir.Value, by: ir.Value) -> ir.Value:
    return arith.ShRUIOp(value, by).result
