"""Products and sums of the rules may be fused where those of the program may."""

from __future__ import annotations

from mlir import ir

from pykern.passes.kernels import find

_ROUNDED = ("arith.addf", "arith.subf", "arith.mulf", "arith.negf")


def contract_as(primal: ir.Operation, derivative: ir.Operation) -> None:
    """Give the derivative's arithmetic the flag `contract` if all of the primal's has it."""
    own = find(primal, lambda op: op.name in _ROUNDED)
    if not own or not all("contract" in _flags(op) or "fast>" in _flags(op) for op in own):
        return
    for op in find(derivative, lambda op: op.name in _ROUNDED):
        if _flags(op) == "none":
            op.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<contract>")


def _flags(op: ir.Operation) -> str:
    text = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else "<none>"
    return "none" if text.endswith("<none>") else text
