"""The pass that takes math ops apart.

Comes in: math ops on f16, bf16, f32, f64 and vectors of them. Goes out: arith, math.fma and what the
machine has as an instruction (sqrt, absf, copysign); loops over them vectorise.
Read next: `emit` (how the rules are written), then a family: `exponential`, `logarithm`, ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.arithmetic.vector_math import (
    cube_root,
    error_function,
    exponential,
    hyperbolic,
    inverse_hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    trigonometric,
)
from pykern.passes.arithmetic.vector_math.emit import Expansion, Real
from pykern.passes.arithmetic.vector_math.formats import F32, F64
from pykern.passes.framework import Pass
from pykern.passes.kernels import find

Rule = Callable[..., Real]

RULES: dict[str, Rule] = {
    "math.exp": exponential.exp,
    "math.exp2": exponential.exp2,
    "math.expm1": exponential.expm1,
    "math.log": logarithm.log,
    "math.log2": logarithm.log2,
    "math.log10": logarithm.log10,
    "math.log1p": logarithm.log1p,
    "math.powf": power.pow,
    "math.sin": trigonometric.sin,
    "math.cos": trigonometric.cos,
    "math.tan": trigonometric.tan,
    "math.sinh": hyperbolic.sinh,
    "math.cosh": hyperbolic.cosh,
    "math.tanh": hyperbolic.tanh,
    "math.erf": error_function.erf,
    "math.erfc": error_function.erfc,
    "math.atan": inverse_trigonometric.atan,
    "math.atan2": inverse_trigonometric.atan2,
    "math.asin": inverse_trigonometric.asin,
    "math.acos": inverse_trigonometric.acos,
    "math.asinh": inverse_hyperbolic.asinh,
    "math.acosh": inverse_hyperbolic.acosh,
    "math.atanh": inverse_hyperbolic.atanh,
    "math.cbrt": cube_root.cbrt,
}
"""What one op becomes: floats in, one float out, all of one format."""
APPROXIMATE: dict[str, Rule] = {"math.exp": exponential.quick_exp}
"""The same where an op may be approximated (`fastmath<afn>`)."""


@dataclass(frozen=True)
class ExpandMath(Pass):
    """Write elementary functions out in arithmetic, without branches, so that loops of them vectorise.

    In:  math ops of floats, scalar or vector; others are left as they are.
    Out: arith ops, math.fma, sqrt, absf and copysign. At most 2 units in the last place from the true
         value in f32 (erf, tanh: 3), 4 in f64; special values as C99 Annex F has them. f16 and bf16 are computed in
         f32.
    """

    name: ClassVar[str] = "kern-expand-math"
    looks_for: ClassVar[tuple[str, ...]] = ("math.",)
    library: bool = True
    """Whether angles beyond 2^40 (f32) and 2^28 (f64) may be left to the C library."""
    fused: bool = True
    """Whether the machine's fma rounds once."""
    doubles: bool = True
    """Whether the machine has floats of 64 bits: without, inverse hyperbolic functions of f32 are up to 4 units off."""
    moderate: bool = False
    """Whether angles of f32 are no larger than `pi_reduction.SHORT`."""
    native: tuple[str, ...] = ()
    """Functions that are left to the machine."""

    def run(self, module: ir.Module) -> None:
        for op in find(module.operation, lambda op: op.name in RULES and op.name not in self.native):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_expanded(op, self))
            op.erase()


def _expanded(op: ir.Operation, options: ExpandMath) -> ir.Value:
    kind = op.results[0].type
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    scope = Expansion(
        tuple(kind.shape) if isinstance(kind, ir.VectorType) else None,
        options.library,
        options.fused,
        options.doubles,
        options.moderate,
    )
    format = F64 if isinstance(element, ir.F64Type) else F32
    narrow = not isinstance(element, (ir.F32Type, ir.F64Type))
    operands = [scope.op("arith.extf", F32.type(), v) if narrow else v for v in op.operands]
    rules = RULES | APPROXIMATE if _may_approximate(op) else RULES
    result = rules[op.name](*(Real(scope, format, v) for v in operands)).value
    return scope.op("arith.truncf", element, result) if narrow else result


def _may_approximate(op: ir.Operation) -> bool:
    flags = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else ""
    return "afn" in flags or "fast>" in flags
