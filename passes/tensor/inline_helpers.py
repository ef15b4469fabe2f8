"""Functions with a derivative of their own go into the program, once derivatives are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import inline_calls
from pykern.passes.kernels import programs


@dataclass(frozen=True)
class InlineHelpers(Pass):
    """Put the bodies of functions marked `kern.helper` in the place of their calls.

    In:  programs that call them. Out: the same without them.
    """

    name: ClassVar[str] = "kern-inline-helpers"
    keep: bool = False
    """Leave the functions in the module, for derivatives to come, and calls of those with rules for them."""

    def run(self, module: ir.Module) -> None:
        helpers = {
            ir.StringAttr(o.attributes["sym_name"]).value: o.operation
            for o in module.body.operations
            if kern.HELPER in o.attributes
        }
        inlined = {n: o for n, o in helpers.items() if not (self.keep and kern.RULES in o.attributes)}
        for program in programs(module):
            while inline_calls(program, inlined):  # helpers call others
                pass
        if not self.keep:
            for helper in helpers.values():
                helper.erase()
