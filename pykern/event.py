"""What a launch returns."""

from __future__ import annotations


class Event:
    """A point in a stream; a launch on the CPU is over when it returns, and so is its event."""

    __slots__ = ()

    @property
    def done(self) -> bool:
        """Whether everything before this point has run."""
        return True

    def wait(self) -> None:
        """Return when everything before this point has run."""

    def __repr__(self) -> str:
        return "<pykern.Event: done>"


COMPLETED = Event()


def wait(events: object) -> None:
    """Wait for one event or an iterable of events."""
    for event in [events] if isinstance(events, Event) else events:  # type: ignore[attr-defined]
        event.wait()
