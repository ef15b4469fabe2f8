"""The instruction of tensor cores, `mma.sync`, batches of copies, and powers between two products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, llvm

from pykern.dialect import attributes as kern
from pykern.dialect.matrix_units import SUMS
from pykern.lowering.gpu.matrix_memory import vector_of
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import defining
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class LowerMatrices(Pass):
    """Multiply small matrices by NVIDIA's instruction, and wait for copies by NVIDIA's groups.

    In:  kern.multiply_matrices, kern.commit_copies, kern.wait_copies; math.exp of f32 marked `kern.flushed`, which
         becomes one multiplication and `ex2.approx.ftz`. Out: nvvm.mma.sync, which takes pairs of f16 as
         vectors, pairs of bf16 as words and f64 as such; nvvm.cp.async.commit.group and nvvm.cp.async.wait.group.
    """

    name: ClassVar[str] = "kern-lower-matrices"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, *_LOWERINGS):
            if op.name == "math.exp" and kern.FLUSHED not in op.attributes:
                continue
            with ir.InsertionPoint(op), op.location:
                replace(op, _LOWERINGS[op.name](op))


def _multiplied(op: ir.Operation) -> list[ir.Value]:
    (left, right), (*factors, sums) = op.opview.types, op.opview.parts
    instruction = op.opview.instruction
    kind, extra, depth = sums[0].type, {}, 16
    segments = [len(words) for words in factors]
    if left == "f64":
        depth, segments = 4, [1, 1]
        factors = [[_double(kind, words)] for words in factors]
    factors = [*factors[0], *factors[1]]
    if SUMS[left] == "i32":
        extra, depth = {"intOverflowBehavior": ir.Attribute.parse("#nvvm.mma_int_overflow<wrapped>")}, 32
    if left == "f16":
        pair = ir.VectorType.get([2], ir.F16Type.get())
        factors = [llvm.BitcastOp(pair, word).result for word in factors]
    made = ir.Operation.create(
        "nvvm.mma.sync",
        results=[ir.Type.parse(f"!llvm.struct<({', '.join([str(kind)] * len(sums))})>")],
        operands=[*factors, *sums],
        attributes={
            "layoutA": ir.Attribute.parse("#nvvm.mma_layout<row>"),
            "layoutB": ir.Attribute.parse("#nvvm.mma_layout<col>"),
            "multiplicandAPtxType": ir.Attribute.parse(f"#nvvm.mma_type<{left}>"),
            "multiplicandBPtxType": ir.Attribute.parse(f"#nvvm.mma_type<{right}>"),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([*segments, len(sums)]),
            "shape": ir.Attribute.parse(
                f"#nvvm.shape<m = {instruction.rows}, n = {instruction.columns}, k = {depth}>"
            ),
            **extra,
        },
    ).result
    return [llvm.ExtractValueOp(kind, made, ir.DenseI64ArrayAttr.get([n])).result for n in range(len(sums))]


def _double(kind: ir.Type, words: list[ir.Value]) -> ir.Value:
    """An f64 of its words, made where they are loaded: LLVM may load elements of a vector one by one where they are
    used, and joins such loads again only as long as no product is between them."""
    loaded = defining(words[0])
    together = loaded is not None and all(defining(word) == loaded for word in words)
    with ir.InsertionPoint.after(loaded) if together else ir.InsertionPoint.current:
        return llvm.BitcastOp(kind, vector_of(words)).result


def _committed(op: ir.Operation) -> list[ir.Value]:
    ir.Operation.create("nvvm.cp.async.commit.group")
    return []


def _awaited(op: ir.Operation) -> list[ir.Value]:
    ir.Operation.create("nvvm.cp.async.wait.group", attributes={"n": op.attributes["pending"]})
    return []


def _powered(op: ir.Operation) -> list[ir.Value]:
    exponent = arith.MulFOp(op.operands[0], constant(op.operands[0].type, math.log2(math.e))).result
    intrinsic = ir.StringAttr.get("llvm.nvvm.ex2.approx.ftz.f")
    return [llvm.call_intrinsic(exponent.type, intrinsic, [exponent], [], [])]


_LOWERINGS = {
    "math.exp": _powered,
    "kern.multiply_matrices": _multiplied,
    "kern.commit_copies": _committed,
    "kern.wait_copies": _awaited,
}
