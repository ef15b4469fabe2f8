"""Memory by address, every access checked: what a wrong pass must not reach, it does not reach.

Comes in: NumPy arrays of a call, and buffers that the interpreted code makes for itself. Goes out: `Memory`, which
loads and stores by address, and `View`, what a memref is.
"""

from __future__ import annotations

import bisect
import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FRESH = 0xA5
"""What new memory holds: a value read before it was written shows."""


class OutsideMemory(Exception):
    """An access outside of everything that the launch was given or made."""


@dataclass
class Memory:
    """Known stretches of memory, by the addresses they have in this process."""

    _starts: list[int] = field(default_factory=list)
    _bytes: list[np.ndarray] = field(default_factory=list)
    _typed: dict[tuple[int, Any], np.ndarray] = field(default_factory=dict)

    def know(self, stretch: np.ndarray) -> int:
        """Let bytes be accessed; gives their address."""
        address = stretch.__array_interface__["data"][0]
        at = bisect.bisect_left(self._starts, address)
        self._starts.insert(at, address)
        self._bytes.insert(at, stretch)
        return address

    def forget(self, address: int) -> None:
        """The buffer at `address` is gone."""
        at = bisect.bisect_left(self._starts, address)
        if at < len(self._starts) and self._starts[at] == address:
            del self._starts[at], self._bytes[at]
            self._typed = {key: view for key, view in self._typed.items() if key[0] != address}

    def make(self, size: int, align: int = 64) -> int:
        """New memory; gives its address, a multiple of `align`."""
        stretch = np.full(size + align, FRESH, np.uint8)
        skip = -stretch.__array_interface__["data"][0] % align
        return self.know(stretch[skip : skip + max(size, 1)])

    def load(self, address: int, dtype: Any) -> Any:
        """The number at `address`."""
        start, stretch = self._around(address, dtype.itemsize)
        place, rest = divmod(address - start, dtype.itemsize)
        if rest:
            return stretch[address - start : address - start + dtype.itemsize].copy().view(dtype)[0]
        return self._as(start, stretch, dtype)[place]

    def store(self, value: Any, address: int, dtype: Any) -> None:
        """Put a number at `address`."""
        start, stretch = self._around(address, dtype.itemsize)
        place, rest = divmod(address - start, dtype.itemsize)
        if rest:
            raw = np.array([value], dtype).view(np.uint8)
            stretch[address - start : address - start + dtype.itemsize] = raw
        else:
            self._as(start, stretch, dtype)[place] = value

    def load_many(self, address: int, dtype: Any, count: int) -> np.ndarray:
        """`count` numbers side by side."""
        start, stretch = self._around(address, dtype.itemsize * count)
        at = address - start
        return stretch[at : at + dtype.itemsize * count].copy().view(dtype)

    def store_many(self, values: np.ndarray, address: int, dtype: Any) -> None:
        """Numbers side by side."""
        raw = np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8)
        start, stretch = self._around(address, raw.size)
        stretch[address - start : address - start + raw.size] = raw

    def _around(self, address: int, size: int) -> tuple[int, np.ndarray]:
        at = bisect.bisect_right(self._starts, address) - 1
        if at >= 0:
            start, stretch = self._starts[at], self._bytes[at]
            if address + size <= start + stretch.size:
                return start, stretch
        raise OutsideMemory(f"{size} bytes at {address:#x}, which belongs to nothing the kernel was given")

    def _as(self, start: int, stretch: np.ndarray, dtype: Any) -> np.ndarray:
        key = start, dtype
        if key not in self._typed:
            whole = stretch[: stretch.size - stretch.size % dtype.itemsize]
            self._typed[key] = whole.view(dtype)
        return self._typed[key]


@dataclass(frozen=True)
class View:
    """A memref: address of its first element, lengths, strides in elements."""

    memory: Memory
    address: int
    dtype: np.dtype
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, *index: Any) -> int:
        """The address of an element."""
        steps = sum(int(i) * s for i, s in zip(index, self.strides, strict=True))
        return self.address + steps * self.dtype.itemsize

    def load(self, *index: Any) -> Any:
        return self.memory.load(self.at(*index), self.dtype)

    def store(self, value: Any, *index: Any) -> None:
        self.memory.store(value, self.at(*index), self.dtype)

    def change(self, function: Any, *index: Any) -> Any:
        """Replace an element by ``function(element)``; gives what was there."""
        address = self.at(*index)
        old = self.memory.load(address, self.dtype).copy()
        self.memory.store(function(old), address, self.dtype)
        return old

    def many(self, count: int, *index: Any) -> np.ndarray:
        """`count` elements along the last dimension."""
        if self.strides[-1] == 1:
            return self.memory.load_many(self.at(*index), self.dtype, count)
        return np.array([self.load(*index[:-1], int(index[-1]) + n) for n in range(count)], self.dtype)

    def put_many(self, values: np.ndarray, *index: Any) -> None:
        for n, value in enumerate(values):
            self.store(value, *index[:-1], int(index[-1]) + n)


def extent(array: np.ndarray) -> tuple[int, int]:
    """The first address of an array's memory, and the one behind its last."""
    first = array.__array_interface__["data"][0]
    if array.size == 0:
        return first, first
    reach = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    return first + low, first + high + array.itemsize


def bytes_at(address: int, count: int) -> np.ndarray:
    """The bytes of a piece of this process's memory, not copied."""
    if count == 0:
        return np.zeros(0, np.uint8)
    return np.frombuffer(memoryview((ctypes.c_uint8 * count).from_address(address)), np.uint8)
