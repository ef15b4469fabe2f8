"""The C library's functions written out, for devices that call none.

Formulas: remainder and nextafter after fdlibm (Sun, 1993); gamma by Lanczos' approximation with the
coefficients of Godfrey (2001), g = 607/128, and Euler's reflection formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.lowering.gpu.float_remainder import expanded
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace
from pykern.passes.vector_math.emit import Real, Scope, Truth, choose, fma, select
from pykern.passes.vector_math.formats import F32, F64

_LANCZOS = (
    0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174,
    -0.49191381609762019978, 0.33994649984811888699e-4, 0.46523628927048575665e-4, -0.98374475304879564677e-4,
    0.15808870322491248884e-3, -0.21026444172410488319e-3, 0.21743961811521264320e-3, -0.16431810653676389022e-3,
    0.84418223983852743293e-4, -0.26190838401581408670e-4, 0.36899182659531622704e-5,
)  # fmt: skip
_G = 607.0 / 128.0


@dataclass(frozen=True)
class ExpandLibrary(Pass):
    """Write calls of the C library out in arith and math ops.

    In:  arith.remf; func.call of tgamma, lgamma, hypot, remainder, nextafter, of f32 and f64. Out: none of them. f32
         is within one unit in the last place; in f64 hypot is within two, gamma and lgamma good to 12 digits.
    """

    name: ClassVar[str] = "kern-expand-library"

    def run(self, module: ir.Module) -> None:
        for call in named(module.operation, "func.call"):
            name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            rule = RULES.get(name.removesuffix("f"))
            if rule is not None:
                with ir.InsertionPoint(call), call.location:
                    scope = Scope(None)
                    format = F32 if isinstance(call.operands[0].type, ir.F32Type) else F64
                    replace(call, [rule(*(Real(scope, format, v) for v in call.operands)).value])
        for op in named(module.operation, "arith.remf"):
            with ir.InsertionPoint(op), op.location:
                replace(op, [expanded(op)])
        for op in [o.operation for o in module.body.operations]:
            known = "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value
            if op.name == "func.func" and known and known.removesuffix("f") in RULES:
                op.erase()


def hypot(x: Real, y: Real) -> Real:
    """f32 in f64; f64 scaled by a power of two where squares would leave the range."""
    infinite = (abs(x).equals(math.inf)) | (abs(y).equals(math.inf))
    if x.format == F32:
        wide, other = x.to(F64), y.to(F64)
        root = fma(wide, wide, other * other).sqrt().to(F32)
    else:
        a, b = abs(x), abs(y)
        large, small = select(a > b, a, b), select(a > b, b, a)
        up, down = large < 2.0**-500, large > 2.0**500
        scale = select(up, large.like(2.0**600), select(down, large.like(2.0**-600), 1.0))
        back = select(up, large.like(2.0**-600), select(down, large.like(2.0**600), 1.0))
        large, small = large * scale, small * scale
        root = fma(large, large, small * small).sqrt() * back
    return select(infinite, math.inf, root)


def remainder(x: Real, y: Real) -> Real:
    """x - n y, n the integer next to x / y; exact."""
    a, p = abs(x), abs(y)
    greatest = 2.0 ** (x.format.bias) * (2 - 2.0**-x.format.mantissa)
    doubled = p <= greatest / 2
    a = select(doubled, a.op("arith.remf", a, select(doubled, p + p, 1.0)), a)
    tiny = p < 4 * x.format.least_normal
    half = p * 0.5
    over = _either(tiny, a + a > p, a > half)
    a = select(over, a - p, a)
    over = over & _either(tiny, a + a >= p, a >= half)
    result = select(over, a - p, a).with_sign(x.sign())
    bad = x.is_nan() | y.is_nan() | abs(x).equals(math.inf) | y.equals(0.0)
    return select(bad, math.nan, result)


def _either(condition: Truth, then: Truth, otherwise: Truth) -> Truth:
    return (condition & then) | (~condition & otherwise)


def nextafter(x: Real, y: Real) -> Real:
    bits = x.bits()
    away = _either(x < y, x > 0.0, x < 0.0)  # the patterns of greater magnitudes are greater
    moved = choose(away, bits + 1, bits - 1).real()
    least = choose(y < 0.0, bits.like(x.format.sign | 1), 1).real()
    result = select(x.equals(0.0), least, moved)
    result = select(x.equals(y), y, result)
    return select(x.is_nan() | y.is_nan(), x + y, result)


def tgamma(x: Real) -> Real:
    if x.format == F32:
        return tgamma(x.to(F64)).to(F32)
    reflected = x < 0.5
    at = select(reflected, 1.0 - x, x)
    # t ** (at - 1/2) in two factors: the power alone leaves the range before gamma does
    t = at + (_G - 0.5)
    exponent = (at - 0.5) * 0.5 * t.op("math.log", t)
    half = t.op("math.exp", exponent)
    value = half * (t.op("math.exp", -t) * (_series(at) * math.sqrt(2 * math.pi))) * half
    value = select(at > 172.0, math.inf, value)
    mirrored = math.pi / (_sine_of_pi_times(x) * value)
    result = select(reflected, mirrored, value)
    whole = x.op("math.floor", x).equals(x)
    result = select(whole & (x < 0.0), math.nan, result)
    result = select(x.equals(0.0), x.like(math.inf).copysign(x), result)
    result = select(x.equals(-math.inf), math.nan, result)
    return select(x.is_nan(), x, result)


def lgamma(x: Real) -> Real:
    if x.format == F32:
        return lgamma(x.to(F64)).to(F32)
    reflected = x < 0.5
    at = select(reflected, 1.0 - x, x)
    t = at + (_G - 0.5)
    series = _series(at) * math.sqrt(2 * math.pi)
    value = fma(at - 0.5, t.op("math.log", t), -t) + t.op("math.log", series)
    value = select(at.equals(1.0) | at.equals(2.0), 0.0, value)
    sine = abs(_sine_of_pi_times(x))
    mirrored = math.log(math.pi) - x.op("math.log", sine) - value
    result = select(reflected, mirrored, value)
    whole = x.op("math.floor", x).equals(x)
    result = select((whole & (x <= 0.0)) | abs(x).equals(math.inf), math.inf, result)
    return select(x.is_nan(), x, result)


def _series(x: Real) -> Real:
    total = x.like(_LANCZOS[0])
    for k, c in enumerate(_LANCZOS[1:]):
        total = total + x.like(c) / (x + float(k))
    return total


def _sine_of_pi_times(x: Real) -> Real:
    """sin(pi x), with the whole turns taken out of x first."""
    below = x.op("math.floor", x)
    rest = x - below
    rest = select(rest > 0.5, 1.0 - rest, rest)
    halves = below * 0.5
    odd = halves.differs(halves.op("math.floor", halves))
    sine = rest.op("math.sin", rest * math.pi)
    return select(odd, -sine, sine)


RULES: dict[str, Callable[..., Real]] = {
    "tgamma": tgamma,
    "lgamma": lgamma,
    "hypot": hypot,
    "remainder": remainder,
    "nextafter": nextafter,
}
