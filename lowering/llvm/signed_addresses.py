"""Address arithmetic that may go down: no `nuw` where a stride may be negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named

_ARITHMETIC = (
    "llvm.func @f(%a: {kind}, %b: {kind}) {{ %c = {name} %a, %b overflow<nsw> : {kind} llvm.return }}"
)
_ADDRESS = """
llvm.func @f(%p: {pointer}, %i: {index}) {{
  %a = llvm.getelementptr inbounds %p[%i] : ({pointer}, {index}) -> {pointer}, {element}
  llvm.return
}}
"""


@dataclass(frozen=True)
class AllowNegativeStrides(Pass):
    """Take the promise of unsigned arithmetic away from addresses.

    Upstream lowers every memref access with `nuw`, which a negative stride (``x[::-1]``) breaks.

    In:  the llvm dialect; kernels with an array of unknown strides are marked `kern.strided`.
    Out: the same, without `nuw` on mul, add and getelementptr of these kernels.
    """

    name: ClassVar[str] = "kern-allow-negative-strides"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if kern.STRIDED not in kernel.attributes:
                continue
            for op in named(kernel, "llvm.mul", "llvm.add", "llvm.getelementptr"):
                if "nuw" in str(op) and len(op.operands) == 2:
                    _replace_by_signed(op)


def _replace_by_signed(op: ir.Operation) -> None:
    """Put the same op without `nuw` in its place; the bindings read and write no flags, the parser does."""
    first, second = op.operands
    if op.name == "llvm.getelementptr":
        element = ir.TypeAttr(op.attributes["elem_type"]).value
        text = _ADDRESS.format(pointer=first.type, index=second.type, element=element)
    else:
        text = _ARITHMETIC.format(name=op.name, kind=first.type)
    parsed = ir.Module.parse(text)
    pattern = parsed.body.operations[0].regions[0].blocks[0].operations[0].operation
    signed = pattern.clone(ir.InsertionPoint(op))
    signed.location = op.location
    signed.operands[0], signed.operands[1] = first, second
    kernels.replace(op, list(signed.results))
