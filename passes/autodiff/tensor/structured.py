"""One view of every linalg op, named or generic: operands, maps, body, and what its outputs are.

An output is *elementwise* (one iteration writes each element), or a *reduction* whose accumulator
enters by a sum, a maximum, a minimum or a product; anything else is run as a loop (see `sequential`).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.structured import indexing_maps, loop_lengths
from pykern.passes.ir.values import defining, free_values


class StructuredKind(enum.Enum):
    ELEMENTWISE = "elementwise"
    ADD = "add"
    MAX = "max"
    MIN = "min"
    MUL = "mul"
    OTHER = "other"


@dataclass(frozen=True)
class Combined:
    """How an output is combined; `contribution` is what meets the accumulator (not for ADD)."""

    kind: StructuredKind
    contribution: ir.Value | None = None


def is_structured(op: ir.Operation) -> bool:
    """A linalg op with a body over elements."""
    return op.name.startswith("linalg.") and len(op.regions) == 1 and op.name != "linalg.softmax"


class Structured:
    """A linalg op on tensors; `arguments` are its body's, inputs first."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        operands, results = list(op.operands), list(op.results)
        self.inputs = operands[: len(operands) - len(results)]
        self.outputs = operands[len(operands) - len(results) :]
        self.operands = operands
        self.maps = indexing_maps(op)
        self.loops = self.maps[0].n_dims
        self.block = op.regions[0].blocks[0]
        self.arguments = list(self.block.arguments)
        *self.ops, self.terminator = [o.operation for o in self.block.operations]
        self.yielded = list(self.terminator.operands)

    @cached_property
    def captured(self) -> list[ir.Value]:
        """Values from outside that the body reads."""
        return free_values(self.op, nested_only=True)

    @cached_property
    def extents(self) -> list[int]:
        """The trip count of every loop."""
        return loop_lengths(self.op)

    def output_map(self, output: int) -> ir.AffineMap:
        return self.maps[len(self.inputs) + output]

    def output_argument(self, output: int) -> ir.Value:
        return self.arguments[len(self.inputs) + output]

    @cached_property
    def combined(self) -> list[Combined]:
        return [self._combined(j) for j in range(len(self.outputs))]

    def _combined(self, output: int) -> Combined:
        if self.output_map(output).is_permutation:
            others = [self.output_argument(k) for k in range(len(self.outputs)) if not self._covered(k)]
            mixed = any(_depends(self.yielded[output], other) for other in others)
            return Combined(StructuredKind.OTHER if mixed else StructuredKind.ELEMENTWISE)
        accumulator, result = self.output_argument(output), self.yielded[output]
        others = [a for k in range(len(self.outputs)) if (a := self.output_argument(k)) != accumulator]
        if any(_depends(result, other) for other in others):
            return Combined(StructuredKind.OTHER)
        if _adds_to(result, accumulator):
            return Combined(StructuredKind.ADD)
        for kind, contribution in _meets(result, accumulator):
            if not _depends(contribution, accumulator):
                return Combined(kind, contribution)
        return Combined(StructuredKind.OTHER)

    def _covered(self, output: int) -> bool:
        return self.output_map(output).is_permutation


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
