"""sin, cos and tan of huge angles, where there is no C library: 2/pi to as many bits as matter.

Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM 18 (1983): of x 2/pi only the bits
around the point are wanted, so x, an integer of 53 bits, is multiplied by 192 bits of 2/pi from where they
begin to matter: below 4 quarter turns, and beyond the 2**-62 that an angle comes near a quarter turn.
Read next: `pykern.passes.vector_math.huge_angles`, which asks for it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.kernels import find, is_constant, replace
from pykern.passes.vector_math.double_word import fast_two_sum, two_product
from pykern.passes.vector_math.emit import Real, Scope, Whole, choose, fma, select
from pykern.passes.vector_math.formats import F64
from pykern.passes.vector_math.huge_angles import FUNCTION, WHICH
from pykern.passes.vector_math.pi_reduction import HALF_PI
from pykern.passes.vector_math.trigonometric import of_quadrant

WORDS = 20
"""Of 64 bits: the first empty, so that small exponents need no case of their own."""
LAST_WORD = 16
"""Where the window of the greatest numbers begins."""
_LOW = (1 << 32) - 1


@dataclass(frozen=True)
class ReduceHugeAngles(Pass):
    """Put exact reductions where calls of the C library are.

    In:  calls of `kern.huge_angle`. Out: none, and not that function; the code stands in the branch that
         the call stood in, which hardly ever runs.
    """

    name: ClassVar[str] = "kern-reduce-huge-angles"

    def run(self, module: ir.Module) -> None:
        for op in [o.operation for o in module.body.operations]:
            symbol = ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""
            if symbol.startswith(FUNCTION) or symbol == "llvm.compiler.used":
                op.erase()
        for call in find(module.operation, _calls):
            number = is_constant(call.operands[1])
            name = next(n for n, which in WHICH.items() if which == number)
            with ir.InsertionPoint(call), call.location:
                replace(call, [_function(name, Real(Scope(None), F64, call.operands[0])).value])


def _calls(op: ir.Operation) -> bool:
    return op.name == "llvm.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value == FUNCTION


def _function(name: str, x: Real) -> Real:
    high, low, quadrant = reduced(abs(x))
    result = of_quadrant(name, x, high, low, quadrant)
    return select(abs(x) < float("inf"), result, x - x)


def reduced(x: Real) -> tuple[Real, Real, Whole]:
    """r in two parts, and the quarter turns in the low two bits of an integer, for finite x from 1 on."""
    bits = x.bits()
    mantissa = (bits & ((1 << 52) - 1)) | (1 << 52)
    place = (bits >> 52) - 1013  # x is mantissa times 2 ** (place - 62), and the table begins with 64 zeros
    top, middle, bottom = _window(place)
    product = (
        mantissa * top + _high_product(mantissa, middle),
        mantissa * middle,
        mantissa * bottom,
    )
    carried = product[1] + _high_product(mantissa, bottom)
    carry = _where_below(carried, product[1])
    first, second, third = product[0] + carry, carried, product[2]
    quadrant = first >> 62
    first, second, third = (first << 2) | (second >> 62), (second << 2) | (third >> 62), third << 2
    beyond = first.compare("<", 0)  # more than half a quarter turn: count from the next
    quadrant = quadrant + choose(beyond, quadrant.like(1), 0)
    flip = choose(beyond, quadrant.like(-1), 0)
    high, low = _fraction(first ^ flip, second ^ flip, third ^ flip)
    product_high, lost = two_product(high, HALF_PI[0])
    tail = fma(low, HALF_PI[0], fma(high, HALF_PI[1], lost))
    r, tail = fast_two_sum(product_high, tail)
    sign = flip & F64.sign
    return r.with_sign(sign), tail.with_sign(sign), quadrant


def _window(place: Whole) -> tuple[Whole, Whole, Whole]:
    """192 bits of the table from a bit on."""
    word, shift = place >> 6, place & 63
    table = _two_over_pi()
    found = [place.like(table[n]) for n in range(4)]
    for number in range(1, LAST_WORD + 1):
        here = word.compare("==", number)
        found = [choose(here, place.like(table[number + n]), found[n]) for n in range(4)]
    parts = [
        (found[n] << shift) | ((found[n + 1] >> 1) >> (63 - shift))  # two steps: a shift by 64 is undefined
        for n in range(3)
    ]
    return parts[0], parts[1], parts[2]


def _fraction(first: Whole, second: Whole, third: Whole) -> tuple[Real, Real]:
    """192 bits behind the point, the first of them 0, as the sum of two floats."""
    high = _scaled(first >> 11, 53)
    middle = _scaled(((first & 0x7FF) << 42) | (second >> 22), 106)
    low = _scaled(((second & 0x3FFFFF) << 31) | (third >> 33), 159)
    high, rest = fast_two_sum(high, middle)
    return fast_two_sum(high, rest + low)


def _scaled(number: Whole, exponent: int) -> Real:
    real = Real(number.scope, F64, number.scope.op("arith.sitofp", F64.type(), number.value))
    return real * 2.0**-exponent


def _high_product(a: Whole, b: Whole) -> Whole:
    """The upper 64 bits of a product, by halves: devices differ in what they have."""
    a0, a1, b0, b1 = a & _LOW, a >> 32, b & _LOW, b >> 32
    crossed, other = a0 * b1, a1 * b0
    middle = ((a0 * b0) >> 32) + (crossed & _LOW) + (other & _LOW)
    return a1 * b1 + (crossed >> 32) + (other >> 32) + (middle >> 32)


def _where_below(a: Whole, b: Whole) -> Whole:
    """1 where a is less than b, both unsigned; else 0."""
    least = 1 << 63
    return choose((a ^ least).compare("<", b ^ least), a.like(1), 0)


@functools.cache
def _two_over_pi() -> tuple[int, ...]:
    bits = 64 * (WORDS - 1)
    guard = bits + 64
    pi = 4 * (4 * _arctangent(5, guard) - _arctangent(239, guard))  # Machin
    fraction = (1 << (2 * guard + 1)) // pi >> (guard - bits)
    mask = (1 << 64) - 1
    return tuple((fraction >> (64 * (WORDS - 1 - n))) & mask for n in range(WORDS))


def _arctangent(inverse: int, bits: int) -> int:
    """arctan(1 / inverse), times 2 ** bits."""
    term = (1 << bits) // inverse
    total, n = term, 1
    while term:
        term //= -inverse * inverse
        n += 2
        total += term // n
    return total
