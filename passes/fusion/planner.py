"""The groups of a program on buffers, for the CPU and for devices: which kinds there are, and the order they come in.

Comes in: a program, and `GroupForms`, what a target's emitters take. Goes out: groups, one by one. Who takes one puts
code in its place and erases its operations before it asks for the next one. What is computed with a contraction is
found when the contraction is emitted, by `contraction`: it depends on the schedule. Read next: `docs/design/fusion.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.space import space_of
from pykern.passes.fusion.attention.calls import AttentionCall, attention_calls, erase_functions
from pykern.passes.fusion.contraction import with_makers_last
from pykern.passes.fusion.dual_matvec import ProductPair, pairs
from pykern.passes.fusion.row_groups import Group, RowForms
from pykern.passes.fusion.rows import groups
from pykern.passes.fusion.starts import Starts, starts_of
from pykern.passes.ir.memory import outputs_of
from pykern.passes.kernels import identity, named


@dataclass(frozen=True)
class GroupForms:
    """What the emitters of a target take beside single operations."""

    rows: RowForms | None = None
    """None: no rows go together."""
    pair_caches: tuple[int, int] | None = None
    """Bytes of the second and the last cache, by which products of one matrix are paired; None: none are."""
    moving_starts: bool = True
    """Whether sums whose place in the output moves while they are added up may start from a number, too."""


@dataclass(frozen=True)
class SingleOp:
    """An operation that no group has taken, and what its sums start from."""

    op: ir.Operation
    starts: Starts


@dataclass(frozen=True)
class StartedPair:
    """Two products of one matrix, and what the sums of `pair.rows` and of `pair.columns` start from."""

    pair: ProductPair
    starts: tuple[ir.Value | None, ir.Value | None]


FusionGroup = AttentionCall | Group | StartedPair | SingleOp
"""What becomes one nest of loops on the CPU, or one kernel of a device (of some single operations several)."""


class FusionPlanner:
    """Finds the groups of one program."""

    def __init__(self, module: ir.Module, program: ir.Operation, forms: GroupForms) -> None:
        self.module, self.program, self.forms = module, program, forms
        self._erased: set[int] = set()

    def groups(self) -> Iterator[FusionGroup]:
        """All of them, and at last what goes alone."""
        for op in named(self.program, "linalg.generic"):
            if not outputs_of(
                op
            ):  # what fusion on tensors leaves of a call of libm, which no pass takes for pure
                op.erase()
        calls = attention_calls(self.module, self.program)
        yield from calls
        erase_functions(calls)
        if self.forms.rows is not None:
            yield from groups(self.program, self.forms.rows)
        yield from self._with_starts()

    def _with_starts(self) -> Iterator[StartedPair | SingleOp]:
        operations = [(identity(op), op) for op in named(self.program, "linalg.generic")]
        starts, fills = starts_of([op for _, op in operations if self._may_start(op)])
        operations = [(number, op) for number, op in operations if number not in fills]
        if self.forms.pair_caches is not None:
            for pair in pairs([op for _, op in operations], *self.forms.pair_caches):
                first, second = (starts[identity(p.op)][0] for p in (pair.rows, pair.columns))
                yield StartedPair(pair, (first, second))
        left = [(number, op) for number, op in operations if number not in self._erased]
        for number, op in with_makers_last(left):
            if number not in self._erased:
                yield SingleOp(op, starts.get(number) or [None] * outputs_of(op))

    def _may_start(self, op: ir.Operation) -> bool:
        if self.forms.moving_starts:
            return True
        space = space_of(op)
        return not any(map(space.moves_output, space.reduced))

    def erase(self, op: ir.Operation) -> None:
        """Erase an operation that was computed with others, so that it comes in no group of its own."""
        self._erased.add(identity(op))
        op.erase()
