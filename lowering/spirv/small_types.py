"""bf16 values that only travel: SPIR-V knows them as 16-bit integers. So are those of f16 where a language lacks it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.kernels import find


@dataclass(frozen=True)
class KeepBf16AsBits(Pass):
    """Give every value of type bf16 the type i16, with `f16` also those of f16.

    In:  bf16 in bitcasts, constants, selects, branches and carried by loops; no arithmetic on it.
    Out: no bf16; the bitcasts are gone.
    """

    name: ClassVar[str] = "kern-keep-bf16-as-bits"
    f16: bool = False

    def run(self, module: ir.Module) -> None:
        kinds = (ir.BF16Type, ir.F16Type) if self.f16 else ir.BF16Type
        i16 = ir.IntegerType.get_signless(16)
        for op in find(module.operation, lambda op: op.name == "arith.constant"):
            if isinstance(op.results[0].type, kinds):
                _constant(op, i16)
        for op in find(module.operation, lambda op: True):
            for value in [*op.results, *(a for r in op.regions for b in r.blocks for a in b.arguments)]:
                if isinstance(value.type, kinds):
                    value.set_type(i16)
        for op in find(module.operation, lambda op: op.name == "arith.bitcast"):
            if op.operands[0].type == op.results[0].type:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()


def _constant(op: ir.Operation, i16: ir.Type) -> None:
    number = ir.FloatAttr(op.attributes["value"]).value
    bits = _bits_of_f16(number) if isinstance(op.results[0].type, ir.F16Type) else _bits(number)
    with ir.InsertionPoint(op), op.location:
        made = ir.Operation.create(
            "arith.constant", results=[i16], attributes={"value": ir.IntegerAttr.get(i16, bits)}
        )
    op.results[0].replace_all_uses_with(made.result)
    op.erase()


def _bits(number: float) -> int:
    """The code of a number that bf16 holds, as a signed 16-bit integer."""
    code = struct.unpack("<I", struct.pack("<f", number))[0] >> 16
    return code - (1 << 16) if code >= 1 << 15 else code


def _bits_of_f16(number: float) -> int:
    (code,) = struct.unpack("<h", struct.pack("<e", number))
    return code
