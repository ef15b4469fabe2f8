"""Copies and fills, in stream order.

Comes in: parts of memory and NumPy arrays. Goes out: work submitted to a stream. Pinned arrays are copied
by the device itself; where host and device share memory and the stream is idle, the host copies at once;
everything else goes through staging memory, in chunks. Results reach the user's array when somebody sees
that the batch is done.
"""

from __future__ import annotations

import numpy as np

from pykern.errors import DeviceError
from pykern.runtime.drivers.vulkan.api import ffi, lib
from pykern.runtime.drivers.vulkan.memory import Part, Pool
from pykern.runtime.drivers.vulkan.store import Store
from pykern.runtime.drivers.vulkan.stream import Batch, Stream

CHUNK = 16 << 20
MOST_STAGED = 256 << 20
"""Bytes of staging under way; the host waits before it takes more."""
SEED = 1 << 20
"""A fill that Vulkan has no command for copies this many bytes of its pattern over and over."""


class Transfers:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._staged = 0

    def copy_in(self, stream: Stream, part: Part, offset: int, host: np.ndarray) -> None:
        """`host` holds bytes."""
        pinned = self._store.find_pinned(host)
        if pinned is not None:
            batch = stream.begin()
            batch.keep.append(host)
            _copy(batch, *pinned, part, offset, host.size)
            stream.submit(batch)
        elif part.block.mapped and stream.idle:
            part.seen(offset, host.size)[:] = host
        else:
            for start in range(0, host.size, CHUNK):
                piece = host[start : start + CHUNK]
                staging = self._take(stream, self._store.upload, piece.size)
                staging.seen(0, piece.size)[:] = piece
                self._run(stream, staging, (staging, 0, part, offset + start, piece.size))

    def copy_out(self, stream: Stream, host: np.ndarray, part: Part, offset: int) -> None:
        """`host` holds bytes."""
        pinned = self._store.find_pinned(host)
        if pinned is not None:
            batch = stream.begin()
            batch.keep.append(host)
            _copy(batch, part, offset, *pinned, host.size)
            stream.submit(batch)
        elif part.block.mapped and stream.idle:
            host[:] = part.seen(offset, host.size)
        else:
            for start in range(0, host.size, CHUNK):
                piece = host[start : start + CHUNK]
                staging = self._take(stream, self._store.download, piece.size)
                self._run(stream, staging, (part, offset + start, staging, 0, piece.size), host=piece)

    def copy(self, stream: Stream, to: Part, to_offset: int, source: Part, offset: int, nbytes: int) -> None:
        overlap = to is source and abs(to_offset - offset) < nbytes
        if not overlap:
            batch = stream.begin()
            _copy(batch, source, offset, to, to_offset, nbytes)
            stream.submit(batch)
        else:  # Vulkan copies between parts that do not meet
            between = self._store.take(self._store.arrays, nbytes)
            batch = stream.begin()
            _copy(batch, source, offset, between, 0, nbytes)
            stream.barrier(batch)
            _copy(batch, between, 0, to, to_offset, nbytes)
            batch.finish.append(lambda: self._store.give(between))
            stream.submit(batch)

    def fill(self, stream: Stream, part: Part, offset: int, pattern: bytes, nbytes: int) -> None:
        whole = pattern * (8 // len(pattern))
        start = offset
        if offset % 4 == 0 and whole[:4] == whole[4:] and nbytes >= 4:
            batch = stream.begin()
            part.used_by(batch)
            count = nbytes // 4 * 4
            value = int.from_bytes(whole[:4], "little")
            lib.vkCmdFillBuffer(batch.commands, part.block.buffer, part.offset + offset, count, value)
            stream.submit(batch)
            start += count
        if start < offset + nbytes:
            self._repeat(stream, part, start, whole, offset + nbytes - start)

    def _repeat(self, stream: Stream, part: Part, offset: int, pattern: bytes, nbytes: int) -> None:
        """Copy a seed of the pattern to where it belongs, as often as it fits."""
        seed = min(nbytes, SEED)
        staging = self._take(stream, self._store.upload, seed)
        staging.seen(0, seed)[:] = np.resize(np.frombuffer(pattern, np.uint8), seed)
        pieces = [(staging, 0, part, offset + at, min(seed, nbytes - at)) for at in range(0, nbytes, seed)]
        self._run(stream, staging, *pieces)

    def _take(self, stream: Stream, pool: Pool, nbytes: int) -> Part:
        if self._staged + nbytes > MOST_STAGED:
            stream.block(stream.submitted)
        staging = self._store.take(pool, nbytes)
        self._staged += staging.size
        return staging

    def _run(
        self,
        stream: Stream,
        staging: Part,
        *copies: tuple[Part, int, Part, int, int],
        host: np.ndarray | None = None,
    ) -> None:
        """Submit copies from or to staging memory; the host gets what is in it, if it waits for it."""

        def finish() -> None:
            if host is not None:
                host[:] = staging.seen(0, host.size)
            self._staged -= staging.size
            self._store.give(staging)

        batch = stream.begin()
        for source, offset, to, to_offset, nbytes in copies:
            _copy(batch, source, offset, to, to_offset, nbytes)
        batch.finish.append(finish)
        stream.submit(batch)


def _copy(batch: Batch, source: Part, offset: int, to: Part, to_offset: int, nbytes: int) -> None:
    source.used_by(batch)
    to.used_by(batch)
    region = ffi.new("VkBufferCopy*", (source.offset + offset, to.offset + to_offset, nbytes))
    lib.vkCmdCopyBuffer(batch.commands, source.block.buffer, to.block.buffer, 1, region)


def bytes_of(host: np.ndarray, what: str, *, written: bool) -> np.ndarray:
    """The bytes of a contiguous array, in place."""
    if not host.flags.c_contiguous:
        raise DeviceError(f"{what}: the host's array is not contiguous")
    if written and not host.flags.writeable:
        raise DeviceError(f"{what}: the host's array is read-only")
    return host.reshape(-1).view(np.uint8)
