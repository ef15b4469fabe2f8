"""What time is taken with: the host's clock, or events of the device the arrays live on.

Comes in: a function, how often to call it. Goes out: seconds a call. Work that a function has only begun
(a launch, JAX's or torch's results) is waited for inside the time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Clock(Protocol):
    """One way to take time; `name` says which, in words."""

    @property
    def name(self) -> str: ...

    def time(self, function: Callable[[], Any], calls: int) -> float:
        """Seconds a call, of `calls` calls in a row."""
        ...


@dataclass(frozen=True)
class HostClock:
    """The host's monotonic clock around the calls and what they began."""

    name: str = "host"

    def time(self, function: Callable[[], Any], calls: int) -> float:
        started = time.perf_counter()
        for _ in range(calls):
            result = function()
            if result is not None:
                finish(result)
        return (time.perf_counter() - started) / calls


@dataclass(frozen=True)
class DeviceClock:
    """Two events around the calls, on the default stream of a device of pykern's: the device's own time."""

    device: str

    @property
    def name(self) -> str:
        return f"events of {self.device}"

    def time(self, function: Callable[[], Any], calls: int) -> float:
        from pykern.runtime.event import Event
        from pykern.runtime.stream import default_stream

        stream = default_stream(self.device)
        start = Event().record(stream)
        for _ in range(calls):
            function()
        end = Event().record(stream)
        return start.elapsed(end) / 1e3 / calls


@dataclass(frozen=True)
class TorchClock:
    """The same with torch's events, where the inputs are tensors of a GPU."""

    device: Any

    @property
    def name(self) -> str:
        return f"torch's events of {self.device}"

    def time(self, function: Callable[[], Any], calls: int) -> float:
        torch = sys.modules["torch"]
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            function()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / calls


def clock_for(values: Iterable[Any]) -> Clock:
    """The clock of the device the first array on a device lives on; the host's where there is none."""
    for value in values:
        if getattr(value, "__pykern_array__", False) and value.device_name not in ("cpu", "python"):
            return DeviceClock(value.device_name)
        if getattr(value, "is_cuda", False) and "torch" in sys.modules:
            return TorchClock(value.device)
    return HostClock()


def finish(result: Any) -> None:
    """Wait for what a call has begun: events, and arrays of libraries that run ahead of Python."""
    wait = _WAYS.get(type(result), _unknown)
    if wait is None:
        return
    if wait is _unknown:
        wait = _WAYS[type(result)] = _way(result)
    if wait is not None:
        wait(result)


def _unknown(result: Any) -> None:
    """Stands for types that were not met before."""


def _way(result: Any) -> Callable[[Any], Any] | None:
    """How to wait for a result of this type; None where there is nothing to wait for."""
    if isinstance(result, tuple | list):
        return _finish_all
    if isinstance(result, Mapping):
        return _finish_values
    if hasattr(result, "block_until_ready"):
        return type(result).block_until_ready
    if hasattr(result, "is_cuda"):
        return _finish_tensor
    if hasattr(result, "wait") and hasattr(result, "elapsed"):
        return type(result).wait
    return None


def _finish_all(results: Iterable[Any]) -> None:
    for one in results:
        finish(one)


def _finish_values(results: Mapping[Any, Any]) -> None:
    _finish_all(results.values())


def _finish_tensor(tensor: Any) -> None:
    if tensor.is_cuda:
        sys.modules["torch"].cuda.synchronize(tensor.device)


_WAYS: dict[type, Callable[[Any], Any] | None] = {type(None): None}
"""By type, as they are met: a look-up is all that a timed call pays."""
