"""How bytes move between devices, and between a device and NumPy.

Comes in: arrays and where they go. Goes out: the copies, and the `Event` behind the last of them. Dense parts
are copied as they are; elements of one device that lie apart go by a small kernel (`pykern.api.element_copies`); else
the bytes from the first element to the last are brought to the host and, where they were written, back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.arrays.view import A, ArrayView, covered
from pykern.data.provided import provided
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import LaunchError
from pykern.runtime import registry
from pykern.runtime.event import COMPLETED, Event
from pykern.runtime.graph import current_graph, refuse_in_graph
from pykern.runtime.stream import STREAMS, Stream, checked_stream, default_stream
from pykern.runtime.written import note_write
from pykern.types import DType

SPARSE = 2
"""Bytes from the first element to the last, for each byte of elements, from which these are gathered first."""


@at_users_line
def copyto(to: Any, source: Any, stream: Any = None) -> Event:
    """Copy `source` (a `pk.Array`, a NumPy array, a number) into `to`, broadcast and converted as NumPy does.

    Without a stream the copy is done on return, after all work put before it on both arrays. With one it is
    ordered there; a NumPy array then stays as it is until the event. Between two devices the host waits.
    """
    if isinstance(to, np.ndarray):
        note_write(to)
        np.copyto(to, to_host(source) if isinstance(source, ArrayView) else source)
        return COMPLETED
    if not isinstance(to, ArrayView):
        raise LaunchError(f"copyto writes a pk.Array or a NumPy array, not a {type(to).__name__}")
    if to.readonly:
        raise LaunchError(f"{to!r} is read-only", hint="copy it: x.copy()")
    note_write(to.geometry())
    used = _stream(to, source, stream)
    waits = stream is None
    if isinstance(source, ArrayView) and _same_place(to, source):
        _on_device(to, source, used, waits)
    elif isinstance(source, ArrayView) and _by_elements(to, source, used, waits):
        pass
    elif (pattern := _pattern(to, source)) is not None:
        _fill(to, pattern, used, waits)
    else:
        refuse_in_graph("a copy from the host or from another device")
        value = to_host(source) if isinstance(source, ArrayView) else _number(source)
        _from_host(to, np.asarray(value), used, waits)
    if current_graph() is not None:
        return COMPLETED
    event = used.record()
    if waits:
        event.wait()
    return event


def to_host(array: ArrayView) -> np.ndarray:
    """See `ArrayView.numpy`."""
    refuse_in_graph("reading an array")
    stream = default_stream(array.device)
    memory = array._allocation.wait_for_users(stream.native)
    host = array.host
    if host is not None:
        stream.synchronize()
        _settle(array)
        return host if array.device_name == "cpu" else host.copy()
    low, high = covered(array)
    if high - low > SPARSE * array.nbytes:  # what lies between the elements need not travel
        dense = _dense(array, stream)
        if dense is not None:
            _settle(array)
            return to_host(dense)
    whole = np.empty(high - low, np.uint8)
    stream._opened.driver.copy_out(stream.native, whole, memory, low)
    stream.record().wait()
    _settle(array)
    part = np.ndarray(array.shape, array.dtype, whole, array.offset - low, array.strides)
    return part if part.flags.c_contiguous else np.ascontiguousarray(part).reshape(array.shape)


def _dense(array: ArrayView, stream: Stream) -> ArrayView | None:
    """A dense copy on the same device, made by a kernel; None where that is not possible."""
    made = array.beside(array.device_name)
    return made if _by_elements(made, array, stream, waits=True) else None


def moved(array: A, name: str, stream: Any = None) -> A:
    """The array on the device `name`, dense."""
    made = array.beside(name)
    if stream is not None and isinstance(stream, Stream) and stream.device == array.device:
        stream.synchronize()
        stream = None
    copyto(made, array, stream)
    return made


def _settle(array: ArrayView) -> None:
    """Look at what the kernels that used the array report."""
    users = array._allocation.users()
    for stream in tuple(STREAMS):
        if stream._unfinished and any(stream.native is user for user in users):
            stream.synchronize()


def _stream(to: ArrayView, source: Any, stream: Any) -> Stream:
    if isinstance(stream, Stream) and isinstance(source, ArrayView) and stream.device == source.device:
        return checked_stream(stream if stream.device == to.device else None, to.device_name)
    return checked_stream(stream, to.device_name)


def _same_place(to: ArrayView, source: ArrayView) -> bool:
    same = to._allocation.pool is source._allocation.pool and to.shape == source.shape
    return same and to.dtype == source.dtype and to.contiguous and source.contiguous


def _by_elements(to: ArrayView, source: ArrayView, stream: Stream, waits: bool) -> bool:
    """Copy between arrays of one device that lie apart, broadcast, by a kernel; False where that is not possible."""
    same = to._allocation.pool is source._allocation.pool and to.dtype == source.dtype
    if not same or not fits(source.shape, to.shape) or a_touches_b(to, source):
        return False
    return provided("copied_by_kernel")(
        to, source._view(np.broadcast_to(source.geometry(), to.shape)), stream, waits
    )


def fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether an array of one shape is broadcast to the other."""
    behind = into[len(into) - len(shape) :] if len(shape) <= len(into) else None
    return behind is not None and all(n in (1, m) for n, m in zip(shape, behind, strict=True))


def _on_device(to: ArrayView, source: ArrayView, stream: Stream, waits: bool) -> None:
    if to.size == 0:
        return

    def run(on: Stream) -> None:
        a, b = _use(to, on, waits), _use(source, on, waits)
        on._opened.driver.copy(on.native, a, to.offset, b, source.offset, to.nbytes)

    if a_touches_b(to, source):
        if to.offset != source.offset:
            value = to_host(source).copy()
            _from_host(to, value, stream, waits)
        return
    _run(run, stream)


def a_touches_b(a: ArrayView, b: ArrayView) -> bool:
    """Whether two arrays share bytes."""
    if a.memory is not b.memory:
        return False
    (a_low, a_high), (b_low, b_high) = covered(a), covered(b)
    return a_low < b_high and b_low < a_high


def _pattern(to: ArrayView, source: Any) -> bytes | None:
    """The bytes of one element where a dense array is set to one number."""
    if isinstance(source, ArrayView) or not to.contiguous or to.itemsize not in (1, 2, 4, 8):
        return None
    value = _number(source)
    if np.ndim(value) or np.size(value) != 1:
        return None
    return np.asarray(value).astype(to.dtype).tobytes()


def _fill(to: ArrayView, pattern: bytes, stream: Stream, waits: bool) -> None:
    if to.size == 0:
        return

    def run(on: Stream) -> None:
        on._opened.driver.fill(on.native, _use(to, on, waits), to.offset, pattern, to.nbytes)

    _run(run, stream)


def _from_host(to: ArrayView, value: np.ndarray, stream: Stream, waits: bool) -> None:
    driver = stream._opened.driver
    if not fits(value.shape, to.shape):
        raise LaunchError(f"an array of shape {value.shape} does not fit into one of {to.shape}")
    if to.size == 0:
        return
    memory = _use(to, stream, waits)
    if to.contiguous:
        whole = value
        if value.shape != to.shape or value.dtype != to.dtype or not value.flags.c_contiguous:
            whole = np.empty(to.shape, to.dtype)
            np.copyto(whole, value, casting="unsafe")
        driver.copy_in(stream.native, memory, to.offset, whole)
        _keep(stream, whole)
        return
    if _scattered(to, value, stream, waits):
        return
    low, high = covered(to)
    around = np.empty(high - low, np.uint8)
    driver.copy_out(stream.native, around, memory, low)
    driver.wait(driver.record(stream.native))
    part = np.ndarray(to.shape, to.dtype, around, to.offset - low, to.strides)
    np.copyto(part, value, casting="unsafe")
    driver.copy_in(stream.native, memory, low, around)
    _keep(stream, around)


def _scattered(to: ArrayView, value: np.ndarray, stream: Stream, waits: bool) -> bool:
    """Bring dense elements to the device and put them apart there; False where that is not possible."""
    if as_integers(to) is None or current_graph() is not None:
        return False
    dense = to.beside(to.device_name)
    _from_host(dense, value, stream, waits)
    return _by_elements(to, dense, stream, waits)


def _keep(stream: Stream, host: np.ndarray) -> None:
    """Host memory of a copy under way stays alive until the host waits for it."""
    stream._add_finisher(lambda: _let_go(host))


def _let_go(host: np.ndarray) -> None:
    """Called when the copy is done: `host` was kept by the call itself."""


def _use(array: ArrayView, stream: Stream, waits: bool) -> Any:
    if waits:
        return array._allocation.wait_for_users(stream.native)
    return array._allocation.used_on(stream.native)


def _run(run: Any, stream: Stream) -> None:
    captured = current_graph()
    if captured is None:
        run(stream)
    else:
        captured.add(stream, run)


def _number(value: Any) -> Any:
    return value.numpy if isinstance(value, DType) else value


def as_integers(array: ArrayView) -> ArrayView | None:
    """The array with its elements as unsigned integers; None where its device has none of that size."""
    known = registry.split(array.device_name)[0] not in registry.MEMORY_ONLY
    size = array.itemsize
    if not known or size not in (1, 2, 4, 8) or array.offset % size or any(s % size for s in array.strides):
        return None
    dtypes = registry.info(array.device_name).dtypes
    if dtypes and f"u{8 * size}" not in dtypes:
        return None
    return type(array)(array._allocation, array.shape, np.dtype(f"u{size}"), array.strides, array.offset)
