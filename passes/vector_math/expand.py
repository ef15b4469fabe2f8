"""The pass: math ops become arithmetic that vectorises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, scf

from pykern.passes.framework import Pass
from pykern.passes.kernels import find, replace
from pykern.passes.vector_math import error_function, exponential, logarithm, trigonometric
from pykern.passes.vector_math.emit import Real

Rule = Callable[..., Real]

F32: dict[str, Rule] = {"math.exp": exponential.exp, "math.log": logarithm.log}
"""Computed in f32 throughout."""

F32_THROUGH_F64: dict[str, Rule] = {
    "math.exp2": exponential.exp2_f64,
    "math.expm1": exponential.expm1_f64,
    "math.tanh": exponential.tanh,
    "math.sinh": exponential.sinh_f64,
    "math.cosh": exponential.cosh_f64,
    "math.log2": logarithm.log2_f64,
    "math.log10": logarithm.log10_f64,
    "math.log1p": logarithm.log1p_f64,
    "math.powf": logarithm.pow_f64,
    "math.erf": error_function.erf_f64,
    "math.erfc": error_function.erfc_f64,
}
"""Computed in f64 and rounded once: half the lanes, and right to half a unit in the last place."""

F64: dict[str, Rule] = {
    "math.exp": exponential.exp,
    "math.log": logarithm.log,
    "math.tanh": exponential.tanh,
    # upstream's lowering has exp(x) - 1 and log(1 + x) for these, which are wrong near 0
    "math.expm1": exponential.expm1_all,
    "math.log1p": logarithm.log1p_f64,
}
PERIODIC: dict[str, Rule] = {
    "math.sin": trigonometric.sin,
    "math.cos": trigonometric.cos,
    "math.tan": trigonometric.tan,
}
"""In f64 up to `trigonometric.LIMIT`, from libm beyond. In f32 libm itself is faster (3 against 13 ns)."""


@dataclass(frozen=True)
class ExpandMath(Pass):
    """Rewrite exp, log, pow, tanh, sin, cos, erf and their like.

    In:  scalar math ops.
    Out: arith, math.fma, and for sin, cos and tan of arguments beyond 1e6 a call of libm in an scf.if.
    """

    name: ClassVar[str] = "kern-expand-math"

    def run(self, module: ir.Module) -> None:
        for op in find(module.operation, lambda op: op.name.startswith("math.")):
            kind = op.results[0].type
            with ir.InsertionPoint(op), op.location:
                expanded = _expanded(module, op, kind)
            if expanded is not None:
                replace(op, [expanded])


def _expanded(module: ir.Module, op: ir.Operation, kind: ir.Type) -> ir.Value | None:
    arguments = [Real(v) for v in op.operands]
    if isinstance(kind, ir.F32Type):
        if op.name in F32:
            return F32[op.name](*arguments).value
        wide = [Real(arith.ExtFOp(ir.F64Type.get(), v).result) for v in op.operands]
        if op.name in F32_THROUGH_F64:
            return arith.TruncFOp(kind, F32_THROUGH_F64[op.name](*wide).value).result
    elif isinstance(kind, ir.F64Type):
        if op.name in F64:
            return F64[op.name](*arguments).value
        if op.name in PERIODIC:
            return _or_library(module, op, arguments[0], PERIODIC[op.name](arguments[0]).value, kind)
    return None


def _or_library(module: ir.Module, op: ir.Operation, x: Real, near: ir.Value, kind: ir.Type) -> ir.Value:
    """`near` for the arguments it is right for, else libm's function."""
    symbol = op.name.removeprefix("math.")
    _declare(module, symbol, kind)
    far = abs(x).compare("OGT", trigonometric.LIMIT)
    branch = scf.IfOp(far, [kind], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        called = func.CallOp([kind], ir.FlatSymbolRefAttr.get(symbol), [x.value]).results[0]
        scf.YieldOp([called])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([near])
    return branch.results[0]


def _declare(module: ir.Module, symbol: str, kind: ir.Type) -> None:
    known = {ir.StringAttr(op.operation.attributes["sym_name"]).value for op in module.body.operations}
    if symbol not in known:
        with ir.InsertionPoint.at_block_begin(module.body):
            func.FuncOp(symbol, ir.FunctionType.get([kind], [kind]), visibility="private")
