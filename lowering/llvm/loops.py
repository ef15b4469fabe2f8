"""What LLVM is told about loops: which not to unroll.

LLVM unrolls a loop of constant length around an inner loop as well. Where the inner loop is long that gains
nothing, and each copy is vectorised, unrolled and given its scalar ends anew: half the code of a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import LLVM_UNROLLED
from pykern.passes.framework import Pass
from pykern.passes.kernels import identity, is_constant, named
from pykern.passes.module_facts import ModuleFacts
from pykern.passes.remarks import remark

ON_LOOPS, ON_BRANCHES = "llvm.loop_annotation", "loop_annotation"


@dataclass(frozen=True)
class KeepOuterLoops(Pass):
    """Tell LLVM not to unroll loops around long loops.

    In:  scf.for. Out: those around another of more than `short` iterations, or of unknown length, carry an
         `llvm.loop_annotation`, unless they have one.
    """

    name: ClassVar[str] = "kern-keep-outer-loops"
    short: int = LLVM_UNROLLED

    def run(self, module: ir.Module) -> None:
        kept = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>", module.context)
        loops = named(module.operation, "scf.for")
        around: set[int] = set()
        for loop in filter(self._is_long, loops):
            op = loop.parent
            while op is not None and identity(op.operation) not in around:
                around.add(identity(op.operation))
                op = op.operation.parent
        for loop in loops:
            if identity(loop) in around and ON_LOOPS not in loop.attributes:
                remark(loop, "the loop is not unrolled: there is a long one inside")
                loop.attributes[ON_LOOPS] = kept

    def record(self, facts: ModuleFacts, changed: bool) -> None:
        """No op is another one now."""

    def _is_long(self, loop: ir.Operation) -> bool:
        bounds = [is_constant(v) for v in list(loop.operands)[:3]]
        return any(b is None for b in bounds) or len(range(*bounds)) > self.short


@dataclass(frozen=True)
class AnnotateBranches(Pass):
    """Put loop annotations where the translation to LLVM IR looks for them.

    In:  llvm.br and llvm.cond_br that come from annotated loops, with a discardable attribute.
    Out: the same with `loop_annotation`, which the translation knows.
    """

    name: ClassVar[str] = "kern-annotate-branches"

    def record(self, facts: ModuleFacts, changed: bool) -> None:
        """No op is another one now."""

    def run(self, module: ir.Module) -> None:
        for function in _functions(module.body):
            for block in [block for region in function.regions for block in region]:
                end = block.operations[-1].operation  # where branches stand: other ops are not looked at
                if ON_LOOPS in end.attributes:
                    end.attributes[ON_BRANCHES] = end.attributes[ON_LOOPS]
                    del end.attributes[ON_LOOPS]


def _functions(block: ir.Block) -> Iterator[ir.Operation]:
    """The functions of a module, and those of modules for devices inside of it."""
    for op in block.operations:
        if op.operation.name == "gpu.module":
            yield from _functions(op.regions[0].blocks[0])
        else:
            yield op.operation
