"""Angles of any size brought to a quarter turn, exactly and without the C library.

After Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM 1983: of ``x * 2/pi`` only the
bits below 4 matter, and which bits of 2/pi make them is told by the exponent of x. The products are made
of 32-bit parts: 128 bits of the fraction are kept, and the hardest f64 has 61 zeros in front.
"""

from __future__ import annotations

import math
from itertools import pairwise

from mlir import ir
from mlir.dialects import scf

from pykern.passes.arithmetic.vector_math.double_word import fast_two_sum, two_product
from pykern.passes.arithmetic.vector_math.emit import Expansion, Real, Truth, Whole, choose, fma, select
from pykern.passes.arithmetic.vector_math.formats import F64
from pykern.passes.arithmetic.vector_math.pi_reduction import HALF_PI

# 64 zeros, then the bits of 2/pi
_BITS = (
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41,
    0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
)  # fmt: skip
_LOW = (1 << 32) - 1


def reduced_if(huge: Truth, x: Real, usual: tuple[Real, Real, Whole]) -> tuple[Real, Real, Whole]:
    """`usual` (r in two parts, and the quadrant), or the exact reduction of x, an f64, where it is `huge`."""
    branch = scf.IfOp(huge.value, [v.value.type for v in usual], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp([v.value for v in _reduced(Real(_fresh(x), F64, x.value))])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([v.value for v in usual])
    high, low, quadrant = branch.results
    finite = select(x < math.inf, Real(x.scope, F64, high), math.nan)
    return finite, Real(x.scope, F64, low), Whole(x.scope, 64, quadrant)


def _fresh(x: Real) -> Expansion:
    """A scope of its own: constants made in the branch are not there behind it."""
    return Expansion(x.scope.shape, x.scope.library, x.scope.fused)


def _reduced(x: Real) -> tuple[Real, Real, Whole]:
    """r in two parts and the quadrant, for x at least 2 and finite."""
    pattern = x.bits()
    exponent = (pattern >> F64.mantissa) - (F64.bias + F64.mantissa)
    significand = (pattern & ((1 << F64.mantissa) - 1)) | (1 << F64.mantissa)
    first = exponent + 62  # what stands before makes multiples of 4
    window = _window(first)
    product = _product(significand & _LOW, significand >> 32, window)
    return _parts(product)


def _window(first: Whole) -> list[Whole]:
    """192 bits from bit `first` on, as parts of 32 bits, the lowest first."""
    index, shift = first >> 6, first & 63
    words = [_word(index, offset) for offset in range(4)]
    parts: list[Whole] = []
    for word, following in pairwise(words):
        behind = choose(shift.compare("==", 0), following.like(0), following >> (64 - shift))
        whole = (word << shift) | behind
        parts = [whole & _LOW, whole >> 32, *parts]
    return parts


def _word(index: Whole, offset: int) -> Whole:
    """Word ``index + offset`` of the table."""
    found = index.like(_BITS[offset])
    for number in range(1, len(_BITS) - offset):
        found = choose(index.compare("==", number), index.like(_BITS[number + offset]), found)
    return found


def _product(low: Whole, high: Whole, window: list[Whole]) -> list[Whole]:
    """``(high 2^32 + low) * window`` modulo 2^192, as parts of 32 bits."""
    carry = low.like(0)
    parts: list[Whole] = []
    for part in window:
        total = low * part + carry
        parts.append(total & _LOW)
        carry = total >> 32
    carry = low.like(0)
    for place, part in enumerate(window[:-1], start=1):
        total = high * part + parts[place] + carry
        parts[place] = total & _LOW
        carry = total >> 32
    return parts


def _parts(product: list[Whole]) -> tuple[Real, Real, Whole]:
    """The quadrant is in the two highest bits, the fraction of a quarter turn below."""
    top = product[5]
    above_half = ((top >> 29) & 1).compare("!=", 0)
    quadrant = (top >> 30) + top.like(1).where(above_half)
    flipped = top.like(_LOW).where(above_half)  # 1 - f, but for one unit of 2^-190
    # 30 bits of the first part, then four of 32; the highest bit left is worth 1/4
    pieces = [((top ^ flipped) & 0x3FFFFFFF)] + [part ^ flipped for part in product[4:0:-1]]
    high, low = _real(pieces[0]) * 2.0**-30, top.scope.real(F64, 0.0)
    for number, piece in enumerate(pieces[1:], start=1):
        high, lost = fast_two_sum(high, _real(piece) * 2.0 ** -(30 + 32 * number))
        low = low + lost
    high, low = fast_two_sum(high, low)
    radians, lost = two_product(high, HALF_PI[0])
    tail = fma(high, HALF_PI[1], fma(low, HALF_PI[0], lost))
    r, rest = fast_two_sum(radians, tail)
    return select(above_half, -r, r), select(above_half, -rest, rest), quadrant


def _real(whole: Whole) -> Real:
    """An integer of 32 bits as f64, exactly."""
    return Real(whole.scope, F64, whole.scope.op("arith.uitofp", F64.type(), whole.value))
