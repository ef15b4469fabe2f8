"""Choices of what a loop carries wait for the value before them once.

Comes in: loops whose branches are choices by now. Goes out: `if h > 0: if t < best: best = t` as one choice by both
conditions, the one that waits for `best` last. Where each condition chose for itself, an iteration waits for all of
them.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.framework import Pass
from pykern.passes.ir.values import arguments_behind, made_by
from pykern.passes.kernels import find, replace

_MAY_BE_POISON = ("nnan", "ninf", "fast>")


@dataclass(frozen=True)
class JoinChoices(Pass):
    """Make one choice of two, one within the other, that both keep what a loop carries.

    In:  scf.for with ``select(c, select(d, x, carried), carried)``, of scalars or vectors, where `d` compares floats.
    Out: ``select(c & d, x, carried)``; comparisons that depend on what the loop carries are the last of the conditions.
    """

    name: ClassVar[str] = "kern-join-choices"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.select",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for choice in find(module.operation, lambda op: op.name == "arith.select"):
            changed = _join(choice) or changed
        return changed


def _join(outer: ir.Operation) -> bool:
    condition, kept, carried = outer.operands
    loop = carried.owner.owner.operation if isinstance(carried.owner, ir.Block) else None
    inner = made_by(kept, "arith.select")
    if loop is None or loop.name != "scf.for" or inner is None or inner.operands[2] != carried:
        return False
    if len(list(kept.uses)) != 1 or condition.type != inner.operands[0].type:
        return False
    if not all(_is_number(one) for one in _parts(inner.operands[0])):
        return False
    held = list(loop.regions[0].blocks[0].arguments)[1:]
    parts = dict.fromkeys([*_parts(condition), *_parts(inner.operands[0])])
    first, *others = sorted(parts, key=lambda value: _waits(value, held))
    with ir.InsertionPoint(outer), outer.location:
        for one in others:
            first = arith.AndIOp(first, one).result
        made = arith.SelectOp(first, inner.operands[1], carried).result
    replace(outer, [made])
    inner.erase()
    return True


def _parts(condition: ir.Value) -> list[ir.Value]:
    """What a condition is the conjunction of."""
    both = made_by(condition, "arith.andi")
    return [condition] if both is None else [part for operand in both.operands for part in _parts(operand)]


def _is_number(condition: ir.Value) -> bool:
    """Whether a condition is true or false also where nobody asks for it."""
    compare = made_by(condition, "arith.cmpf")
    flags = "" if compare is None else str(compare.attributes.get("fastmath", ""))
    return compare is not None and not any(flag in flags for flag in _MAY_BE_POISON)


def _waits(condition: ir.Value, held: Container[ir.Value]) -> bool:
    return any(argument in held for argument in arguments_behind(condition))
