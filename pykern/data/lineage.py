"""`Lineage`: where every line of a stage comes from, as plain data.

Comes in: `pykern.compiler.lineage` fills it, when it is asked for. Goes out: `Stage.lineage`, which
`pykern.explorer` shows. Lines are counted from 1, as editors do; columns from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from pykern.data.records import record

OPERATION, PLUMBING, OTHER = "o", "p", "."
"""Kinds of lines: an op or instruction; one that only carries values (constants, casts, descriptors);
braces, labels, declarations and whatever else does nothing."""
PRIMAL, BACKWARD, TANGENT = "f", "b", "t"
"""Parts of a derivative: what the function itself computes, the reverse sweep, tangents."""


@record
class Follow:
    """Asks a compilation for its stages with lineage.

    `partial` is a file that gets each stage as soon as it is there, so that a compilation that fails leaves what
    came before, and the name of the pass that failed; "" writes none.
    """

    partial: str = ""


@record
class Place:
    """A place in the user's Python; `file` counts in `Lineage.files`."""

    file: int
    line: int
    column: int


@record
class Lineage:
    """One entry for each line of the stage's text, in order.

    `kinds` is a letter a line. `parents` are the lines of the stage before; `places` the Python it was
    written as, None where nothing says. `ops` counts the ops of the stage by their full name. `parts` is a
    letter a line, "" for a stage that holds no derivative.
    """

    files: tuple[str, ...] = ()
    kinds: str = ""
    parents: tuple[tuple[int, ...], ...] = ()
    places: tuple[Place | None, ...] = ()
    ops: dict[str, int] = field(default_factory=dict)
    parts: str = ""

    def mapped(self) -> float:
        """The share of ops and instructions that know their Python line, plumbing left out; 1 for none."""
        known = [p is not None for k, p in zip(self.kinds, self.places, strict=True) if k == OPERATION]
        return sum(known) / len(known) if known else 1.0


def lines_of_place(lineage: Lineage, file: str, line: int, plumbing: bool = False) -> tuple[int, ...]:
    """The lines of a stage that come from one line of Python."""
    wanted = (OPERATION, PLUMBING) if plumbing else (OPERATION,)
    return tuple(
        number
        for number, (kind, place) in enumerate(zip(lineage.kinds, lineage.places, strict=True), 1)
        if kind in wanted
        and place is not None
        and (lineage.files[place.file], place.line) == (file, line)
    )  # fmt: skip


def relatives(lineages: Sequence[Lineage | None], stage: int, line: int) -> tuple[frozenset[int], ...]:
    """For each stage, the lines that line `line` of `stage` comes from, is, or becomes."""
    found = [frozenset[int]()] * len(lineages)
    found[stage] = frozenset((line,))
    for earlier in range(stage, 0, -1):
        found[earlier - 1] = frozenset(_parents(lineages[earlier], found[earlier]))
    for later in range(stage + 1, len(lineages)):
        found[later] = frozenset(_children(lineages[later], found[later - 1]))
    return tuple(found)


def _parents(lineage: Lineage | None, lines: Iterable[int]) -> set[int]:
    return set() if lineage is None else {p for line in lines for p in lineage.parents[line - 1]}


def _children(lineage: Lineage | None, lines: frozenset[int]) -> set[int]:
    if lineage is None:
        return set()
    return {number for number, parents in enumerate(lineage.parents, 1) if lines.intersection(parents)}
