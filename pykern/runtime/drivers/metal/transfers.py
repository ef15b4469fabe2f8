"""Copies from, to and on a device of Metal, whose buffers the host sees as well.

Comes in: places in buffers and host memory. Goes out: the bytes copied, in the order of the stream. Where nothing is
under way the host copies itself; else the device does, which on macOS copies multiples of four bytes. Copies to the
host wait for the stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.runtime.drivers.metal.stream import Stream

GRAIN = 4
LARGEST = 16 << 20
"""Bytes of a pattern that are copied at a time."""


def copy_in(stream: Stream, buffer: Any, offset: int, data: np.ndarray) -> None:
    """Put bytes into a buffer."""
    if stream.is_idle():
        _seen(buffer)[offset : offset + data.size] = data
        return
    if (offset | data.size) % GRAIN:
        stream.wait(stream.commit())
        _seen(buffer)[offset : offset + data.size] = data
        return
    staging = _staging(stream, data)
    _encode(stream, staging, 0, buffer, offset, data.size)
    stream.commit()


def copy_out(stream: Stream, buffer: Any, offset: int, data: np.ndarray) -> None:
    """Fill host memory with bytes of a buffer; they are there when this returns."""
    stream.wait(stream.commit())
    data[:] = _seen(buffer)[offset : offset + data.size]


def copy(stream: Stream, to: Any, to_offset: int, source: Any, offset: int, nbytes: int) -> None:
    """Copy on the device; what it cannot is copied by the host."""
    overlap = to is source and abs(to_offset - offset) < nbytes
    if (to_offset | offset | nbytes) % GRAIN or overlap:
        stream.wait(stream.commit())
        _seen(to)[to_offset : to_offset + nbytes] = _seen(source)[offset : offset + nbytes].copy()
    else:
        _encode(stream, source, offset, to, to_offset, nbytes)


def fill(stream: Stream, buffer: Any, offset: int, pattern: bytes, nbytes: int) -> None:
    """Repeat a pattern; Metal itself repeats bytes alone."""
    whole = np.tile(np.frombuffer(pattern, np.uint8), min(nbytes, LARGEST) // len(pattern))
    for first in range(0, nbytes, LARGEST):
        copy_in(stream, buffer, offset + first, whole[: nbytes - first])


def _encode(stream: Stream, source: Any, offset: int, to: Any, to_offset: int, nbytes: int) -> None:
    stream.blit().copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        source, offset, to, to_offset, nbytes
    )


def _staging(stream: Stream, data: np.ndarray) -> Any:
    """A buffer with a copy of the host's bytes."""
    shared = stream.metal.MTLResourceStorageModeShared
    return stream.device.newBufferWithBytes_length_options_(
        np.ascontiguousarray(data).data, data.size, shared
    )


def _seen(buffer: Any) -> np.ndarray:
    """The buffer's bytes as the host sees them."""
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.uint8)
