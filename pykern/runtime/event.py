"""Points in streams: what a launch returns, and what a user records.

Comes in: a device's driver and its own event, both opaque here. Goes out: `Event`s to wait for.
Read next: `pykern.runtime.stream`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pykern.errors import LaunchError


class Event:
    """A point in a stream: ``e = pk.Event(); e.record(stream)``, or what a launch or a copy returns.

    A launch on the CPU is over when it returns, and so is its event.
    """

    __slots__ = ("__weakref__", "_driver", "_finishers", "_native", "_pending")

    default_stream: ClassVar[Any]
    """The stream of the current device; `pykern.runtime.stream` sets it."""

    def __init__(self) -> None:
        self._driver: Any = None
        self._native: Any = None
        self._finishers: tuple[Callable[[], None], ...] = ()
        self._pending: Any = None
        """The stream whose last launch it stands for: it is recorded when it is asked, or before more work comes."""

    def record(self, stream: Any = None) -> Event:
        """Stand for everything put into `stream` so far (the current device's own where None)."""
        if self is COMPLETED:
            raise LaunchError("this event belongs to a launch on the CPU", hint="make one: pk.Event()")
        self.settle()
        self._driver, self._native, self._finishers = (
            self.default_stream() if stream is None else stream
        )._mark()
        return self

    def settle(self) -> None:
        """Be recorded now where that was put off."""
        if self._pending is not None:
            self._pending.settle()

    @property
    def done(self) -> bool:
        """Whether everything before this point has run; an event that was never recorded is done."""
        self.settle()
        return self._driver is None or self._driver.done(self._native)

    def wait(self) -> None:
        """Return when everything before this point has run. Raises what kernels before it report."""
        self.settle()
        if self._driver is None:
            return
        self._driver.wait(self._native)
        finishers, self._finishers = self._finishers, ()
        for finish in finishers:
            finish()

    def elapsed(self, end: Event) -> float:
        """Milliseconds on the device from this event to `end`; waits for both."""
        self.settle()
        end.settle()
        if self._driver is None or self._driver is not end._driver:
            raise LaunchError(
                "times are taken between two recorded events of one device",
                hint="start.record(stream) before the work, end.record(stream) after it",
            )
        self.wait()
        end.wait()
        return self._driver.elapsed_ms(self._native, end._native)

    def __repr__(self) -> str:
        return f"<pykern.Event: {'done' if self.done else 'not done'}>"


COMPLETED = Event()


def wait(events: Any) -> None:
    """Wait for one event or an iterable of events."""
    for event in [events] if isinstance(events, Event) else events:
        event.wait()
