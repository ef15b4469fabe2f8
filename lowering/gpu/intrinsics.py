"""Functions that machines have as instructions, as LLVM's intrinsics.

MLIR's own conversions for GPUs call device libraries for them, and take an inexact square root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.framework import Pass
from pykern.passes.kernels import find, replace

INTRINSICS = {
    "math.sqrt": "sqrt", "math.absf": "fabs", "math.ceil": "ceil", "math.floor": "floor", "math.trunc": "trunc",
    "math.round": "round", "math.roundeven": "roundeven", "math.copysign": "copysign", "math.fma": "fma",
}  # fmt: skip
INTEGER = {
    "math.absi": ("abs", "is_int_min_poison"), "math.ctlz": ("ctlz", "is_zero_poison"),
    "math.cttz": ("cttz", "is_zero_poison"), "math.ctpop": ("ctpop", ""),
}  # fmt: skip
"""The intrinsic, and its promise about the hardest argument: none is made."""


@dataclass(frozen=True)
class CallIntrinsics(Pass):
    """Call intrinsics for what is one instruction, or a few.

    In:  math ops. Out: llvm.call_intrinsic, correctly rounded unless fast math allows less; rsqrt is
         a division by a root. Other math ops stay.
    """

    name: ClassVar[str] = "kern-call-intrinsics"

    def run(self, module: ir.Module) -> None:
        for op in find(module.operation, lambda op: op.name in INTEGER):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_integer(op, *INTEGER[op.name])])
        for op in find(module.operation, lambda op: op.name in INTRINSICS or op.name == "math.rsqrt"):
            with ir.InsertionPoint(op), op.location:
                if op.name == "math.rsqrt":
                    kind = op.results[0].type
                    one = arith.ConstantOp(kind, ir.FloatAttr.get(kind, 1.0)).result
                    fast = _fast(op)
                    replace(op, [arith.DivFOp(one, _call(op, "sqrt"), fastmath=fast).result])
                else:
                    replace(op, [_call(op, INTRINSICS[op.name])])


def _integer(op: ir.Operation, name: str, promise: str) -> ir.Value:
    promises = {promise: ir.BoolAttr.get(False)} if promise else {}
    return ir.Operation.create(
        f"llvm.intr.{name}", results=[op.results[0].type], operands=list(op.operands), attributes=promises
    ).result


def _fast(op: ir.Operation) -> ir.Attribute | None:
    if "fastmath" not in op.attributes:
        return None
    return op.attributes["fastmath"]


def _call(op: ir.Operation, name: str) -> ir.Value:
    kind = op.results[0].type
    fast = _fast(op)
    flags = str(fast).removeprefix("#arith.fastmath") if fast is not None else "<none>"
    return ir.Operation.create(
        "llvm.call_intrinsic",
        results=[kind],
        operands=list(op.operands),
        attributes={
            "intrin": ir.StringAttr.get(f"llvm.{name}.{kind}"),
            "fastmathFlags": ir.Attribute.parse(f"#llvm.fastmath{flags}"),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(op.operands), 0]),
        },
    ).result
