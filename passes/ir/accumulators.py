"""How an output of a structured op takes up what its iterations give: what the accumulator meets.

Comes in: a `Structured` op and one of its outputs. Goes out: `Accumulation`. An output is *elementwise* (one
iteration writes each element), or a *reduction* whose accumulator enters by a sum, a maximum, a minimum or a product;
anything else is `OTHER`: its iterations have to be run in order.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.structured import Structured
from pykern.passes.ir.values import defining, free_values


class StructuredKind(enum.Enum):
    ELEMENTWISE = "elementwise"
    ADD = "add"
    MAX = "max"
    MIN = "min"
    MUL = "mul"
    OTHER = "other"


@dataclass(frozen=True)
class Accumulation:
    """The kind, and the contribution: what meets the accumulator (not for ADD)."""

    kind: StructuredKind
    contribution: ir.Value | None = None


def accumulation(view: Structured, output: int) -> Accumulation:
    """How one output of the op takes up what the iterations give."""
    accumulator, result = view.output_argument(output), view.yielded[output]
    others = [k for k in range(len(view.outputs)) if k != output]
    if view.output_map(output).is_permutation:
        reduced = [view.output_argument(k) for k in others if not view.output_map(k).is_permutation]
        mixed = any(_depends(result, other) for other in reduced)
        return Accumulation(StructuredKind.OTHER if mixed else StructuredKind.ELEMENTWISE)
    if any(_depends(result, view.output_argument(k)) for k in others):
        return Accumulation(StructuredKind.OTHER)
    if _adds_to(result, accumulator):
        return Accumulation(StructuredKind.ADD)
    for kind, contribution in _meets(result, accumulator):
        if not _depends(contribution, accumulator):
            return Accumulation(kind, contribution)
    return Accumulation(StructuredKind.OTHER)


def _depends(value: ir.Value, on: ir.Value) -> bool:
    """Whether `value` is computed from the block argument `on`."""
    seen, waiting = set(), [value]
    while waiting:
        one = waiting.pop()
        if one == on:
            return True
        op = defining(one)
        if one in seen or op is None or op.block != on.owner:
            continue
        seen.add(one)
        waiting += [*op.operands, *free_values(op, nested_only=True)]
    return False


def _adds_to(value: ir.Value, accumulator: ir.Value) -> bool:
    """Whether value = accumulator + something, whatever the elements are."""
    if value == accumulator:
        return True
    op = defining(value)
    if op is None or op.block != accumulator.owner:
        return False
    through = [k for k, operand in enumerate(op.operands) if _depends(operand, accumulator)]
    allowed = {"arith.addf": ([0], [1]), "arith.subf": ([0],), "math.fma": ([2],), "arith.select": ([1, 2],)}
    return through in allowed.get(op.name, ()) and all(_adds_to(op.operands[k], accumulator) for k in through)


_MEET = {
    "arith.maximumf": StructuredKind.MAX,
    "arith.maxnumf": StructuredKind.MAX,
    "arith.minimumf": StructuredKind.MIN,
    "arith.minnumf": StructuredKind.MIN,
    "arith.mulf": StructuredKind.MUL,
}
_GREATER = {arith.CmpFPredicate[n] for n in ("OGT", "OGE", "UGT", "UGE")}
_LESS = {arith.CmpFPredicate[n] for n in ("OLT", "OLE", "ULT", "ULE")}


def _meets(value: ir.Value, accumulator: ir.Value) -> list[tuple[StructuredKind, ir.Value]]:
    """The forms ``max(a, c)``, ``a * c`` and ``c if c > a else a``, as (kind, c)."""
    op = defining(value)
    if op is None:
        return []
    operands = list(op.operands)
    if op.name in _MEET and accumulator in operands:
        return [(_MEET[op.name], operands[1 - operands.index(accumulator)])]
    comparison = defining(operands[0]) if op.name == "arith.select" else None
    if comparison is None or comparison.name != "arith.cmpf":
        return []
    predicate = arith.CmpFPredicate(ir.IntegerAttr(comparison.attributes["predicate"]).value)
    chosen, compared = operands[1:], list(comparison.operands)
    if accumulator not in chosen or sorted(map(hash, chosen)) != sorted(map(hash, compared)):
        return []
    takes_first = compared[0] == chosen[0]  # c > a ? c : a, or a < c ? c : a
    if predicate in _GREATER:
        kind = StructuredKind.MAX if takes_first else StructuredKind.MIN
    elif predicate in _LESS:
        kind = StructuredKind.MIN if takes_first else StructuredKind.MAX
    else:
        return []
    return [(kind, chosen[1 - chosen.index(accumulator)])]
