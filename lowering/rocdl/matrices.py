"""The instructions of matrix cores, MFMA of CDNA and WMMA of RDNA, and powers between two products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, llvm, rocdl

from pykern.dialect import attributes as kern
from pykern.dialect.matrix_units import SUMS
from pykern.lowering.gpu.matrix_memory import vector_of, words_of
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import named, replace

_OPS = {
    ("gfx90a", "f16"): ("mfma.f32.16x16x16f16", "vector<4xf16>"),
    ("gfx90a", "bf16"): ("mfma.f32.16x16x16bf16.1k", "vector<4xi16>"),
    ("gfx90a", "s8"): ("mfma.i32.16x16x16i8", "i32"),
    ("gfx942", "f16"): ("mfma.f32.16x16x16f16", "vector<4xf16>"),
    ("gfx942", "bf16"): ("mfma.f32.16x16x16bf16.1k", "vector<4xi16>"),
    ("gfx942", "s8"): ("mfma.i32.16x16x32.i8", "i64"),
    ("gfx950", "f16"): ("mfma.f32.16x16x32.f16", "vector<8xf16>"),
    ("gfx950", "bf16"): ("mfma.f32.16x16x32.bf16", "vector<8xbf16>"),
    ("gfx950", "s8"): ("mfma.i32.16x16x64.i8", "vector<4xi32>"),
    **{(unit, "f32"): ("mfma.f32.16x16x4f32", "f32") for unit in ("gfx90a", "gfx942", "gfx950")},
    **{(unit, "f64"): ("mfma.f64.16x16x4f64", "f64") for unit in ("gfx90a", "gfx942", "gfx950")},
    ("gfx11", "f16"): ("wmma.f32.16x16x16.f16", "vector<16xf16>"),
    ("gfx11", "bf16"): ("wmma.f32.16x16x16.bf16", "vector<16xi16>"),
    ("gfx11", "s8"): ("wmma.i32.16x16x16.iu8", "vector<4xi32>"),
    ("gfx11", "u8"): ("wmma.i32.16x16x16.iu8", "vector<4xi32>"),
    ("gfx12", "f16"): ("wmma.f32.16x16x16.f16", "vector<8xf16>"),
    ("gfx12", "bf16"): ("wmma.f32.16x16x16.bf16", "vector<8xi16>"),
    ("gfx12", "s8"): ("wmma.i32.16x16x16.iu8", "vector<2xi32>"),
    ("gfx12", "u8"): ("wmma.i32.16x16x16.iu8", "vector<2xi32>"),
}
"""For a unit and the type of its left factor, the operation of the rocdl dialect, and the type that words become."""


@dataclass(frozen=True)
class LowerWaveMatrices(Pass):
    """Multiply small matrices by AMD's instructions.

    In:  kern.multiply_matrices of AMD's units; math.exp of f32 marked `kern.flushed`, which becomes one multiplication
         and `rocdl.exp2`. Out: rocdl.mfma and rocdl.wmma, which take all words of a lane as one vector, and its sums as
         another.
    """

    name: ClassVar[str] = "kern-lower-wave-matrices"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "kern.multiply_matrices"):
            with ir.InsertionPoint(op), op.location:
                replace(op, _multiplied(op))
        for op in named(module.operation, "math.exp"):
            if kern.FLUSHED in op.attributes:
                with ir.InsertionPoint(op), op.location:
                    replace(op, [_power(op.operands[0])])


def _multiplied(op: ir.Operation) -> list[ir.Value]:
    unit, (left, right) = op.opview.unit, op.opview.types
    name, kind = _OPS[unit, left]
    *factors, sums = op.opview.parts
    a, b = (_together(words, ir.Type.parse(kind)) for words in factors)
    operands, attributes = [a, b, vector_of(sums)], {}
    if name.startswith("mfma"):  # which blocks are taken for others, and how lanes are moved: as they are
        word = ir.IntegerType.get_signless(32)
        operands += [llvm.ConstantOp(word, ir.IntegerAttr.get(word, 0)).result] * 3
    elif SUMS[left] == "i32":
        flags = {"signA": left == "s8", "signB": right == "s8", "clamp": False}
        attributes = {flag: ir.BoolAttr.get(value) for flag, value in flags.items()}
    made = ir.Operation.create(
        f"rocdl.{name}", results=[operands[2].type], operands=operands, attributes=attributes
    )
    return words_of(made.result)


def _power(value: ir.Value) -> ir.Value:
    exponent = arith.MulFOp(value, constant(value.type, math.log2(math.e))).result
    return rocdl.exp2(value.type, exponent)


def _together(words: list[ir.Value], kind: ir.Type) -> ir.Value:
    """All bits of the words."""
    value = vector_of(words) if len(words) > 1 else words[0]
    return value if value.type == kind else llvm.BitcastOp(kind, value).result
