"""Calls of the C library become arithmetic: devices have none to call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.arithmetic.vector_math import gamma, library
from pykern.passes.arithmetic.vector_math.emit import Expansion, Real
from pykern.passes.arithmetic.vector_math.formats import F32, F64
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace

FUNCTIONS: dict[str, Callable[..., Real]] = {
    "tgamma": gamma.gamma,
    "lgamma": gamma.lgamma,
    "hypot": library.hypot,
    "remainder": library.remainder,
    "nextafter": library.nextafter,
}


@dataclass(frozen=True)
class ExpandLibrary(Pass):
    """Write out gamma, lgamma, hypot, remainder and nextafter.

    In:  func.call of the functions of C, of f64 or (with an `f` behind the name) f32.
    Out: arith and math, arith.remf among them; the declarations are gone.
    """

    name: ClassVar[str] = "kern-expand-library"
    looks_for: ClassVar[tuple[str, ...]] = ("func.call",)
    fused: bool = True
    """Whether the machine's fma rounds once."""
    doubles: bool = True
    """Whether the machine has floats of 64 bits: without, hypot of f32 is up to 2 units off."""
    functions: str = ";".join(FUNCTIONS)
    """Those that are written out; the others are left to the C library."""

    def run(self, module: ir.Module) -> None:
        functions = self.functions.split(";")
        for call in named(module.operation, "func.call"):
            symbol = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            if symbol.removesuffix("f") in functions:
                with ir.InsertionPoint(call), call.location:
                    replace(call, [_expanded(FUNCTIONS[symbol.removesuffix("f")], list(call.operands), self)])
        for op in [o.operation for o in module.body.operations]:
            if op.name == "func.func" and _is_declared(op, functions):
                op.erase()


def _expanded(function: Callable[..., Real], operands: list[ir.Value], options: ExpandLibrary) -> ir.Value:
    scope = Expansion(None, library=False, fused=options.fused, doubles=options.doubles)
    format = F64 if isinstance(operands[0].type, ir.F64Type) else F32
    return function(*(Real(scope, format, v) for v in operands)).value


def _is_declared(function: ir.Operation, functions: list[str]) -> bool:
    symbol = ir.StringAttr(function.attributes["sym_name"]).value
    return symbol.removesuffix("f") in functions and not list(function.regions[0].blocks)
