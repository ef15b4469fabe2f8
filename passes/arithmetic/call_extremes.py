"""Maxima and minima that keep NaN, in the form that a processor computes soonest.

Comes in: arith.maximumf and minimumf. Goes out: LLVM's operations of the same meaning.

Why: x86's `maxps` gives its second operand where one is NaN. LLVM makes of `maximum(a, b)` that instruction, and puts
`a` in its place where `a` is NaN; so whether `a` is NaN can be known before `b` is there. What a loop carries, or
another extreme gives, is `b`: a chain of maxima waits for two short operations in each step. `arith-expand` makes two
comparisons and two selections of it, one behind the other. Arm's processors and NVIDIA's have an instruction for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.ir.values import defining, is_argument
from pykern.passes.kernels import named, replace

_NAMES = {"arith.maximumf": "llvm.intr.maximum", "arith.minimumf": "llvm.intr.minimum"}


@dataclass(frozen=True)
class CallExtremes(Pass):
    """Leave maxima and minima that keep NaN to LLVM, the operand that comes last behind the other one.

    In:  arith.maximumf, arith.minimumf, of numbers or vectors; with `only_f32` those of f32 alone.
    Out: llvm.intr.maximum and minimum; which zero they give of two of different sign does not matter, and where the op
         says that there is no NaN (`nnan`), so do they.
    """

    name: ClassVar[str] = "kern-call-extremes"
    looks_for: ClassVar[tuple[str, ...]] = tuple(_NAMES)
    only_f32: bool = False

    def run(self, module: ir.Module) -> None:
        free, freer = (
            ir.Attribute.parse(f"#llvm.fastmath<{f}>", module.context) for f in ("nsz", "nnan,nsz")
        )
        for op in named(module.operation, *_NAMES):
            if self.only_f32 and not isinstance(op.results[0].type, ir.F32Type):
                continue
            operands = list(op.operands)
            if _comes_late(operands[0]) and not _comes_late(operands[1]):
                operands.reverse()
            with ir.InsertionPoint(op), op.location:
                made = ir.Operation.create(
                    _NAMES[op.name],
                    results=[op.results[0].type],
                    operands=operands,
                    attributes={"fastmathFlags": freer if _knows_no_nan(op) else free},
                )
            replace(op, list(made.results))


def _knows_no_nan(op: ir.Operation) -> bool:
    return "fastmath" in op.attributes and "nnan" in str(op.attributes["fastmath"])


def _comes_late(value: ir.Value) -> bool:
    """Whether a value waits for the iteration or the extreme before it."""
    if is_argument(value):
        return value.owner.owner.operation.name in ("scf.for", "scf.while")
    maker = defining(value)
    return maker is not None and maker.name in (*_NAMES, *_NAMES.values())
