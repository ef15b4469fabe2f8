"""A flat kernel becomes a `gpu.func` in a module of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.lowering.gpu.grid import Grid
from pykern.passes import kernels
from pykern.passes.framework import Pass

MODULE = "pykern"
"""Name of the gpu.module."""
SYMBOL_PREFIX = "kern_"
"""Kernels get names that no function of a device library has."""
_NOT_IN_PTX = re.compile(r"[^A-Za-z0-9_]")
"""Characters of names that PTX's assembler does not take: the dot of `f.vjp`, letters that are not ASCII."""


@dataclass(frozen=True)
class OutlineKernels(Pass):
    """Move kernels into a gpu.module.

    In:  func.func marked `kern.kernel` with flat arguments.
    Out: gpu.func kernel, its block size known; helper functions that kernels call go along.
    """

    name: ClassVar[str] = "kern-outline-kernels"

    def run(self, module: ir.Module) -> None:
        functions = [op.operation for op in module.body.operations]
        module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
        with ir.InsertionPoint(module.body), module.operation.location:
            device = ir.Operation.create(
                "gpu.module", attributes={"sym_name": ir.StringAttr.get(MODULE)}, regions=1
            )
        body = device.regions[0].blocks.append()
        for function in functions:
            if kern.KERNEL in function.attributes:
                _outline(function, body)
            else:
                body.append(function)


def _outline(function: ir.Operation, body: ir.Block) -> None:
    block = kernels.body(function)
    size = kernels.group(function)
    kept = {
        name: function.attributes[name]
        for name in function.attributes.keys()  # noqa: SIM118
        if name.startswith("kern.") or name == "arg_attrs"
    }
    symbol = SYMBOL_PREFIX + _NOT_IN_PTX.sub("_", ir.StringAttr(function.attributes["sym_name"]).value)
    inputs = [a.type for a in block.arguments]
    with ir.InsertionPoint(body), function.location:
        made = ir.Operation.create(
            "gpu.func",
            attributes={
                **kept,
                "sym_name": ir.StringAttr.get(symbol),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, [])),
                "gpu.kernel": ir.UnitAttr.get(),
                "known_block_size": ir.DenseI32ArrayAttr.get(list(Grid(size).block)),
            },
            regions=1,
        )
    block.append_to(made.regions[0])
    last = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(last), last.location:
        ir.Operation.create("gpu.return")
    last.erase()
    function.erase()
