"""The functions that launch kernels go back into the program that calls them, now on buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import inline_calls
from pykern.passes.kernels import programs
from pykern.passes.tensor.raise_launches import drop_unused_kernels


@dataclass(frozen=True)
class InlineLaunches(Pass):
    """Undo `kern-outline-launches`, after bufferization.

    In:  programs that call functions of the module. Out: the same with the bodies in place of the calls;
         the functions, and kernels nobody launches, are gone.
    """

    name: ClassVar[str] = "kern-inline-launches"

    def run(self, module: ir.Module) -> None:
        functions = {
            ir.StringAttr(o.attributes["sym_name"]).value: o.operation
            for o in module.body.operations
            if o.operation.name == "func.func"
            and kern.KERNEL not in o.attributes
            and kern.ATTENTION not in o.attributes
            and len(o.operation.regions[0].blocks)  # a function of libm stays a call
        }
        for program in programs(module):
            inline_calls(program, functions)  # kernels are called in their launches
        for function in functions.values():
            if kern.PROGRAM not in function.attributes:
                function.erase()
        drop_unused_kernels(module)
