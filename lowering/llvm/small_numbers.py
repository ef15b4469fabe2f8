"""Launches with small numbers that Python looks at: there may be code for just these lengths, strides and counts.

Comes in: the entry of a kernel's general code in the making, with the numbers of a launch. Goes out: the same; the
first large launches in which a number is small go on at `miss`, as if the entry were for others. Python makes the code
that knows the numbers, and puts its entry in front (`pykern.launching.known_numbers`). What Python does not make in so
many launches it never does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykern.data.small_numbers import FEWEST_ELEMENTS, LARGEST_SMALL, LOOKED_AT
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.function import Block
from pykern.lowering.llvm.text_ir.values import I1, I64, Operand, Value


@dataclass
class Numbers:
    """Those of a launch."""

    small: list[Value] = field(default_factory=list)
    """Such as may be small."""
    boxes: list[list[Value]] = field(default_factory=list)
    """The lengths of each array, and the counts of the index space."""


def look_at_small(f: Body, numbers: Numbers, miss: Block) -> None:
    """Go on at `miss` in the first large launches with a small number."""
    if not numbers.small:
        return
    tries = f.module.define("pk_tries", "internal global i64 0")
    is_small: Operand = I1(0)
    for number in numbers.small:
        # strides may be negative; a length of 0 is one of a launch that is not large, or of few
        in_range = f.is_(f.add(number, LARGEST_SMALL), "u<=", 2 * LARGEST_SMALL)
        is_small = f.or_(is_small, in_range)
    assert isinstance(is_small, Value)
    with f.if_then(is_small, likely=False):
        tried = f.load(I64, tries)
        with f.if_then(f.is_(tried, "<", LOOKED_AT), likely=False):
            is_large: Operand = I1(0)
            for box in numbers.boxes:
                elements: Operand = I64(1)
                for length in box:
                    elements = f.mul(elements, length)
                is_large = f.or_(is_large, f.is_(elements, ">=", FEWEST_ELEMENTS))
            assert isinstance(is_large, Value)
            with f.if_then(is_large):
                f.store(f.add(tried, 1), tries)
                f.branch(miss)
