"""What a loop or a branch gives twice it gives as two tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import bufferization

from pykern.passes.framework import Pass
from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import named

CHOOSING_OPS = ("scf.for", "scf.while", "scf.if", "arith.select")
"""Ops whose results are one of several tensors."""

_VIEWS = (*TENSOR_RESHAPES, "tensor.cast", "tensor.extract_slice")


@dataclass(frozen=True)
class SeparateYields(Pass):
    """Copy a tensor that is carried around a loop, or yielded, more than once, and a part of a tensor that is one
    of several: where a loop begins or goes on with it, or where a branch or a selection gives it.

    One-shot bufferization (LLVM 22) puts both into one buffer, and then does not see that writing one in the
    next iteration changes the other. And where parts of buffers meet, or a part and a whole one, their common type
    has an offset or steps that nobody knows, and no code can be made for it.

    In:  programs on tensors, last thing before bufferization.
    Out: the operands of each scf.for, scf.while, scf.yield and scf.condition are different tensors, and so
         are those of a call that writes one of them; loops, branches and selections have whole ones.
    """

    name: ClassVar[str] = "kern-separate-yields"
    looks_for: ClassVar[tuple[str, ...]] = (*CHOOSING_OPS, "func.call")

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, *CHOOSING_OPS, "scf.yield", "scf.condition", "func.call"):
            if op.name == "func.call" and not _writes(module, op):
                continue
            seen: set[ir.Value] = set()
            for number, value in enumerate(op.operands):
                if not isinstance(value.type, ir.RankedTensorType):
                    continue
                root = _root(value)
                again = root in seen and op.name != "arith.select"
                if again or (op.name != "func.call" and _is_part(value)):
                    with ir.InsertionPoint(op), op.location:
                        op.operands[number] = bufferization.alloc_tensor(value.type, [], copy=value)
                seen.add(root)


def _writes(module: ir.Module, call: ir.Operation) -> bool:
    """Whether the function writes into an array it is given: launches do, through buffers of their arguments."""
    callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    for op in module.body.operations:
        if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == callee:
            buffers = named(op.operation, "bufferization.to_buffer")
            return any("read_only" not in b.attributes for b in buffers)
    return False


def _is_part(value: ir.Value) -> bool:
    """Whether a value shows some of another tensor's elements, or is computed in their place."""
    while (made := made_by(value, *_VIEWS, "linalg.generic")) is not None:
        if made.name == "tensor.extract_slice":
            return True
        place = 0 if made.name in _VIEWS else ir.OpResult(value).result_number - len(made.results)
        value = list(made.operands)[place]
    return False


def _root(value: ir.Value) -> ir.Value:
    """The tensor whose elements a value shows."""
    while (view := made_by(value, *_VIEWS)) is not None:
        value = view.operands[0]
    return value
