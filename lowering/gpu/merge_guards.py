"""The launch's guard and the kernel's own become one branch.

Who is beyond the end of a launch only compares some numbers more, and all others take one branch less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.framework import Pass
from pykern.passes.kernels import named, terminator

_TRAPS = ("div", "rem")


@dataclass(frozen=True)
class MergeGuards(Pass):
    """Make one branch of two.

    In:  an scf.if whose last op is another one, both without `else` and results, and cheap arithmetic between them.
    Out: the arithmetic in front, and one scf.if; its condition chooses, so that the inner one counts only where the
         outer one holds.
    """

    name: ClassVar[str] = "kern-merge-guards"
    only_speed: ClassVar[bool] = True

    def run(self, module: ir.Module) -> None:
        for outer in named(module.operation, "scf.if"):
            content = _content(outer)
            if (
                content
                and _is_branch(outer)
                and _is_branch(content[-1])
                and all(map(_is_cheap, content[:-1]))
            ):
                _merge(outer, content[:-1], content[-1])


def _content(branch: ir.Operation) -> list[ir.Operation]:
    """What a branch does, without its end."""
    return [op.operation for op in branch.regions[0].blocks[0].operations][:-1]


def _is_branch(op: ir.Operation) -> bool:
    return op.name == "scf.if" and not list(op.results) and not list(op.regions[1].blocks)


def _is_cheap(op: ir.Operation) -> bool:
    name = op.name.removeprefix("arith.")
    return name != op.name and not any(part in name for part in _TRAPS)


def _merge(outer: ir.Operation, before: list[ir.Operation], inner: ir.Operation) -> None:
    for op in before:
        op.move_before(outer)
    with ir.InsertionPoint(outer), inner.location:
        never = arith.ConstantOp(ir.IntegerType.get_signless(1), 0).result
        both = arith.SelectOp(outer.operands[0], inner.operands[0], never).result
    outer.operands[0] = both
    end = terminator(outer.regions[0].blocks[0])
    for op in _content(inner):
        op.move_before(end)
    inner.erase()
