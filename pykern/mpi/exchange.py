"""Halos that are filled from the neighbours: what is packed, sent, received and unpacked for arrays of one kind.

Comes in: a `Block` and the arrays. Goes out: a `HaloExchange`, which is kept, with its buffers and persistent
requests, as long as arrays at these addresses are exchanged. All fields of a call share one message to each
neighbour; corners go to the neighbours at corners, so all messages travel at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.copying import copyto
from pykern.arrays.creation import pinned
from pykern.data.records import record
from pykern.mpi.blocks import Block, Direction, Region
from pykern.mpi.transport import Message, Requests, Transport


@record
class Part:
    """A region of an array, and the buffer that has its elements in a message."""

    array: Any
    region: Region
    buffer: np.ndarray

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
        host = there if isinstance(there, np.ndarray) else there.numpy()
        copyto(there, host + self.buffer)


@record
class Parcel:
    """All that one neighbour is sent, or sends: one message."""

    direction: Direction
    message: np.ndarray
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
        sent = [_parcel(block, d, arrays, extras, owned=not transposed) for d in block.neighbours]
        received = [
            _parcel(block, d, arrays, extras, owned=transposed, apart=transposed) for d in block.neighbours
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
    sizes = [math.prod(shape) * array.dtype.itemsize for shape, array in zip(shapes, arrays, strict=True)]
    message = _memory(arrays, sum(sizes))
    parts, begin = [], 0
    for array, region, shape, size in zip(arrays, regions, shapes, sizes, strict=True):
        buffer = message[begin : begin + size].view(array.dtype).reshape(shape)
        parts.append(Part(array, region, buffer))
        begin += size
    return Parcel(direction, message, tuple(parts))


def _memory(arrays: Sequence[Any], size: int) -> np.ndarray:
    """Bytes of the host; such that copies from the device are quick where there is one."""
    device = next((a.device_name for a in arrays if isinstance(a, Array)), None)
    return np.empty(size, np.uint8) if device is None else pinned(size, np.uint8, device)


def _message(block: Block, parcel: Parcel, towards: Direction, here: int) -> Message | None:
    """The message of a parcel that travels `towards` a direction; None where it stays here."""
    peer = block.rank_of(parcel.direction)
    tag = sum((d + 1) * 3**n for n, d in enumerate(towards))
    return None if peer == here else Message(peer, tag, parcel.message)


def _opposite(direction: Direction) -> Direction:
    return tuple(-d for d in direction)
