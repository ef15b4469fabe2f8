"""Several kernels in one page: two targets, two versions, before and after an edit.

Comes in: `Exploration`s. Goes out: `Comparison`, whose pins light lines in all of them. What one line of
Python is in another version is decided by the text: lines that a difference of the sources leaves alone.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from pykern.data.lineage import lines_of_place
from pykern.explorer.data import Exploration, Pin

Line = tuple[str, int]


@dataclass(frozen=True)
class Comparison:
    """What a page shows: one exploration, or several."""

    subjects: tuple[Exploration, ...]

    def __repr__(self) -> str:
        return f"<pykern.Comparison {self.title}>"

    def same(self, one: int, other: int) -> dict[Line, Line]:
        """Lines of Python of subject `one` as lines of subject `other`, where they are the same."""
        forward, sign = (one, other) if one < other else (other, one), one < other
        found: dict[Line, Line] = {}
        rows = [
            [
                ((s.file, s.first + n), text)
                for s in self.subjects[k].sources
                for n, text in enumerate(s.lines)
            ]
            for k in forward
        ]
        matcher = difflib.SequenceMatcher(None, *([text for _, text in r] for r in rows), autojunk=False)
        for block in matcher.get_matching_blocks():
            for n in range(block.size):
                pair = rows[0][block.a + n][0], rows[1][block.b + n][0]
                found[pair[0] if sign else pair[1]] = pair[1] if sign else pair[0]
        return found

    def lit(self, subject: int, pin: Pin, plumbing: bool = False) -> list[tuple[tuple[int, ...], ...]]:
        """For each subject the lines of each stage that light up for a line picked in one of them."""
        python = self.subjects[subject].python_of(pin)
        found = []
        for other, data in enumerate(self.subjects):
            if other == subject:
                found.append(data.lit(pin, plumbing))
                continue
            there = None if python is None else self.same(subject, other).get(python)
            lineages = [s.lineage for s in data.stages if s.lineage is not None]
            if there is None:
                found.append(((),) * len(lineages))
            else:
                found.append(tuple(lines_of_place(x, *there, plumbing) for x in lineages))
        return found

    @property
    def title(self) -> str:
        """Kernels and targets, the parts that differ by name."""
        names = list(dict.fromkeys(d.title for d in self.subjects))
        targets = list(dict.fromkeys(d.target for d in self.subjects))
        return f"{' and '.join(names)} — {' and '.join(targets)}"
