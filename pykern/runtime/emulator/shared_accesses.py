"""Asynchronous accesses to a block's shared memory, in chunks of 16 bytes, and what is checked of them.

Comes in: places of chunks. Goes out: their bytes. Raises `Wrong` for what is outside, was not written, is still read
by products in flight, was written by a thread without the fence that such accesses need, or races.
"""

from __future__ import annotations

import ctypes

import numpy as np

from pykern.runtime.emulator.copy_waits import CELL_OF
from pykern.runtime.emulator.faults import BOUNDS, MISALIGNED, RACE, UNFENCED, UNWAITED, UNWRITTEN
from pykern.runtime.emulator.memory_checks import BEHIND_SHARED, HELD, IN_FLIGHT, UNTOUCHED, WRITTEN
from pykern.runtime.emulator.races import ASYNC, FENCES_AT, MANY
from pykern.runtime.emulator.slots import SLOTS
from pykern.runtime.emulator.tensor_maps import CHUNK

_BEGIN = 128
"""Boxes begin at multiples of so many bytes."""


class Wrong(Exception):
    """A fault: its kind, where, and the other thread of a race."""

    def __init__(self, kind: int, address: int, other: int = 0) -> None:
        super().__init__(kind, address, other)
        self.kind, self.address, self.other = kind, address, other


class LaunchWords:
    """The words of a launch by their names."""

    def __init__(self, words: np.ndarray) -> None:
        self._words = words

    def __getitem__(self, name: str) -> int:
        return int(self._words[SLOTS[name]])

    def __setitem__(self, name: str, value: int) -> None:
        self._words[SLOTS[name]] = value

    def fault(self, kind: int, address: int, site: int, other: int) -> None:
        """Keep what is wrong; nothing was before."""
        for name, value in (("fault", kind), ("fault_address", address), ("fault_site", site)):
            self[name] = value
        self["fault_other"] = other
        for name in ("thread", "block"):
            self[f"fault_{name}"] = self[name]


class SharedAccesses:
    """The memory at the addresses that the words of a launch have."""

    def __init__(self, words: LaunchWords) -> None:
        self.words = words
        count = words["shared_bytes"] // CHUNK
        self._data = _view(words["shared"], np.uint8, count * CHUNK).reshape(count, CHUNK)
        self._states = _view(words["shared_state"], np.uint8, count * CHUNK).reshape(count, CHUNK)
        self._cells = _view(words["shared_cells"], np.uint64, 2 * count * CHUNK).reshape(count, CHUNK, 2)
        self._fences = _view(words["fences"], np.int32, words["threads"])
        self._held = np.zeros(count, np.int32)
        cells = count * CHUNK // CELL_OF
        self._copies = _view(words["copy_cells"], np.uint64, cells).reshape(count, CHUNK // CELL_OF)
        self._counts = _view(words["wait_counts"], np.uint32, 2 * (words["threads"] + cells // 2)).reshape(
            -1, 2
        )

    def begin_block(self) -> None:
        self._held[:] = 0

    def word(self, place: int) -> int:
        return ctypes.c_uint64.from_address(self.words["shared"] + place).value

    def set_word(self, place: int, value: int) -> None:
        ctypes.c_uint64.from_address(self.words["shared"] + place).value = value

    def check_begin(self, place: int, swizzle: int) -> None:
        """Raises `Wrong` where a box must not begin."""
        if place % max(_BEGIN, 8 * swizzle):
            raise Wrong(MISALIGNED, place)

    def hold(self, places: np.ndarray, by: int) -> None:
        """Chunks that are read by products in flight, so many times."""
        chunks = np.unique(places // CHUNK)
        self._held[chunks] += by
        free = self._held[chunks] == 0
        self._states[chunks[free]] &= 255 ^ HELD
        self._states[chunks[~free]] |= HELD

    def end_phase(self, place: int) -> None:
        """Of the mbarrier at a place: see `copy_waits`."""
        self._counts[self.words["threads"] + place // 8, 0] += 1

    def read(self, places: np.ndarray) -> np.ndarray:
        """The chunks at these places."""
        chunks = self._checked(places)
        states = self._states[chunks]
        self._refuse((states & WRITTEN) != WRITTEN, UNWRITTEN, places)
        self._refuse(self._in_flight(chunks), UNWAITED, places)
        written = self._cells[chunks][..., 0]
        self._refuse(written >> np.uint64(32) == self.words["epoch"], RACE, places, written)
        self._check_fences(written, places)
        self._cells[chunks.ravel(), :, 1] = self.words["epoch"] << 32 | MANY << 1
        return self._data[chunks]

    def write(self, places: np.ndarray, data: np.ndarray, thread: int, barrier: int, phase: int) -> None:
        """Chunks of a copy that a thread has asked for, and that a phase of an mbarrier counts."""
        chunks = self._checked(places)
        cells = self._cells[chunks]
        self._refuse(self._held[chunks][..., None] > 0, RACE, places, cells[..., 1])
        for number in (0, 1):
            now = cells[..., number] >> np.uint64(32) == self.words["epoch"]
            self._refuse(now, RACE, places, cells[..., number])
        self._check_fences(cells[..., 0], places)
        self._data[chunks] = data.reshape(-1, CHUNK)
        self._states[chunks] = WRITTEN | IN_FLIGHT
        waiter = self.words["threads"] + barrier // 8 + 1
        self._copies[chunks] = waiter << 32 | phase
        self._cells[chunks, :, 0] = self.words["epoch"] << 32 | ASYNC << FENCES_AT | thread + 1 << 1

    def _checked(self, places: np.ndarray) -> np.ndarray:
        """Numbers of chunks; all of them are there."""
        if (places % CHUNK).any():
            raise Wrong(MISALIGNED, int(places[places % CHUNK != 0][0]))
        chunks = places // CHUNK
        inside = (chunks >= 0) & (chunks < len(self._data))
        if not inside.all():
            raise Wrong(BOUNDS, int(places[~inside][0]))
        there = (self._states[chunks] & BEHIND_SHARED | (WRITTEN ^ UNTOUCHED)) == WRITTEN
        self._refuse(~there, BOUNDS, places)
        return chunks

    def phase(self, place: int) -> int:
        """Phases of the mbarrier at a place that have ended."""
        return int(self._counts[self.words["threads"] + place // 8, 0])

    def _in_flight(self, chunks: np.ndarray) -> np.ndarray:
        """Which bytes a copy has written that was not waited for."""
        flagged = self._states[chunks] & IN_FLIGHT != 0
        if not flagged.any():
            return flagged
        cells = np.repeat(self._copies[chunks], CELL_OF, axis=-1)
        waiters = np.where(flagged, (cells >> np.uint64(32)).astype(np.int64) - 1, 0)
        return flagged & (self._counts[waiters, 1] <= (cells & np.uint64(2**32 - 1)))

    def _check_fences(self, written: np.ndarray, places: np.ndarray) -> None:
        """Writes of threads count from their next fence for asynchronous operations on."""
        thread = (written >> np.uint64(1) & np.uint64(MANY)).astype(np.int64) - 1
        fences = (written >> np.uint64(FENCES_AT) & np.uint64(ASYNC)).astype(np.int64)
        own = (thread >= 0) & (fences != ASYNC)
        if own.any():
            now = self._fences[np.where(own, thread, 0)]
            self._refuse(own & (now == fences), UNFENCED, places)

    def _refuse(
        self, wrong: np.ndarray, kind: int, places: np.ndarray, words: np.ndarray | None = None
    ) -> None:
        if not wrong.any():
            return
        at = tuple(np.argwhere(wrong)[0])
        chunk = at[: places.ndim]
        byte = int(places[chunk]) + (int(at[-1]) if wrong.shape[-1] == CHUNK else 0)
        other = 0
        if words is not None:
            word = words[at] if wrong.shape == words.shape else words[chunk][0]
            other = int(word) >> 1 & MANY
        raise Wrong(kind, byte, other)


def _view(address: int, dtype: type, count: int) -> np.ndarray:
    kind = np.dtype(dtype)
    buffer = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(address)
    return np.ctypeslib.as_array(buffer).view(kind)
