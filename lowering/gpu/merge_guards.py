"""The launch's guard and the kernel's own become one branch.

Who is beyond the end of a launch only compares some numbers more, and all others take one branch less.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.framework import Pass
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import named, terminator

_TRAPS = ("div", "rem")


@dataclass(frozen=True)
class MergeGuards(Pass):
    """Make one branch of two.

    In:  an scf.if whose last op is another one, both without `else` and results, and cheap arithmetic between them.
    Out: the arithmetic in front, and one scf.if; its condition chooses, so that the inner one counts only where the
         outer one holds. What a condition asks is asked in a row, each time only where all before held: a GPU's
         comparison takes the answer of the one before.
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
        for branch in named(module.operation, "scf.if"):
            _ask_in_a_row(branch)


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
        outer.operands[0] = _and_then(outer.operands[0], inner.operands[0])
    end = terminator(outer.regions[0].blocks[0])
    for op in _content(inner):
        op.move_before(end)
    inner.erase()


def _ask_in_a_row(branch: ir.Operation) -> None:
    """Make ``a and (b and c)`` one that asks `a`, then `b`, then `c`; what others ask too stays one question."""
    asked = _questions(branch.operands[0])
    if len(asked) > 2:
        with ir.InsertionPoint(branch), branch.location:
            branch.operands[0] = functools.reduce(_and_then, asked)


def _questions(condition: ir.Value) -> list[ir.Value]:
    both = made_by(condition, "arith.andi", "arith.select")
    if both is None or len(list(condition.uses)) > 1:
        return [condition]
    if both.name == "arith.andi":
        return _questions(both.operands[0]) + _questions(both.operands[1])
    if _is_never(both.operands[2]):
        return _questions(both.operands[0]) + _questions(both.operands[1])
    return [condition]


def _and_then(first: ir.Value, second: ir.Value) -> ir.Value:
    """Both; where the first does not hold, the second says nothing."""
    never = arith.ConstantOp(ir.IntegerType.get_signless(1), 0).result
    return arith.SelectOp(first, second, never).result


def _is_never(condition: ir.Value) -> bool:
    constant = made_by(condition, "arith.constant")
    return constant is not None and constant.attributes["value"] == ir.BoolAttr.get(False)
