"""Derivatives that an array program takes inside: of another function, for arguments of its own.

Comes in: that function as a module of its own, its source with the derivative, the operands of the call, and the
module of the program that is being built. Goes out: the ops of the derivative at the place of the call, kernels that
it launches beside the program, the results and their form. The frontend asks for it: `pykern.frontend.program.traced`.
"""

from __future__ import annotations

import json
from typing import Any

from mlir import ir

from pykern.compiler.program_derivatives import differentiate
from pykern.data.program_source import ProgramSource
from pykern.dialect import attributes as kern
from pykern.passes.framework import run_pass, verify
from pykern.passes.ir.clone import clone_block
from pykern.passes.kernels import body, programs
from pykern.passes.tensor.inline_helpers import InlineHelpers


class _NoRecord:
    """Stages of a part of a program are none of the program's."""

    texts = False

    def add(self, *args: Any) -> None:
        pass


def inner_gradient(
    module: ir.Module, source: ProgramSource, operands: list[ir.Value], into: ir.Module
) -> tuple[Any, list[ir.Value]]:
    """Write the derivative of the module's program where the insertion point is; the form of its results, and these.

    Raises `NotDifferentiable` and `KernelTypeError` at their place in the function.
    """
    verify(module, "the frontend made invalid IR")
    differentiate(module, source, _NoRecord())
    run_pass(InlineHelpers(), module)
    program = programs(module)[0]
    _bring(module, program, into)
    tree = json.loads(ir.StringAttr(program.attributes[kern.RESULT_TREE]).value)
    block = body(program)
    results = clone_block(block, dict(zip(block.arguments, operands, strict=True)))
    return tree, results


def _bring(module: ir.Module, program: ir.Operation, into: ir.Module) -> None:
    """Everything beside the program goes along, under names that nobody has."""
    others = [o.operation for o in module.body.operations if o.operation != program]
    taken = {_name(o.operation) for o in into.body.operations}
    renamed: dict[str, str] = {}
    for other in others:
        name = _name(other)
        if _is_of_a_library(other):
            renamed[name] = name
            continue
        number = 0
        while f"{name}.inner{number}" in taken:
            number += 1
        renamed[name] = f"{name}.inner{number}"
        taken.add(renamed[name])
    _rename(program, renamed)
    for other in others:
        _rename(other, renamed)
        if _name(other) in taken and _is_of_a_library(other):
            continue
        with ir.InsertionPoint(into.body):
            copy = other.clone().operation
        copy.attributes["sym_name"] = ir.StringAttr.get(renamed[_name(other)])


def _is_of_a_library(function: ir.Operation) -> bool:
    """Whether the function is only declared, and so goes by the name that its library gives it."""
    return not list(function.regions[0].blocks) and kern.CUDA not in function.attributes


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _rename(op: ir.Operation, renamed: dict[str, str]) -> None:
    """In what an op, and the ops inside of it, refer to."""

    def visit(inner: ir.Operation) -> ir.WalkResult:
        attributes = inner.attributes
        for name in [a if isinstance(a, str) else a.name for a in attributes]:
            value = attributes[name]
            if isinstance(value, ir.FlatSymbolRefAttr) and value.value in renamed:
                attributes[name] = ir.FlatSymbolRefAttr.get(renamed[value.value])
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
