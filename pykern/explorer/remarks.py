"""Remarks: what the compiler did with a line of Python, read off the stages.

Comes in: stages with lineage. Goes out: `Remark`s at lines of Python; nothing here is guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pykern.artifact import Stage

_VECTOR = re.compile(r"<(\d+) x (?:float|double|half|bfloat|i\d+)>")


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
    """Checks that `debug=True` wrote and that a later stage could prove away."""
    wrote: dict[tuple[str, int], int] = {}
    removed: dict[tuple[str, int], str] = {}
    for stage in stages:
        if stage.kind != "mlir" or stage.lineage is None:
            continue
        here: dict[tuple[str, int], int] = defaultdict(int)
        for text, place in zip(stage.text.splitlines(), stage.lineage.places, strict=True):
            if place is not None and '"kern.report_bounds"' in text:
                here[(stage.lineage.files[place.file], place.line)] += 1
        if stage.name.startswith("kern-lower-") and "reports" in stage.name:
            break  # from here on they are calls
        for key in wrote.keys() - here.keys() - removed.keys():
            removed[key] = stage.name
        wrote.update(here)
    kept = [Remark(*key, "bounds check kept") for key in wrote.keys() - removed.keys()]
    return kept + [Remark(*key, f"bounds check removed by {by}") for key, by in removed.items()]
