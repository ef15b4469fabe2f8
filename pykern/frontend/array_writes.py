"""Whether what a row was computed from has been written since: its elements are computed where they are read.

Comes in: arrays that are written, rows that are read, loops that begin and end, in the order of the text. Goes out:
true where an element would have another value than where the row got its name. True where in doubt: a write on one path
counts on all, and one in a loop for all that the loop reads of rows from before it. Read next: `rows`, which asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir

from pykern.data.locations import SourceSpan


@dataclass(frozen=True)
class Origin:
    """Where in the text a row was computed, and the arrays whose elements it is computed from."""

    arrays: tuple[ir.Value, ...]
    time: int
    loops: tuple[Loop, ...]


@dataclass(eq=False)
class Loop:
    """A loop being translated, and the rows from before it that it has read so far."""

    read: list[tuple[Origin, SourceSpan, str]] = field(default_factory=list)


@dataclass
class ArrayWrites:
    """The writes of a kernel so far. `ir.Value` objects are kept: each array has one."""

    time: int = 0
    _last: dict[int, tuple[int, ir.Value]] = field(default_factory=dict)
    _all: int = 0
    _loops: list[Loop] = field(default_factory=list)
    _is_storing: bool = False

    def origin(self, arrays: tuple[ir.Value, ...]) -> Origin:
        """Of a row that is computed here."""
        return Origin(arrays, self.time, tuple(self._loops))

    def note(self, array: ir.Value | None) -> tuple[SourceSpan, str] | None:
        """`array` is written, None for a barrier, behind which all arrays may have been. Gives the place where the loop
        has read a row that is computed from it, and the text of that row."""
        if self._is_storing:
            return None
        self.time += 1
        if array is None:
            self._all = self.time
        else:
            self._last[id(array)] = self.time, array
        for loop in self._loops:
            for origin, place, text in loop.read:
                if array is None or any(a is array for a in origin.arrays):
                    return place, text
        return None

    def is_stale(self, origin: Origin, place: SourceSpan, text: str) -> bool:
        """Whether a row that is read at `place` was computed from what has been written since."""
        if self._is_storing:
            return False
        for loop in self._loops:
            if loop not in origin.loops:
                loop.read.append((origin, place, text))
        return self.written_since(origin)

    def written_since(self, origin: Origin) -> bool:
        """Whether one of the arrays was written after the row was computed."""
        written = (self._last.get(id(array), (0, None))[0] for array in origin.arrays)
        return bool(origin.arrays) and max(self._all, *written) > origin.time

    @contextmanager
    def loop(self) -> Iterator[None]:
        """While a loop is translated."""
        self._loops.append(Loop())
        try:
            yield
        finally:
            self._loops.pop()

    @contextmanager
    def storing(self) -> Iterator[None]:
        """While the elements of one row are stored one by one: each reads what its own place held."""
        before, self._is_storing = self._is_storing, True
        try:
            yield
        finally:
            self._is_storing = before
