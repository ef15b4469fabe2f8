"""Nested selects of a loop-carried value become one select, which shortens the chain from iteration to iteration.

Comes in: loops whose branches have become `arith.select`. Goes out: one select by the conjunction of the conditions.
For ``if h > 0: if t < best: best = t``, where `best` is carried by the loop:

    before: best = select(h > 0, select(t < best, t, best), best)   two selects wait for the previous `best`
    after:  best = select(h > 0 and t < best, t, best)              one does
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
    """Turn two nested selects, both with the loop-carried value as their else side, into one.

    In:  scf.for with ``select(c, select(d, x, carried), carried)``, of scalars or vectors, where `d` compares floats.
    Out: ``select(c & d, x, carried)``. Comparisons that depend on the carried value come last in the
         conjunction, so that the others are computed before that value is known.
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
    """Whether a condition is a comparison that is never poison, so that it may be computed unconditionally."""
    compare = made_by(condition, "arith.cmpf")
    flags = "" if compare is None else str(compare.attributes.get("fastmath", ""))
    return compare is not None and not any(flag in flags for flag in _MAY_BE_POISON)


def _waits(condition: ir.Value, held: Container[ir.Value]) -> bool:
    return any(argument in held for argument in arguments_behind(condition))
