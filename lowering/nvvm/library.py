"""Functions of the C library by NVIDIA's libdevice, which comes with MLIR.

Errors of libdevice: CUDA C++ Programming Guide, "Mathematical Functions": gamma and lgamma of f32 take more than
4 units in the last place, so they are computed in f64.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func

from pykern.lowering.llvm_library import ask
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace

NAMES = ("tgamma", "lgamma", "hypot", "remainder", "nextafter")
WIDE = ("tgamma", "lgamma")
PREFIX = "__nv_"


@dataclass(frozen=True)
class CallLibdevice(Pass):
    """Call libdevice instead of the C library.

    In:  func.call of C's functions of f32 and f64, declared in the module. Out: calls of their like in libdevice.
    """

    name: ClassVar[str] = "kern-call-libdevice"

    def run(self, module: ir.Module) -> None:
        for call in named(module.operation, "func.call"):
            name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            if name.removesuffix("f") in NAMES:
                with ir.InsertionPoint(call), call.location:
                    replace(call, [_called(module, name, list(call.operands))])
        for op in [o.operation for o in module.body.operations]:
            known = "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value
            if op.name == "func.func" and known and known.removesuffix("f") in NAMES:
                op.erase()


@functools.cache
def ask_for_exact_roots() -> None:
    """Make libdevice's functions take exact roots and quotients inside, as nvcc does unless told otherwise.

    libdevice asks LLVM, which only an option of the process answers.
    """
    ask("-nvvm-reflect-add=__CUDA_PREC_SQRT=1", "-nvvm-reflect-add=__CUDA_PREC_DIV=1")


def _called(module: ir.Module, name: str, operands: list[ir.Value]) -> ir.Value:
    kind, wide = operands[0].type, ir.F64Type.get()
    if name.removesuffix("f") in WIDE and kind != wide:
        result = _called(module, name.removesuffix("f"), [arith.ExtFOp(wide, v).result for v in operands])
        return arith.TruncFOp(kind, result).result
    _declare(module, PREFIX + name, len(operands), kind)
    return func.CallOp([kind], ir.FlatSymbolRefAttr.get(PREFIX + name), operands).results[0]


def _declare(module: ir.Module, name: str, count: int, kind: ir.Type) -> None:
    symbols = (op.operation.attributes for op in module.body.operations)
    if any("sym_name" in s and ir.StringAttr(s["sym_name"]).value == name for s in symbols):
        return
    with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
        func.FuncOp(name, ([kind] * count, [kind]), visibility="private")
