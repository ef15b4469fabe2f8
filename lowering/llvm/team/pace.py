"""How many chunks a thread takes at once: one, and twice as many each time that they took little time.

Where nobody knows how long a work-item takes, chunks are short, so that Ctrl-C ends a launch even where each takes a
second. Taking them costs more than some of them do. So a thread takes more of them where they turn out to be very
short. The kernel is called for each by itself, as it asks for signals where it has few work-items (`polls`), and time
is looked at after every `GROUP` of them, as the next ones may take longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pykern.lowering.llvm.team.state import TeamBody
from pykern.lowering.llvm.text_ir.values import I64, Operand, Value

SHORT = 500_000
"""Nanoseconds: where chunks took less, twice as many are taken next time; where they took four times as long, half."""
MOST_CHUNKS = 64
"""Chunks that are taken at once, at most: others cannot help with them any more."""
GROUP = 8
"""Chunks between two looks at the clock."""
ENOUGH_EACH = 8
"""A launch with no more chunks for each thread than these is not measured: reading a clock takes 25 ns."""


@contextmanager
def in_groups(f: TeamBody, count: Value) -> Iterator[tuple[Value, Value]]:
    """For `count` chunks in groups: the number of the first of a group, and how many it has."""
    begun = f.variable(0)
    with f.while_(lambda: f.is_(f.load(I64, begun), "<", count)):
        first = f.load(I64, begun)
        left = f.sub(count, first)
        some = f.select(f.is_(left, "<", GROUP), left, I64(GROUP))
        yield first, some
        f.store(f.add(first, some), begun)


class Pace:
    """The number of chunks that a thread takes at once, as the code of a function keeps it."""

    def __init__(self, f: TeamBody, parts: Value, team: Operand) -> None:
        self._f = f
        self._measured = f.is_(parts, ">", f.mul(team, ENOUGH_EACH))
        self._wanted, self._started = f.variable(1), f.variable(0)
        with f.if_then(self._measured):
            f.store(f.now(), self._started)

    def wanted(self) -> Value:
        """How many to take next."""
        return self._f.load(I64, self._wanted)

    def measure(self) -> None:
        """Chunks were done: choose how many are next."""
        f = self._f
        with f.if_then(self._measured):
            now = f.now()
            took = f.sub(now, f.load(I64, self._started))
            f.store(now, self._started)
            before = self.wanted()
            more = f.select(f.is_(before, "<", MOST_CHUNKS), f.shl(before, 1), before)
            fewer = f.select(f.is_(before, ">", 1), f.lshr(before, 1), before)
            same = f.select(f.is_(took, ">", 4 * SHORT), fewer, before)
            f.store(f.select(f.is_(took, "<", SHORT), more, same), self._wanted)
