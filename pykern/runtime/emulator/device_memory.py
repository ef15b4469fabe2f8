"""The memory of an emulated device: one piece of the host's, with a byte of state for each byte.

Comes in: sizes, and addresses that are given back. Goes out: addresses of the host. Allocations have `RED` bytes that
belong to nobody between them; what was freed is given out again when there is nothing else left.
"""

from __future__ import annotations

import numpy as np

from pykern.runtime.emulator.memory_checks import ALLOCATED, BEHIND, FREE, PADDING
from pykern.runtime.emulator.ptx import rounded_up

RED = 4096
"""Bytes between allocations, at least: an index that is a little too large is found there."""
ALIGNMENT = 256


class NoRoom(Exception):
    """The device's memory is used up."""


class DeviceMemory:
    """`nbytes` of memory; the system gives pages when they are first used."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self._bytes = np.zeros(nbytes + ALIGNMENT, np.uint8)
        self.address = rounded_up(self._bytes.ctypes.data, ALIGNMENT)
        self._states = np.zeros(nbytes + ALIGNMENT, np.uint8)
        self._end = RED
        self._sizes: dict[int, int] = {}
        self._freed: list[tuple[int, int]] = []

    @property
    def states(self) -> int:
        """The address of the states."""
        return self._states.ctypes.data

    @property
    def bytes(self) -> np.ndarray:
        """All of it, from `address` on."""
        begin = self.address - self._bytes.ctypes.data
        return self._bytes[begin : begin + self.nbytes]

    @property
    def state_bytes(self) -> np.ndarray:
        return self._states[: self.nbytes]

    def allocate(self, nbytes: int, state: int = ALLOCATED) -> int:
        """Raises `NoRoom`."""
        begin = self._begin(nbytes)
        self._sizes[begin] = nbytes
        self._states[begin : begin + nbytes] = state
        self._states[begin + nbytes : begin + rounded_up(nbytes, 16)] = BEHIND
        self._states[begin + nbytes : begin + rounded_up(nbytes, 4)] = PADDING
        return self.address + begin

    def _begin(self, nbytes: int) -> int:
        room = rounded_up(nbytes + RED, ALIGNMENT)
        if self._end + room <= self.nbytes:
            self._end += room
            return self._end - room
        for number, (begin, size) in enumerate(self._freed):
            if size >= room:
                self._freed[number] = begin + room, size - room
                return begin
        raise NoRoom

    def free(self, address: int) -> None:
        """Raises `KeyError` for what was not allocated."""
        begin = address - self.address
        nbytes = self._sizes.pop(begin)
        self._states[begin : begin + rounded_up(nbytes, 16)] = FREE
        self._freed.append((begin, rounded_up(nbytes + RED, ALIGNMENT)))

    def described(self, address: int) -> str:
        """Where an address lies, in words."""
        offset = address - self.address
        before = [begin for begin in self._sizes if begin <= offset]
        after = [begin for begin in self._sizes if begin > offset]
        behind = offset - max(before) - self._sizes[max(before)] if before else self.nbytes
        ahead = min(after) - offset if after else self.nbytes
        if behind < 0:
            return f"in an allocation of {self._sizes[max(before)]} bytes, at byte {offset - max(before)}"
        if before and behind <= ahead:
            return f"{behind} bytes behind the end of an allocation of {self._sizes[max(before)]} bytes"
        if after and offset >= 0:
            return f"{ahead} bytes before the begin of an allocation of {self._sizes[min(after)]} bytes"
        return "far from any allocation"
