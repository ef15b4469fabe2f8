"""Whole arrays on rank 0: gathered, scattered, and in files, a block at a time.

Comes in: the blocks of all ranks and a `Transport`. Goes out: arrays of the global shape, or each rank's part of
one. Rank 0 never holds more than the whole array and one block; for a file it holds one block alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pykern.errors import ARGUMENTS, LaunchError
from pykern.mpi.blocks import Block, Region
from pykern.mpi.transport import Message

GATHERED, SCATTERED, HEADER = 1000, 1001, 1002
"""Tags of these messages; those of halos are smaller."""
HEADER_BYTES = 256

Send = Callable[[Message], None]


class Whole:
    """Moves parts of global arrays between rank 0 and the others."""

    def __init__(
        self, rank: int, blocks: Sequence[Block], exchange: Callable[[list[Message], list[Message]], None]
    ) -> None:
        self._rank = rank
        self._blocks = blocks
        self._exchange = exchange

    def shape(self, extra: Sequence[int]) -> tuple[int, ...]:
        """Of a global array: a periodic axis has no end, so nothing is added there."""
        spans = self._blocks[0].spans
        return tuple(s.length + (0 if s.periodic else e) for s, e in zip(spans, extra, strict=True))

    def gather(self, owned: np.ndarray, extra: Sequence[int], into: Callable[[], Any]) -> Any:
        """The parts that ranks own in an array that rank 0 makes with `into`; None elsewhere."""
        if self._rank != 0:
            self._exchange([Message(0, GATHERED, _bytes(owned))], [])
            return None
        whole = into()
        for rank, block in enumerate(self._blocks):
            region = block.owned_globally(extra)
            whole[region] = owned if rank == 0 else self._received(rank, region, owned.dtype)
        return whole

    def _received(self, rank: int, region: Region, dtype: np.dtype) -> np.ndarray:
        part = np.empty(tuple(s.stop - s.start for s in region), dtype)
        self._exchange([], [Message(rank, GATHERED, _bytes(part))])
        return part

    def scatter(self, whole: Any, given: tuple[int, ...] | None) -> tuple[np.ndarray, tuple[int, ...]]:
        """This rank's part of rank 0's array, with its halo, and how much longer than the grid the array is: as
        `given`, or as its lengths tell."""
        dtype, shape = self._described(whole)
        lengths = [span.length for span in self._blocks[0].spans]
        if dtype.hasobject or len(shape) != len(lengths):
            said = "no numbers" if dtype.hasobject else f"an array of shape {shape}"
            raise LaunchError(
                f"rank 0 scatters {said}, and the grid has the shape {tuple(lengths)}",
                hint="give the global array on rank 0; what the other ranks give is not looked at",
                code=ARGUMENTS,
            )
        told = tuple(n - length for n, length in zip(shape, lengths, strict=True))
        extra = told if given is None else given
        if self.shape(extra) != shape or min(extra) < -1:
            raise LaunchError(
                f"a global array of shape {shape} is none of this grid, which has the shape {tuple(lengths)}",
                hint="scatter an array of the grid's shape, longer by extra= along an axis that has an end",
                code=ARGUMENTS,
            )
        if self._rank == 0:
            for rank, block in enumerate(self._blocks[1:], 1):
                part = np.array(_held(whole, block, extra), order="C")
                self._exchange([Message(rank, SCATTERED, _bytes(part))], [])
            return np.array(_held(whole, self._blocks[0], extra)), extra
        held = self._blocks[self._rank].held_globally(extra)
        part = np.empty(tuple(map(len, held)), dtype)
        self._exchange([], [Message(0, SCATTERED, _bytes(part))])
        return part, extra

    def _described(self, whole: Any) -> tuple[np.dtype, tuple[int, ...]]:
        """The type and the shape of rank 0's array, on all ranks."""
        header = np.full(HEADER_BYTES, ord(" "), np.uint8)
        if self._rank != 0:
            self._exchange([], [Message(0, HEADER, header)])
            name, *lengths = header.tobytes().decode().split()
            return np.dtype(name), tuple(map(int, lengths))
        dtype = np.dtype(object) if whole.dtype.kind in "SU" else whole.dtype
        text = " ".join([dtype.name, *map(str, whole.shape)]).encode()
        header[: len(text)] = list(text)
        for rank in range(1, len(self._blocks)):
            self._exchange([Message(rank, HEADER, header)], [])
        return dtype, whole.shape

    def save(self, path: str, owned: np.ndarray, extra: Sequence[int]) -> None:
        """The global array as a file of NumPy's, which is there when it is complete."""
        partial = f"{path}.part"

        def opened() -> np.memmap:
            return np.lib.format.open_memmap(partial, "w+", owned.dtype, self.shape(extra))

        whole = self.gather(owned, extra, opened)
        if whole is not None:
            whole.flush()
            os.replace(partial, path)


def _held(whole: Any, block: Block, extra: Sequence[int]) -> np.ndarray:
    """What a rank's array holds of a global one; beyond the end of a periodic axis stands its beginning."""
    spans = zip(block.held_globally(extra), block.spans, whole.shape, strict=True)
    indices = [[i % (s.length if s.periodic else n) for i in held] for held, s, n in spans]
    if all(i == list(range(i[0], i[-1] + 1)) for i in indices):
        return np.asarray(whole[tuple(slice(i[0], i[-1] + 1) for i in indices)])
    return np.asarray(whole[np.ix_(*indices)])


def _bytes(array: np.ndarray) -> np.ndarray:
    """The memory of an array, in order; a copy where it does not lie so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
