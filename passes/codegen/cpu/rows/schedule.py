"""In how many passes over a row its values are computed, and which of them wait in memory between two passes.

Comes in: a `Graph`. Goes out: `RowSchedule`. A pass reads, computes, reduces and writes; what needs a reduction's
result has to be in a later pass, but a sum that is found together with its maximum (`online`). Values that cost next to
nothing are computed again in each pass, and all of them where nothing is kept; not those that several arrays are read
for: residual + layernorm of rows of 4 KiB took 1.15 to 1.3 of the time so, of longer rows 1.1 to 1.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.analysis.cost_model.operations import COSTS, STORE_COST
from pykern.passes.analysis.rows import BufferKind
from pykern.passes.codegen.cpu.rows.online import OnlineSum
from pykern.passes.codegen.cpu.rows.values import Computed, Graph, Loaded, Reduced, Value, Write


@dataclass
class ColumnLoop:
    """One loop over the columns."""

    reductions: list[Reduced] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    """Everything to have at hand, operands first; some of it is loaded, see `RowSchedule.stored`."""


@dataclass
class RowSchedule:
    """`passes` in order; `stored` has the pass in which a value that later ones load is computed."""

    passes: list[ColumnLoop]
    stored: dict[Value, int]
    last: list[Write]
    """Writes of one value per row, when all passes are done."""
    pairs: list[OnlineSum]
    """A maximum and a sum that are reduced in the same pass."""
    costs: dict[Value, int]
    """The cost of computing a value once more."""


def schedule_of(
    graph: Graph, pairs: list[OnlineSum] | None = None, keep: bool = True, is_near: bool = True
) -> RowSchedule:
    """The passes over a row; `pairs` are found in one, and without `keep` nothing waits in memory. `is_near`: what
    waits stays in a cache."""
    return Scheduler(graph, pairs or [], keep, is_near).run()


class Scheduler:
    """Finds the first pass in which each value can be computed, then who computes it where."""

    def __init__(self, graph: Graph, pairs: list[OnlineSum], keep: bool, is_near: bool) -> None:
        self.graph, self.keep, self.pairs, self.is_near = graph, keep, pairs, is_near
        self.online = {pair.total: pair.largest for pair in pairs}
        self.values = graph.needed()
        self.ready: dict[Value, int] = {}
        self.costs: dict[Value, int] = {}
        self.read: dict[Value, set[Value]] = {}
        """What is loaded to have a value again: arrays, or values of several of them."""

    def run(self) -> RowSchedule:
        reductions = [v for v in self.values if isinstance(v, Reduced)]
        for value in self.values:
            operands = self.online[value].operands if value in self.online else value.operands
            inputs = max((self.ready[v] for v in operands), default=0)
            self.ready[value] = inputs + 1 if isinstance(value, Reduced) else inputs
            self.costs[value] = self._cost(value)
            self.read[value] = self._loads(value)
        wide = [w for w in self.graph.writes if w.access.kind in (BufferKind.CELL, BufferKind.LINE)]
        places = {id(w): self.ready[w.value] for w in wide}
        while True:
            passes = self._passes(reductions, wide, places)
            stored = self._fill(passes)
            late = self._too_early(passes, places)
            if not late:
                break
            places |= late
        last = [w for w in self.graph.writes if w.access.kind is BufferKind.ROW]
        return RowSchedule(passes, stored, last, self.pairs, self.costs)

    def _passes(
        self, reductions: list[Reduced], wide: list[Write], places: dict[int, int]
    ) -> list[ColumnLoop]:
        count = max([self.ready[r] for r in reductions] + [places[id(w)] + 1 for w in wide], default=0)
        passes = [ColumnLoop() for _ in range(count)]
        for reduction in reductions:
            passes[self.ready[reduction] - 1].reductions.append(reduction)
        for write in wide:
            passes[places[id(write)]].writes.append(write)
        return passes

    def _cost(self, value: Value) -> int:
        """Of computing a value once more from what memory holds when the row begins."""
        if not value.is_wide or isinstance(value, Reduced):
            return 0
        if not isinstance(value, Computed):
            return 1
        own = COSTS.get(value.op.name, 20 if value.op.name.startswith("math.") else 1)
        return own + sum(self.costs[v] for v in value.operands)

    def _loads(self, value: Value) -> set[Value]:
        if isinstance(value, Loaded):
            return {value} if value.kind is BufferKind.CELL else set()
        loads = set().union(*(self.read[v] for v in value.operands)) if value.is_wide else set()
        return {value} if len(loads) > 1 and _has_bytes(value) else loads

    def _is_cheap(self, value: Value) -> bool:
        if not self.keep or not _has_bytes(value):
            return True
        return self.costs[value] <= STORE_COST and not (self.is_near and value in self.read[value])

    def _fill(self, passes: list[ColumnLoop]) -> dict[Value, int]:
        """Lists what each pass needs. What an earlier one had to compute is loaded, unless it is cheap."""
        made: dict[Value, int] = {}
        stored: dict[Value, int] = {}
        for number, each in enumerate(passes):
            wanted: set[Value] = set()
            waiting: list[Value] = [w.value for w in each.writes] + [
                r.added for r in each.reductions if r not in self.online
            ]
            while waiting:
                value = waiting.pop()
                if value in wanted or not value.is_wide:
                    continue
                wanted.add(value)
                if isinstance(value, Loaded):
                    continue
                if not self._is_cheap(value) and made.setdefault(value, number) < number:
                    stored[value] = made[value]
                    continue
                waiting += value.operands
            each.values = [v for v in self.values if v in wanted]
        return stored

    def _too_early(self, passes: list[ColumnLoop], places: dict[int, int]) -> dict[int, int]:
        """Writes to what a later pass still reads, and the pass they have to wait for."""
        late = {}
        for number, each in enumerate(passes):
            roots = [v.access.root for v in each.values if isinstance(v, Loaded)]
            for write in self.graph.writes:
                if id(write) in places and places[id(write)] < number and write.access.root in roots:
                    late[id(write)] = number
        return late


def _has_bytes(value: Value) -> bool:
    """Whether memory can hold it: truth values are computed again from what they compare."""
    if not isinstance(value, Computed):
        return True
    kind = value.op.results[0].type
    return isinstance(kind, ir.FloatType) or (isinstance(kind, ir.IntegerType) and kind.width >= 8)
