"""Zeros that a driver would know when it compiles are kept from it, where arithmetic depends on them.

Mesa's llvmpipe, which lavapipe runs kernels by, makes 0 of a product with a known zero and of a quotient by or of one,
and takes ``0 - x`` for ``-x`` and ``x + 0`` for x, whatever x is (`lp_build_mul` and its like in its sources): an
infinite or NaN x, and the sign of a zero, are lost. `NoContraction` and `SignedZeroInfNanPreserve` change nothing. It
knows more zeros than are written: it unrolls short loops, forwards stores to loads, and folds branches.

Comes in: a flat kernel whose arithmetic is written out. Goes out: the same; an operand whose value a driver might know
has its bits joined with zeros that come from memory. Read next: `finish`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.lowering.spirv.unknown_zero import unknown_zero
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.values import defining, made_by
from pykern.passes.ir.word_conversions import from_word
from pykern.passes.kernels import identity, named

ARITHMETIC = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.fma")


@dataclass(frozen=True)
class OpaqueZeros(Pass):
    """Keep operands of floats' arithmetic from being known zeros.

    In:  flat kernels whose last argument holds the launch's slots, and no bf16.
    Out: operands of `ARITHMETIC` are numbers that are not zero, come from memory that the kernel only
         reads, are results of such arithmetic, or are joined with bits of zero: the sign of the last slot, which is a
         group's number or the position of an array and never negative.
    """

    name: ClassVar[str] = "kern-opaque-zeros"
    looks_for: ClassVar[tuple[str, ...]] = ARITHMETIC

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            found = named(kernel, *ARITHMETIC)
            if found:
                _Kernel(kernel).hide(found)


class _Kernel:
    def __init__(self, kernel: ir.Operation) -> None:
        self.kernel, self.block = kernel, kernels.body(kernel)
        self.only_read = {
            argument
            for argument in self.block.arguments
            if all(use.owner.operation.name == "memref.load" for use in argument.uses)
        }
        self.top, self.place = ir.InsertionPoint(self.block.operations[0]), kernel.location
        self.zeros: dict[int, ir.Value] = {}
        self.constants: dict[int, ir.Value] = {}
        self.unknown: dict[int, bool] = {}
        """What `_is_unknown` said of operations."""

    def hide(self, found: list[ir.Operation]) -> None:
        for op in found:
            for n, value in enumerate(list(op.operands)):
                if _is_constant(value):
                    if _number(value) == 0:
                        op.operands[n] = self._constant(value)
                elif not self._is_unknown(value):
                    with ir.InsertionPoint(op), op.location:
                        op.operands[n] = self._joined(value)

    def _constant(self, zero: ir.Value) -> ir.Value:
        """Of all its uses together, at the top of the kernel."""
        key = identity(zero.owner.operation)
        if key not in self.constants:
            attribute = zero.owner.operation.attributes["value"]
            with self.top, self.place:
                self.constants[key] = self._joined(arith.ConstantOp(zero.type, attribute).result)
        return self.constants[key]

    def _is_unknown(self, value: ir.Value) -> bool:
        """Whether no driver can tell the value before the launch; what loops and branches carry it may."""
        op = defining(value)
        if op is None:
            return False
        key = identity(op)
        if key not in self.unknown:
            self.unknown[key] = self._makes_unknown(op)
        return self.unknown[key]

    def _makes_unknown(self, op: ir.Operation) -> bool:
        if op.name in ARITHMETIC:  # of which at least one operand is none that is written
            return True
        if op.name == "memref.load":
            return op.operands[0] in self.only_read
        if op.name == "arith.select":
            return all(map(self._is_unknown, list(op.operands)[1:]))
        return op.name in _FAITHFUL and all(map(self._is_unknown, op.operands))

    def _joined(self, value: ir.Value) -> ir.Value:
        """The value, by way of bits that nobody knows."""
        zero = self._zero(value.type.width)
        joined = arith.OrIOp(arith.BitcastOp(zero.type, value).result, zero).result
        return arith.BitcastOp(value.type, joined).result

    def _zero(self, width: int) -> ir.Value:
        """As an integer of so many bits."""
        if width not in self.zeros:
            with self.top, self.place:
                self.zeros[width] = from_word(unknown_zero(self.kernel), ir.IntegerType.get_signless(width))
        return self.zeros[width]


def _is_constant(value: ir.Value) -> bool:
    return made_by(value, "arith.constant") is not None


def _number(constant: ir.Value) -> float:
    return ir.FloatAttr(constant.owner.operation.attributes["value"]).value


_FAITHFUL = ("arith.extf", "arith.truncf", "arith.negf", "math.absf", "math.sqrt")
"""Operations of which the driver knows the result where it knows the operand, and else does not."""
