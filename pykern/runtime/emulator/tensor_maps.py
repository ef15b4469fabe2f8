"""Tensor maps: what a driver encodes in 128 bytes for copies of boxes, and which bytes of memory a box has.

Comes in: the arguments of `cuTensorMapEncodeTiled`. Goes out: `TensorMap`. The bytes are the emulator's own, as the
hardware's are not told. Not emulated: interleaved tensors, steps between elements, NaN in place of what is outside, and
rows of a box that are shorter than its swizzle.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

NBYTES, ALIGNMENT = 128, 64
SIZES = {
    "UINT8": 1, "UINT16": 2, "UINT32": 4, "INT32": 4, "UINT64": 8, "INT64": 8, "FLOAT16": 2, "FLOAT32": 4,
    "FLOAT64": 8, "BFLOAT16": 2, "TFLOAT32": 4,
}  # fmt: skip
"""Bytes of an element, by what CUDA calls the type."""
SWIZZLES = {"NONE": 0, "32B": 32, "64B": 64, "128B": 128}
_MAGIC = 0x70616D2E72736E74
_FORM = struct.Struct("<QQBBH5I4Q5H")
MOST_BOX, MOST_STRIDE, MOST_LENGTH = 256, 1 << 40, 1 << 32
CHUNK = 16
"""Bytes that stay together."""


class NoMap(Exception):
    """Bytes that are no tensor map, or arguments that make none."""


@dataclass(frozen=True)
class TensorMap:
    """Dimensions and the box begin with the fastest one; `strides`, in bytes, are those of the others."""

    address: int
    size: int
    swizzle: int
    lengths: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]

    def check(self) -> None:
        """Raises `NoMap` where the driver gives CUDA_ERROR_INVALID_VALUE."""
        rank, row = len(self.lengths), self.box[0] * self.size
        fits = (
            1 <= rank <= 5
            and len(self.box) == rank
            and len(self.strides) == rank - 1
            and self.address % CHUNK == 0
            and all(1 <= n <= MOST_LENGTH for n in self.lengths)
            and all(n % CHUNK == 0 and 0 < n < MOST_STRIDE for n in self.strides)
            and all(1 <= n <= MOST_BOX for n in self.box)
            and row % CHUNK == 0
            and (self.swizzle == 0 or row <= self.swizzle)
        )
        if not fits:
            raise NoMap

    def encoded(self) -> bytes:
        lengths = [n - 1 for n in self.lengths] + [0] * (5 - len(self.lengths))
        strides, box = (
            [*self.strides] + [0] * (4 - len(self.strides)),
            [*self.box] + [0] * (5 - len(self.box)),
        )
        head = _MAGIC, self.address, len(self.lengths), self.size, self.swizzle
        return _FORM.pack(*head, *lengths, *strides, *box).ljust(NBYTES, b"\0")

    @classmethod
    def decoded(cls, data: bytes) -> TensorMap:
        magic, address, rank, size, swizzle, *rest = _FORM.unpack_from(data)
        if magic != _MAGIC:
            raise NoMap
        lengths, strides, box = rest[:rank], rest[5 : 4 + rank], rest[9 : 9 + rank]
        return cls(address, size, swizzle, tuple(n + 1 for n in lengths), tuple(strides), tuple(box))

    @property
    def nbytes(self) -> int:
        """Of a box."""
        return int(np.prod(self.box)) * self.size

    def inside(self, corner: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of the box at `corner` that are in the tensor: their numbers in the box, their addresses."""
        axes = [np.arange(n) for n in reversed(self.box)]
        grid = np.meshgrid(*axes, indexing="ij", sparse=True)
        steps = (self.size, *self.strides)
        address, known = np.int64(self.address), np.bool_(True)
        for axis, (begin, step, length) in enumerate(zip(corner, steps, self.lengths, strict=True)):
            at = grid[len(grid) - 1 - axis] + begin
            address = address + at * step
            known = known & (at >= 0) & (at < length)
        shape = tuple(reversed(self.box))
        first = np.broadcast_to(address, shape)[np.broadcast_to(known, shape)]
        numbers = np.flatnonzero(np.broadcast_to(known, shape)) * self.size
        piece = np.arange(self.size)
        return (numbers[:, None] + piece).ravel(), (first[:, None] + piece).ravel()

    def places(self, begin: int) -> np.ndarray:
        """Where the chunks of a box lie in shared memory, as bytes, in the box's order."""
        plain = begin + CHUNK * np.arange(self.nbytes // CHUNK)
        return swizzled(plain, self.swizzle)


def swizzled(places: np.ndarray, width: int) -> np.ndarray:
    """Chunks of rows of `width` bytes, permuted by the number of the 128 bytes that they lie in."""
    bits = {0: 0, 32: 1, 64: 2, 128: 3}[width]
    return places ^ ((places >> 7 & ((1 << bits) - 1)) << 4)
