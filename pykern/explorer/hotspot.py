"""The line of Python that a page opens with: the costliest one, or the one an error is at.

Comes in: an `Exploration`. Goes out: file and line, None where nothing was counted. Costs are those of the kernel
itself (`pykern.data.costs`), bytes and flops added up; without them the line that became most instructions is taken.
"""

from __future__ import annotations

from collections import Counter

from pykern.data.costs import Costs, Executions
from pykern.data.lineage import OPERATION
from pykern.explorer.data import Exploration, lineage_of

ITERATIONS = 100
"""What a loop counts for whose length only the launch tells: enough that its body outweighs what is around it."""


def hotspot(data: Exploration) -> tuple[str, int] | None:
    """File and line, of a source that the page shows."""
    if data.error:
        return next(((r.file, r.line) for r in data.remarks if r.line and r.text in data.error), None)
    weights = _counted(data.costs) if data.costs is not None else Counter()
    shown = {(s.file, s.first + n) for s in data.sources for n in range(len(s.lines))}
    for found in (weights, _instructions(data)):
        known = {place: weight for place, weight in found.items() if place in shown and weight > 0}
        if known:
            return max(known, key=lambda place: known[place])
    return None


def _counted(costs: Costs) -> Counter[tuple[str, int]]:
    """Bytes moved and floating-point operations of each line."""
    weights: Counter[tuple[str, int]] = Counter()
    for access in costs.accesses:
        weights[access.file, access.line] += access.size * _times(access.executions)
    for work in costs.work:
        weights[work.file, work.line] += work.flops * _times(work.executions)
    return weights


def _times(executions: Executions) -> int:
    return executions.times * ITERATIONS ** len(executions.loops)


def _instructions(data: Exploration) -> Counter[tuple[str, int]]:
    """Instructions of the last stage that come from each line."""
    lineage = lineage_of(data.reached)
    places = zip(lineage.kinds, lineage.places, strict=True)
    return Counter(
        (lineage.files[p.file], p.line) for kind, p in places if kind == OPERATION and p is not None
    )
