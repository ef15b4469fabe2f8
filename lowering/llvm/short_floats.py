"""bf16 on processors that compute in f32: arithmetic is emulated, and LLVM moves it as 16-bit integers.

When modules get to `MoveBf16AsWords`, arithmetic on bf16 is f32 and conversions are shifts. What is left moves values:
loads, stores, choices, arguments. LLVM keeps a bf16 that comes from a choice or another block as an f32, and
splits masked vectors into such elements on processors that mask no 16 bits: to get back it calls `__truncsfbf2`, which
nobody defines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import llvm

from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace

EMULATE_BF16 = "func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})"


def has_short_floats(module: ir.Module) -> bool:
    """Whether bf16 or fp8 is anywhere: by the text, which is faster than a look at every type."""
    text = str(module)
    return "bf16" in text or "f8E" in text


_MOVES = ("llvm.load", "llvm.store", "llvm.intr.masked.load", "llvm.intr.masked.store", "llvm.select", "llvm.br",
          "llvm.cond_br", "llvm.switch", "llvm.call", "llvm.return")  # fmt: skip
"""Ops that only move what they are given."""


@dataclass(frozen=True)
class MoveBf16AsWords(Pass):
    """Move i16 instead of bf16.

    In:  the llvm dialect; loads and stores of bf16 and of vectors of it, also masked ones; choices between such
         values; arguments of blocks and functions, and what these give.
    Out: the same of i16, with bitcasts. What becomes f64 is f32 on the way.
    """

    name: ClassVar[str] = "kern-move-bf16-as-words"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, *_MOVES):
            for number, value in enumerate(op.operands):
                if (words := _words(value.type)) is not None:
                    with ir.InsertionPoint(op), op.location:
                        op.operands[number] = llvm.BitcastOp(words, value).result
            for result in op.results:
                _make_words(result, ir.InsertionPoint.after(op), op.location)
        for op in named(module.operation, "llvm.fpext"):
            _extend_in_two_steps(op)
        for function in named(module.operation, "llvm.func"):
            kind = str(ir.TypeAttr(function.attributes["function_type"]).value)
            function.attributes["function_type"] = ir.TypeAttr.get(ir.Type.parse(kind.replace("bf16", "i16")))
            for block in function.regions[0].blocks:
                for argument in block.arguments:
                    _make_words(argument, ir.InsertionPoint.at_block_begin(block), function.location)


def _make_words(value: ir.Value, point: ir.InsertionPoint, location: ir.Location) -> None:
    """Give the value the type of words, and its users what they had."""
    kind = value.type
    if (words := _words(kind)) is not None:
        value.set_type(words)
        with point, location:
            cast = llvm.BitcastOp(kind, value)
        value.replace_all_uses_except(cast.result, cast.operation)


def _extend_in_two_steps(op: ir.Operation) -> None:
    """bf16 to f64: the first step, to f32, is a shift of words."""
    value, kind = op.operands[0], op.results[0].type
    words, single = _words(value.type), _like(kind, ir.F32Type.get())
    if words is None or kind == single:
        return
    wide = _like(kind, ir.IntegerType.get_signless(32))
    with ir.InsertionPoint(op), op.location:
        bits = llvm.ZExtOp(wide, llvm.BitcastOp(words, value).result).result
        places = llvm.ConstantOp(wide, _all(wide, 16)).result
        moved = llvm.ShlOp(bits, places, overflowFlags=llvm.IntegerOverflowFlags.none).result
        replace(op, [llvm.FPExtOp(kind, llvm.BitcastOp(single, moved).result).result])


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    """`element`, as many as there are in `kind`."""
    return ir.VectorType.get(list(kind.shape), element) if isinstance(kind, ir.VectorType) else element


def _all(kind: ir.Type, number: int) -> ir.Attribute:
    """The attribute of a constant: the number, as often as the type has it."""
    if not isinstance(kind, ir.VectorType):
        return ir.IntegerAttr.get(kind, number)
    return ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, number))


def _words(kind: ir.Type) -> ir.Type | None:
    """The type of as many 16-bit integers; None for what is not bf16."""
    i16 = ir.IntegerType.get_signless(16)
    if isinstance(kind, ir.BF16Type):
        return i16
    if isinstance(kind, ir.VectorType) and isinstance(kind.element_type, ir.BF16Type):
        return ir.VectorType.get(list(kind.shape), i16)
    return None
