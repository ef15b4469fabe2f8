"""Remarks: what the compiler did with a line of Python, read off the stages.

Comes in: stages with lineage. Goes out: `Remark`s at lines of Python; nothing here is guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pykern.artifact import Stage
from pykern.lineage import OPERATION, Lineage

_VECTOR = re.compile(r"<(\d+) x (?:float|double|half|bfloat|i\d+)>")
REPORT = '"kern.report_bounds"'


@dataclass(frozen=True)
class Remark:
    """A sentence about a line of Python; `file` is "" and `line` 0 where it is about the kernel."""

    file: str
    line: int
    text: str


def remarks(stages: Sequence[Stage]) -> tuple[Remark, ...]:
    """What the stages tell, in order of lines."""
    found = [*_vector_widths(stages), *_bounds_checks(stages)]
    return tuple(sorted(found, key=lambda r: (r.file, r.line, r.text)))


def _vector_widths(stages: Sequence[Stage]) -> list[Remark]:
    """The widest memory access of each line, in the LLVM IR that code is made from."""
    optimised = next((s for s in reversed(stages) if s.kind == "llvm"), None)
    if optimised is None or optimised.lineage is None:
        return []
    widest: dict[tuple[str, int], int] = defaultdict(int)
    lineage = optimised.lineage
    for text, place in zip(optimised.text.splitlines(), lineage.places, strict=True):
        if place is None or not re.search(r"= load |^\s+store ", text):
            continue
        widths = [int(w) for w in _VECTOR.findall(text)]
        key = (lineage.files[place.file], place.line)
        widest[key] = max(widest[key], *widths, 0)
    return [Remark(file, line, f"vectors of {w}") for (file, line), w in widest.items() if w > 1]


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
    return [Remark(*key, _fate(followed[first + 1 :], lines)) for key, lines in rows.items()]


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
