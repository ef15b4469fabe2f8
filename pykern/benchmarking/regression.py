"""Two runs compared: what became slower.

Comes in: records of an older and of a newer run. Goes out: `Change`s and a table. Medians decide, and minima have to
agree with them: one slow moment of the machine is no regression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pykern.benchmarking.records import Record, identity, title
from pykern.benchmarking.samples import duration
from pykern.benchmarking.terminal import Style, table
from pykern.errors import LaunchError


@dataclass(frozen=True)
class Change:
    """One benchmark in both runs; `slower` is how much more time it takes: 0.05 is 5%, below 0 it is faster."""

    title: str
    old_ns: float
    new_ns: float
    slower: float

    def fails(self, above: float) -> bool:
        """Whether it became slower by more than `above`."""
        return self.slower > above


def share(text: str) -> float:
    """``5%`` or ``0.05`` as a number. Raises `LaunchError`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", text)
    if match is None:
        raise LaunchError(f"`{text}` is no share", hint="write 5% or 0.05")
    return float(match[1]) / (100 if match[2] else 1)


def compared(old: Sequence[Record], new: Sequence[Record]) -> list[Change]:
    """What both have, in the order of the new run; of several equal ones in `old` the last counts."""
    known = {identity(record): record for record in old}
    found = []
    for record in new:
        before = known.get(identity(record))
        if before is not None:
            ratios = [record[name] / before[name] for name in ("median_ns", "min_ns")]
            cautious = min(ratios) if ratios[0] > 1 else ratios[0]
            found.append(
                Change(title(record), before["median_ns"], record["median_ns"], max(cautious, 0.0) - 1)
            )
    return found


def told(changes: Sequence[Change], above: float | None, style: Style) -> str:
    """The table, the worst first; failures are marked."""
    rows = []
    for change in sorted(changes, key=lambda c: -c.slower):
        text = f"{change.slower:+.1%}"
        failed = above is not None and change.fails(above)
        mark = style.bad(f"{text} slower") if failed else style.good(text) if change.slower < 0 else text
        rows.append([change.title, duration(change.old_ns / 1e9), duration(change.new_ns / 1e9), mark])
    if not rows:
        return "the two runs have no benchmark in common: names, lines, values, devices and threads have to be the same"
    return table(["", "before", "now", "change"], rows)
