"""Launches with the very same arguments as before, on devices whose drivers have no compiled entries (Vulkan).

Comes in: a call and, the second time, what was put into the stream for it. Goes out: the same launch again, once it is
sure that nothing has changed: the arrays are the same objects and not freed, the kernel means what it meant.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pykern.arrays.array import Array
from pykern.runtime.driver import Memory
from pykern.runtime.event import Event
from pykern.runtime.graph import current_graph
from pykern.runtime.stream import Stream

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel

KEYWORDS = frozenset({"ndrange", "workgroup", "stream", "device"})
"""What else a call may name: these are told apart by what they are."""
MOST = 64
"""Calls that a kernel remembers."""
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Put:
    """What a launch put into its stream: arguments and groups of each part."""

    stream: Stream
    function: Any
    driver: Any
    code: Any
    parts: list[tuple[list[Memory | int], Triple]]
    group: Triple


@dataclass(frozen=True)
class _Repeat:
    put: Put
    arrays: list[tuple[int, weakref.ref[Array]]]
    kept: tuple[Any, ...]
    """What the key names by its address."""


class Repeats:
    """The calls of one kernel."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()
        self._known: dict[Any, _Repeat] = {}
        self._under_way = threading.local()

    def record(self, put: Put | None) -> None:
        """What the launch under way in this thread has put into its stream: once, or it is not remembered."""
        self._under_way.puts = [*getattr(self._under_way, "puts", ()), put]

    def repeat_launch(self, kernel: LaunchedKernel, args: tuple, keywords: dict[str, Any]) -> Event | None:
        """The event of the launch, made as the one before; None where it has to be looked at."""
        if not self._known or current_graph() is not None or not KEYWORDS.issuperset(keywords):
            return None
        try:
            found = self._known.get((*map(id, args), *keywords.items()))
        except TypeError:  # an ndrange that is a list
            return None
        if found is None or kernel.captured()[0] is not found.put.function:
            return None
        put = found.put
        native = put.stream.native
        for place, array in found.arrays:
            if array() is not args[place]:
                return None
            args[place]._allocation.used_on(native)
        for arguments, part in put.parts:
            put.driver.launch(native, put.code, arguments, part, put.group, 0)
        return put.stream.launched()

    def forget(self) -> None:
        """A launch of this thread begins."""
        self._under_way.puts = ()

    def keep(self, args: tuple, keywords: dict[str, Any]) -> None:
        """Remember the launch that was just made, where calls like it come again."""
        puts, self._under_way.puts = getattr(self._under_way, "puts", ()), ()
        put = puts[0] if len(puts) == 1 else None
        if put is None or not KEYWORDS.issuperset(keywords):
            return
        try:
            key = (*map(id, args), *keywords.items())
            new = key not in self._seen
        except TypeError:
            return
        if len(self._seen) >= MOST:
            self._seen, self._known = set(), {}
        self._seen.add(key)
        if not new:
            arrays = [(n, weakref.ref(a)) for n, a in enumerate(args) if isinstance(a, Array)]
            others = tuple(a for a in args if not isinstance(a, Array))
            self._known[key] = _Repeat(put, arrays, others)
