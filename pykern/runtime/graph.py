"""A list of launches and copies that is made once and run many times.

Comes in: what is launched inside ``with pk.graph() as g:``, kernels, copies and array programs; it is written down
instead of run. Goes out: ``g.replay()``, which runs the list in the streams it was made for, without looking at
arguments again.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from pykern.data.records import record
from pykern.errors import LaunchError
from pykern.runtime.devices import override
from pykern.runtime.event import COMPLETED, Event

_state = threading.local()


@record
class Step:
    """One piece of work: `run` takes the stream it goes into (None on the CPU)."""

    stream: Any
    run: Callable[[Any], None]


class graph:  # noqa: N801 - used as ``with pk.graph() as g:``
    """Capture work, then `replay` it. Arrays are those of the capture: their contents may change, their
    memory stays theirs as long as the graph is there. Sizes and scalars are as captured."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def __enter__(self) -> graph:
        if self._steps:
            raise LaunchError("a graph is captured once", hint="make another one: pk.graph()")
        if current_graph() is not None:
            raise LaunchError("a graph is captured inside of another one")
        _state.graph = self
        override("graph", 1)  # compiled entries would run at once
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _state.graph = None
        override("graph", -1)

    def add(self, stream: Any, run: Callable[[Any], None]) -> None:
        """Write a piece of work down."""
        self._steps.append(Step(stream, run))

    def __len__(self) -> int:
        return len(self._steps)

    def replay(self, stream: Any = None) -> Event:
        """Run everything again, all of it in `stream` where one is given. Gives an event behind the last step."""
        if current_graph() is not None:
            raise LaunchError("a graph is not replayed while one is captured")
        last = None
        used: list[Any] = []
        for step in self._steps:
            last = step.stream if stream is None or step.stream is None else stream
            if last is not None and all(last is not one for one in used):
                used.append(last)
            step.run(last)
        if not used:
            return COMPLETED
        for other in used:
            if other is not used[-1]:
                used[-1].wait(other.record())
        return used[-1].record()

    def __repr__(self) -> str:
        return f"<pykern.graph of {len(self)} steps>"


def current_graph() -> graph | None:
    """The graph that this thread captures."""
    return getattr(_state, "graph", None)


@contextlib.contextmanager
def not_captured() -> Iterator[None]:
    """What this thread launches in the block runs at once, also while a graph is captured."""
    captured, _state.graph = current_graph(), None
    try:
        yield
    finally:
        _state.graph = captured


def refuse_in_graph(what: str) -> None:
    """Raise `LaunchError` while a graph is captured: `what` would have to happen now."""
    if current_graph() is not None:
        raise LaunchError(f"{what} cannot be captured", hint="do it before or after `with pk.graph()`")
