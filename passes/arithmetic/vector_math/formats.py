"""The two formats the formulas are written for, and the numbers that follow from their layout."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class Format:
    """A binary float format of IEEE 754: `bits` in all, `mantissa` of them after the point."""

    name: str
    bits: int
    mantissa: int
    bias: int

    @property
    def one(self) -> int:
        """The bit pattern of 1.0."""
        return self.bias << self.mantissa

    @property
    def sign(self) -> int:
        """The bit pattern of -0.0."""
        return 1 << (self.bits - 1)

    @property
    def least_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def rounder(self) -> float:
        """Adding it leaves a number rounded to an integer, nearest even, in the low bits of the sum."""
        return 1.5 * 2.0**self.mantissa

    def pattern(self, number: float) -> int:
        """The bit pattern of a number."""
        if self.bits == 32:
            return struct.unpack("<i", struct.pack("<f", number))[0]
        return struct.unpack("<q", struct.pack("<d", number))[0]

    def type(self) -> ir.Type:
        return ir.F32Type.get() if self.bits == 32 else ir.F64Type.get()


F32 = Format("f32", 32, 23, 127)
F64 = Format("f64", 64, 52, 1023)
