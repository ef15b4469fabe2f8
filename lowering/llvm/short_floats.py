"""bf16 on processors that compute in f32: arithmetic is emulated, and LLVM moves it as 16-bit integers.

When modules get to `MoveBf16AsWords`, arithmetic on bf16 is f32 and conversions are shifts. What is left are loads and
stores; where LLVM splits those into elements (masked vectors, on processors that mask no 16 bits), it calls
`__truncsfbf2`, which nobody defines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import llvm

from pykern.passes.framework import Pass
from pykern.passes.kernels import named

EMULATE_BF16 = "func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})"


def has_short_floats(module: ir.Module) -> bool:
    """Whether bf16 or fp8 is anywhere: by the text, which is faster than a look at every type."""
    text = str(module)
    return "bf16" in text or "f8E" in text


_STORED = {"llvm.store": (0,), "llvm.intr.masked.load": (2,), "llvm.intr.masked.store": (0,)}
"""Operands that are moved, and what a masked load gives elsewhere."""


@dataclass(frozen=True)
class MoveBf16AsWords(Pass):
    """Load and store i16 instead of bf16.

    In:  the llvm dialect; loads and stores of bf16 and of vectors of it, also masked ones.
    Out: the same of i16, with bitcasts.
    """

    name: ClassVar[str] = "kern-move-bf16-as-words"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "llvm.load", *_STORED):
            for number in _STORED.get(op.name, ()):
                if (words := _words(op.operands[number].type)) is not None:
                    with ir.InsertionPoint(op), op.location:
                        op.operands[number] = llvm.BitcastOp(words, op.operands[number]).result
            for result in op.results:
                kind = result.type
                if (words := _words(kind)) is not None:
                    result.set_type(words)
                    with ir.InsertionPoint.after(op), op.location:
                        cast = llvm.BitcastOp(kind, result)
                    result.replace_all_uses_except(cast.result, cast.operation)


def _words(kind: ir.Type) -> ir.Type | None:
    """The type of as many 16-bit integers; None for what is not bf16."""
    i16 = ir.IntegerType.get_signless(16)
    if isinstance(kind, ir.BF16Type):
        return i16
    if isinstance(kind, ir.VectorType) and isinstance(kind.element_type, ir.BF16Type):
        return ir.VectorType.get(list(kind.shape), i16)
    return None
