"""Remarks that are read off the stages: what became of a line of Python. Nothing here is guessed.

Comes in: stages with lineage, and costs. Goes out: `Remark`s at lines of Python; passes make others themselves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from pykern.data.artifact import Remark, Stage
from pykern.data.costs import Costs
from pykern.data.lineage import OPERATION, Lineage

_VECTOR = re.compile(r"<(\d+) x (?:float|double|half|bfloat|i\d+)>")
_ACCESS = re.compile(r"= load |^\s+store |@llvm\.masked\.(?:load|store|gather|scatter)")
_LABEL = re.compile(r"^[\w.\"%-]+:")
REPORT = '"kern.report_bounds"'
_WHY = {
    "strided": "work-items beside each other touch elements that are not",
    "scattered": "its index differs from work-item to work-item as values tell",
}


def remarks(stages: Sequence[Stage], costs: Costs | None = None) -> tuple[Remark, ...]:
    """What the stages tell."""
    return (*_vectors(stages, costs), *_bounds_checks(stages))


def _vectors(stages: Sequence[Stage], costs: Costs | None) -> list[Remark]:
    """The widest memory access of each line, and how many of them stand side by side, in optimised LLVM IR."""
    optimised = next((s for s in reversed(stages) if s.kind == "llvm"), None)
    if optimised is None or optimised.lineage is None or not optimised.name.endswith("optimise"):
        return []
    widest: dict[tuple[str, int], int] = defaultdict(int)
    beside: dict[tuple[str, int], int] = defaultdict(int)
    counted: dict[tuple[object, ...], int] = defaultdict(int)
    lineage, block = optimised.lineage, ""
    for text, place, parents in zip(
        optimised.text.splitlines(), lineage.places, lineage.parents, strict=True
    ):
        if _LABEL.match(text):
            block = text
        if place is None or not _ACCESS.search(text):
            continue
        width = max([int(w) for w in _VECTOR.findall(text)], default=1)
        key = (lineage.files[place.file], place.line)
        widest[key] = max(widest[key], width)
        one = (key, block, tuple(sorted(set(parents))), width)
        counted[one] += 1
        if width == widest[key] and width > 1:
            beside[key] = max(beside[key], counted[one])
    return [Remark(_told(width, beside[key], key, costs), *key) for key, width in widest.items()]


def _told(width: int, beside: int, key: tuple[str, int], costs: Costs | None) -> str:
    if width > 1:
        return f"vectors of {width}" + (f", unrolled {beside} times" if beside > 1 else "")
    patterns = [a.pattern for a in costs.accesses if (a.file, a.line) == key] if costs is not None else []
    why = next((_WHY[p] for p in patterns if p in _WHY), "")
    return f"not vectorised: {why}" if why else "not vectorised"


def _bounds_checks(stages: Sequence[Stage]) -> list[Remark]:
    """Checks that `debug=True` wrote: what became of their reports up to the last MLIR."""
    followed = [(s, s.lineage) for s in stages if s.kind == "mlir" and s.lineage is not None]
    first = next((n for n, (s, _) in enumerate(followed) if REPORT in s.text), None)
    if first is None:
        return []
    stage, lineage = followed[first]
    rows: dict[tuple[str, int], set[int]] = defaultdict(set)
    for number, (text, place) in enumerate(zip(stage.text.splitlines(), lineage.places, strict=True), 1):
        if place is not None and REPORT in text:
            rows[(lineage.files[place.file], place.line)].add(number)
    return [Remark(_fate(followed[first + 1 :], lines), *key) for key, lines in rows.items()]


def _fate(followed: Sequence[tuple[Stage, Lineage]], lines: set[int]) -> str:
    for stage, lineage in followed:
        lines = {
            number
            for number, (kind, parents) in enumerate(zip(lineage.kinds, lineage.parents, strict=True), 1)
            if kind == OPERATION and lines.intersection(parents)
        }
        if not lines:
            return f"bounds check removed by {stage.name}"
    return "bounds check kept"
