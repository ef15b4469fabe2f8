"""fmod, exact: the remainder of mantissas, some bits of the quotient at a time.

Backends for GPUs call a library for it, or round. |x| = a 2**i and |y| = b 2**j with whole a and b, so the
remainder is ``(a 2**(i - j) mod b) 2**j``; a is doubled as often as 64 bits allow before each division.
"""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.vector_math.emit import Real, Scope, Whole, choose, select
from pykern.passes.vector_math.formats import F32, F64, Format

_SIGNED_GREATER = 4


def expanded(op: ir.Operation) -> ir.Value:
    """An arith.remf of scalars; narrow formats are computed in f32, which is exact too."""
    kind = op.results[0].type
    scope, format = Scope(None), F64 if isinstance(kind, ir.F64Type) else F32
    narrow = kind != format.type()
    operands = [scope.op("arith.extf", F32.type(), v) if narrow else v for v in op.operands]
    result = fmod(*(Real(scope, format, v) for v in operands)).value
    return scope.op("arith.truncf", kind, result) if narrow else result


def fmod(x: Real, y: Real) -> Real:
    """x - n y with n = x / y rounded towards 0; the sign is that of x."""
    format = x.format
    a, b = abs(x), abs(y)
    mantissa, exponent = _parts(a)
    divisor, least = _parts(b)
    divisor = choose(divisor.compare("==", 0), divisor.like(1), divisor)
    rest = Whole(x.scope, 64, arith.RemUIOp(mantissa.value, divisor.value).result)
    rest = _doubled(rest, exponent - least, divisor, 63 - format.mantissa)
    result = (_real(rest, format) * _power(least, format)).with_sign(x.sign())
    result = select(a < b, x, result)
    bad = x.is_nan() | y.is_nan() | a.equals(math.inf) | b.equals(0.0)
    return select(bad, math.nan, result)


def _parts(a: Real) -> tuple[Whole, Whole]:
    """The whole mantissa in 64 bits, and the biased exponent, which is at least 1."""
    bits, size = a.bits(), a.format.mantissa
    exponent = bits >> size
    normal = exponent.compare("!=", 0)
    mantissa = (bits & ((1 << size) - 1)) | choose(normal, bits.like(1 << size), 0)
    return _wide(mantissa), _wide(choose(normal, exponent, 1))


def _wide(number: Whole) -> Whole:
    return number if number.bits == 64 else number.to(64)


def _doubled(rest: Whole, times: Whole, divisor: Whole, most: int) -> Whole:
    """``rest 2**times mod divisor``."""
    i64, scope = rest.value.type, rest.scope
    zero, limit = rest.like(0).value, rest.like(most).value
    loop = scf.WhileOp([i64, i64], [rest.value, times.value])
    before, after = loop.before.blocks.append(i64, i64), loop.after.blocks.append(i64, i64)
    with ir.InsertionPoint(before):
        more = arith.CmpIOp(_SIGNED_GREATER, before.arguments[1], zero).result
        scf.ConditionOp(more, list(before.arguments))
    with ir.InsertionPoint(after):
        value, left = after.arguments
        step = arith.MinSIOp(left, limit).result
        doubled = arith.RemUIOp(arith.ShLIOp(value, step).result, divisor.value).result
        scf.YieldOp([doubled, arith.SubIOp(left, step).result])
    return Whole(scope, 64, loop.results[0])


def _real(number: Whole, format: Format) -> Real:
    return Real(number.scope, format, number.scope.op("arith.sitofp", format.type(), number.value))


def _power(exponent: Whole, format: Format) -> Real:
    """2 to the exponent of the last place of a number with this biased exponent; it may be subnormal."""
    size = format.mantissa
    normal = (exponent - size) << size
    small = exponent.like(1) << choose(exponent.compare(">", size), exponent.like(1), exponent - 1)
    bits = choose(exponent.compare(">", size), normal, small)
    return (bits if format.bits == 64 else bits.to(32)).real()
