"""Streams: work of one runs in order, work of two may run at once.

Comes in: a device and a priority. Goes out: `Stream`s that launches and copies take as ``stream=``.
What a kernel reports (a failed assert, an index out of bounds) is looked at when the host waits:
for an event after it, for the stream, or for the device.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from pykern.data.abi import STREAM_CELLS
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import DeviceError, LaunchError
from pykern.runtime import registry
from pykern.runtime.cpu_table import publish_type
from pykern.runtime.devices import checked, current_device, device
from pykern.runtime.event import Event

PRIORITIES = ("high", "normal", "low")


def _counted_alone() -> int:
    """What is counted for an object that a local name alone refers to: 2, and 1 from Python 3.14 on."""
    event = object()
    return sys.getrefcount(event)


_ALONE = _counted_alone()
_LAST = STREAM_CELLS.index("last")
UNFINISHED = 64
"""Reports and host copies under way in one stream, beyond which the host waits for them."""

_lock = threading.Lock()
_defaults: dict[str, Stream] = {}
STREAMS: weakref.WeakSet[Stream] = weakref.WeakSet()


class Stream:
    """A queue of work on a device: ``pk.Stream("cuda:0", priority="high")``.

    Devices with fewer levels of priority take the nearest; the CPU runs everything at once and has none.
    """

    __slots__ = ("__dict__", "__weakref__", "_launch")

    @at_users_line
    def __init__(self, on: Any = None, priority: str = "normal", *, device: Any = None) -> None:
        if priority not in PRIORITIES:
            raise LaunchError(f"priority={priority!r}", hint=f"a priority is {', '.join(PRIORITIES)}")
        opened = registry.opened(_name(on if device is None else device))
        self._begin(opened, opened.driver.stream(priority), priority)

    def _begin(self, opened: registry.Opened, native: Any, priority: str) -> None:
        self._opened, self._native, self.priority = opened, native, priority
        self._unfinished: list[Finisher] = []
        self._last: Event | None = None
        # What compiled entries see of it, see `pykern.data.abi.STREAM_CELLS`.
        self._called = self.settle, self.launched
        direct = opened.driver.direct
        self._cells = (ctypes.c_int64 * len(STREAM_CELLS))(
            0 if direct is None else direct.stream(native),
            opened.pool.bit(native),
            opened.pool.number,
            0,
            *map(id, self._called),
        )
        self._launch = ctypes.addressof(self._cells).to_bytes(8, sys.byteorder)
        STREAMS.add(self)
        weakref.finalize(self, opened.pool.close, native).atexit = False

    @property
    def native(self) -> Any:
        """The driver's own stream, for more work: the event of the last launch is recorded before."""
        if self._last is not None:
            self.settle()
        return self._native

    def settle(self) -> None:
        """Record the event of the last launch where somebody has it; more work is about to come."""
        event, self._last, self._cells[_LAST] = self._last, None, 0
        if event is not None and sys.getrefcount(event) > _ALONE:
            event._pending = None
            event._driver, event._native, event._finishers = self._mark()

    def launched(self) -> Event:
        """An event that stands for everything put into the stream so far, recorded when it is needed."""
        if self._last is not None:
            self.settle()
        event = self._last = Event()
        event._pending = self
        self._cells[_LAST] = id(event)
        return event

    @property
    def device(self) -> device:
        """Where its work runs."""
        return device(self._opened.name)

    def record(self) -> Event:
        """An event: everything put into the stream so far."""
        return Event().record(self)

    def wait(self, events: Event | Iterable[Event]) -> None:
        """Later work of this stream waits for the events; the host does not."""
        several = list(events) if isinstance(events, Iterable) else [events]
        for event in several:
            if not isinstance(event, Event):
                raise LaunchError(
                    f"a stream waits for events, not for {type(event).__name__}",
                    hint="launches return events, and pk.Event().record(stream) makes one",
                )
        for event in several:
            event.settle()
            if event._driver is None:
                continue
            if event._driver is self._opened.driver:
                event._driver.stream_wait(self.native, event._native)
            else:  # another device's: no driver knows it
                event.wait()

    def synchronize(self) -> None:
        """Wait until the stream is empty. Raises what its kernels report."""
        self._opened.driver.synchronize(self.native)
        self._finish()

    @property
    def done(self) -> bool:
        """Whether everything put into it has run."""
        return self.record().done

    def _mark(self) -> tuple[Any, Any, tuple[Callable[[], None], ...]]:
        driver = self._opened.driver
        return driver, driver.record(self.native), tuple(self._unfinished)

    def _add_finisher(self, what: Callable[[], None]) -> None:
        if len(self._unfinished) >= UNFINISHED:
            self.synchronize()
        self._unfinished.append(Finisher(self, what))

    def _finish(self) -> None:
        for finisher in tuple(self._unfinished):
            finisher()

    def __repr__(self) -> str:
        return f"<pykern.Stream on {self._opened.name}, priority {self.priority}>"


publish_type("stream_type", Stream)


class Finisher:
    """Something the host does once the work before it has run; it is done once, whoever waits first."""

    def __init__(self, stream: Stream, what: Callable[[], None]) -> None:
        self._stream = stream
        self._what = what

    def __call__(self) -> None:
        try:
            self._stream._unfinished.remove(self)
        except ValueError:  # done already
            return
        self._what()


_foreign: dict[tuple[str, int], Stream] = {}


def foreign_stream(opened: registry.Opened, handle: int) -> Stream:
    """A stream of somebody else, by the driver's number, who keeps it as long as the process uses the device."""
    known = _foreign.get((opened.name, handle))
    if known is None:
        driver: Any = opened.driver
        stream = Stream.__new__(Stream)
        stream._begin(opened, driver.foreign(handle), "normal")
        known = _foreign.setdefault((opened.name, handle), stream)
    return known


def default_stream(on: Any = None) -> Stream:
    """The stream of launches and copies that name none."""
    opened = registry.opened(_name(on))
    known = _defaults.get(opened.name)
    if known is not None:
        return known
    with _lock:
        stream = _defaults.get(opened.name)
        if stream is None:
            stream = _defaults[opened.name] = Stream.__new__(Stream)
            stream._begin(opened, opened.stream, "normal")
    return stream


Event.default_stream = staticmethod(default_stream)


def checked_stream(stream: Any, name: str) -> Stream:
    """The stream to use on a device: `stream`, or its own where None. Raises `DeviceError`, `LaunchError`."""
    if stream is None:
        return default_stream(name)
    if not isinstance(stream, Stream):
        raise LaunchError(f"stream={stream!r} is no pk.Stream", hint=f"make one: pk.Stream({name!r})")
    if stream._opened.name != name and not {stream._opened.name, name} <= {"cpu", "python"}:
        raise DeviceError(f"the stream is on {stream._opened.name}, and the work on {name}")
    return stream


@at_users_line
def synchronize(on: Any = None, *, device: Any = None) -> None:
    """Wait until a device (the current one where None) is done. Raises what its kernels report."""
    opened = registry.opened(_name(on if device is None else device))
    opened.driver.synchronize(None)
    for stream in tuple(STREAMS):
        if stream._opened is opened:
            stream._finish()


def _name(on: Any) -> str:
    return current_device() if on is None else checked(on)
