"""Halos that are filled from the neighbours: what is packed, sent, received and unpacked for arrays of one kind.

Comes in: a `Block` and the arrays. Goes out: a `HaloExchange`, which is kept, with its buffers and persistent
requests, as long as arrays at these addresses are exchanged. All fields of a call share one message to each
neighbour; corners go to the neighbours at corners, so all messages travel at once.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.copying import copyto
from pykern.arrays.creation import empty, pinned
from pykern.data.records import record
from pykern.mpi.blocks import Block, Direction, Region
from pykern.mpi.transport import Message, Requests, Transport
from pykern.runtime.stream import synchronize


@record
class Part:
    """A region of an array, and the buffer that has its elements in a message."""

    array: Any
    region: Region
    buffer: Any

    @property
    def in_place(self) -> bool:
        """Whether the buffer is the region's own memory."""
        return isinstance(self.array, np.ndarray) and np.shares_memory(self.array, self.buffer)

    def pack(self) -> None:
        copyto(self.buffer, self.array[self.region])

    def unpack(self) -> None:
        copyto(self.array[self.region], self.buffer)

    def add(self) -> None:
        """Add what has come to what is there."""
        there = self.array[self.region]
        copyto(there, _host(there) + _host(self.buffer))


@record
class Parcel:
    """All that one neighbour is sent, or sends: one message."""

    direction: Direction
    message: Any
    parts: tuple[Part, ...]


class HaloExchange:
    """The exchange of some arrays, as often as it is wanted.

    `transposed`: the halos are sent to their owners, who add them, as the derivative of an exchange wants it.
    """

    def __init__(
        self,
        block: Block,
        transport: Transport,
        arrays: Sequence[Any],
        extras: Sequence[tuple[int, ...]],
        transposed: bool,
    ) -> None:
        self._transposed = transposed
        self.kept: Any = arrays
        """What stays as long as this does."""
        device = next((a.device_name for a in arrays if isinstance(a, Array)), None)
        self._waits_for = device if device is not None and transport.reaches(device) else None
        """The device in whose memory messages lie: MPI knows nothing of its streams."""
        make = functools.partial(_memory, device, self._waits_for is not None)
        sent = [_parcel(block, d, arrays, extras, make, owned=not transposed) for d in block.neighbours]
        received = [
            _parcel(block, d, arrays, extras, make, owned=transposed, apart=transposed)
            for d in block.neighbours
        ]
        sent, received = ([p for p in parcels if p.message.size] for parcels in (sent, received))
        here = transport.rank
        self._to_itself = [
            (one, other)
            for one, other in itertools.product(sent, received)
            if block.rank_of(one.direction) == here and other.direction == _opposite(one.direction)
        ]
        self._packed = [p for parcel in sent for p in parcel.parts if not p.in_place]
        self._unpacked = [p for parcel in received for p in parcel.parts if transposed or not p.in_place]
        self.requests: Requests = transport.requests(
            [m for p in sent if (m := _message(block, p, p.direction, here)) is not None],
            [m for p in received if (m := _message(block, p, _opposite(p.direction), here)) is not None],
        )
        self.bytes = sum(p.message.nbytes for p in sent)

    def start(self) -> None:
        """Pack, and begin to send and receive."""
        for part in self._packed:
            part.pack()
        if self._waits_for is not None:
            synchronize(self._waits_for)
        self.requests.start()
        for one, other in self._to_itself:
            other.message[:] = one.message

    def unpack(self) -> None:
        """What has come into the arrays."""
        for part in self._unpacked:
            if self._transposed:
                part.add()
            else:
                part.unpack()


def _parcel(
    block: Block,
    direction: Direction,
    arrays: Sequence[Any],
    extras: Sequence[tuple[int, ...]],
    make: Callable[[int], Any],
    owned: bool,
    apart: bool = False,
) -> Parcel:
    """The message of a direction: `owned` parts of the arrays, or their halos. It is the array's own memory where that
    lies together, unless what comes has to be `apart` from what is there."""
    regions = [block.region(direction, extra, owned) for extra in extras]
    shapes = [tuple(max(0, s.stop - s.start) for s in region) for region in regions]
    if len(arrays) == 1 and isinstance(arrays[0], np.ndarray) and not apart:
        whole = arrays[0][regions[0]]
        if whole.flags.c_contiguous and whole.size:
            return Parcel(direction, whole.reshape(-1).view(np.uint8), (Part(arrays[0], regions[0], whole),))
    begins, end = [], 0
    for shape, array in zip(shapes, arrays, strict=True):
        size = array.dtype.itemsize
        begins.append(-(-end // size) * size)
        end = begins[-1] + math.prod(shape) * size
    message = make(end)
    parts = zip(arrays, regions, shapes, begins, strict=True)
    return Parcel(
        direction, message, tuple(Part(a, r, _part(message, s, a.dtype, b)) for a, r, s, b in parts)
    )


def _part(message: Any, shape: tuple[int, ...], dtype: np.dtype, begin: int) -> Any:
    """Elements in a message, from a byte on."""
    if isinstance(message, Array):
        return Array(message._allocation, shape, dtype, offset=begin)
    return message[begin : begin + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


def _memory(device: str | None, there: bool, size: int) -> Any:
    """Bytes of the host, such that copies from the device are quick where there is one; or of the device."""
    if there:
        return empty(size, np.uint8, device=device)
    return np.empty(size, np.uint8) if device is None else pinned(size, np.uint8, device)


def _host(array: Any) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else array.numpy()


def _message(block: Block, parcel: Parcel, towards: Direction, here: int) -> Message | None:
    """The message of a parcel that travels `towards` a direction; None where it stays here."""
    peer = block.rank_of(parcel.direction)
    tag = sum((d + 1) * 3**n for n, d in enumerate(towards))
    return None if peer == here else Message(peer, tag, parcel.message)


def _opposite(direction: Direction) -> Direction:
    return tuple(-d for d in direction)
