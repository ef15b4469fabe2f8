"""Long chains of arithmetic in loops, in pieces that LLVM's vectoriser looks at one by one.

Comes in: innermost scf.for whose values hang on each other over hundreds of ops. Goes out: the same, with a multiply
and an add named as one, `llvm.intr.fmuladd`, every now and then.

Why: to tell whether a value is the same in all lanes, and of which type it is, `loop-vectorize` goes back through what
it was computed from, for each value anew, so that its time grows with the square of a chain. It does not look behind
intrinsics. Instruction selection would have made the same multiply-adds: the first operand that is a product nobody
else reads. Targets without such an instruction get the two back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, llvm

from pykern.lowering.llvm.loops import ON_LOOPS
from pykern.passes.analysis.cost_model.code_size import CHAIN_STEPS, FEWEST_CHAIN_OPS
from pykern.passes.framework import Pass
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import find

_STEPS = "addf subf mulf divf negf addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui"
STEPS = {f"arith.{name}" for name in f"{_STEPS} cmpf cmpi select".split()} | {"scf.if"}
"""What is gone back through. Loads, casts, and what becomes an intrinsic or a call end the way."""
_SUMS = ("arith.addf", "arith.subf")


@dataclass(frozen=True)
class BreakChains(Pass):
    """Name a multiply-add in every `steps` ops of a chain, in loops that LLVM may vectorise.

    In:  scf.for. Out: sums of a product, both with `contract`, are `llvm.intr.fmuladd` where they end a chain of more
         than `steps` ops; what a loop carries from one iteration to the next keeps the form that reductions are
         known by. Loops of fewer than `fewest` ops are left alone.
    """

    name: ClassVar[str] = "kern-break-chains"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    scalar_only: ClassVar[bool] = True
    steps: int = CHAIN_STEPS
    fewest: int = FEWEST_CHAIN_OPS

    def run(self, module: ir.Module) -> None:
        for loop in find(module.operation, lambda op: op.name == "scf.for"):
            if self._is_candidate(loop) and not find(loop, lambda op: op.name == "scf.for"):
                _Chains(self.steps).block(loop.regions[0].blocks[0])

    def _is_candidate(self, loop: ir.Operation) -> bool:
        """Long, and LLVM's to vectorise: neither told otherwise nor of vectors already."""
        if "vectorize" in str(loop.attributes.get(ON_LOOPS)):
            return False
        names = [op.operation.name for op in loop.regions[0].blocks[0].operations]
        return len(names) >= self.fewest and not any(name.startswith("vector.") for name in names)


class _Chains:
    """How many steps lie behind each value; what is not in the table has none."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.behind: dict[ir.Value, int] = {}
        self.carried: set[ir.Value] = set()

    def block(self, block: ir.Block) -> None:
        self.carried.update(list(block.arguments)[1:])
        for op in [o.operation for o in block.operations]:
            if op.name not in STEPS:
                continue
            operands = list(op.operands)
            for inner in [inner for region in op.regions for inner in region.blocks]:
                self.block(inner)
                operands.extend(inner.operations[len(inner.operations) - 1].operands)
            result = op.results[0] if len(op.results) else None
            if result is None:
                continue
            steps = 1 + max((self.behind.get(operand, 0) for operand in operands), default=0)
            if any(operand in self.carried for operand in operands):
                self.carried.update(op.results)
            elif steps > self.steps and op.name in _SUMS and _join(op):
                continue
            for one in op.results:
                self.behind[one] = steps


def _join(total: ir.Operation) -> bool:
    """Put a multiply-add in place of a sum; whether one of its operands is a product that nobody else reads."""
    if not _is_contracted(total) or not isinstance(total.results[0].type, ir.F32Type | ir.F64Type):
        return False
    for number in (0, 1):
        product = total.operands[number]
        op = made_by(product, "arith.mulf")
        if op is None:
            continue
        if not _is_contracted(op) or len(list(product.uses)) != 1 or op.block != total.block:
            continue
        with ir.InsertionPoint(total), total.location:
            left, right, other = op.operands[0], op.operands[1], total.operands[1 - number]
            if total.name == "arith.subf" and number == 0:
                other = arith.NegFOp(other).result
            elif total.name == "arith.subf":
                left = arith.NegFOp(left).result
            flags = ir.Attribute.parse("#llvm.fastmath<contract>")
            joined = llvm.intr_fmuladd(left, right, other, fastmath_flags=flags)
        total.results[0].replace_all_uses_with(joined)
        total.erase()
        op.erase()
        return True
    return False


def _is_contracted(op: ir.Operation) -> bool:
    if "fastmath" not in op.attributes:
        return False
    _, _, flags = str(op.attributes["fastmath"]).partition("<")
    return "contract" in flags or flags == "fast>"
