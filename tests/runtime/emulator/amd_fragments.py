"""Fragments of AMD's products of matrices, as the matrix instruction calculator prints them: where an element is.

Goes out: for each instruction the chips that have it, and functions that say in which register, from which bit on, and
in which lanes an element lies. Nothing is shared with the emulator, which goes from registers to elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Place = tuple[int, int, tuple[int, ...]]
"""Register, first bit, lanes."""


@dataclass(frozen=True)
class Fragments:
    chips: tuple[str, ...]
    side: int
    depth: int
    types: tuple[str, str]
    """Of the factors and of the result."""
    factor: Callable[[int, int], Place]
    """Of line (row of A or column of B) and k."""
    result: Callable[[int, int], Place]
    """Of row i and column j."""

    def held(self, matrix: np.ndarray, lanes: int, at: Callable[[int, int], Place]) -> np.ndarray:
        """Registers of all lanes, as words."""
        places = {(i, j): at(i, j) for i, j in np.ndindex(matrix.shape)}
        bits, count = matrix.itemsize * 8, 1 + max(register for register, _, _ in places.values())
        words = np.zeros((count + (bits == 64), lanes), np.uint64)
        for (i, j), (register, bit, where) in places.items():
            value = int(matrix[i, j].reshape(1).view(f"u{matrix.itemsize}")[0])
            for lane in where:
                for part in range(max(1, bits // 32)):
                    words[register + part, lane] |= np.uint64((value >> 32 * part & 0xFFFFFFFF) << bit)
        return words.astype(np.uint32)

    def gathered(self, words: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The result, of which each element is one lane's."""
        found = np.zeros((self.side, self.side), dtype)
        for i, j in np.ndindex(found.shape):
            register, _, (lane,) = self.result(i, j)
            parts = words[register : register + dtype.itemsize // 4, lane].copy()
            found[i, j] = parts.view(dtype)[0]
        return found


def _mfma(chips: str, side: int, depth: int, types: tuple[str, str], bits: int) -> Fragments:
    run = depth * side // 64  # terms that a lane holds, one after the other
    per = 32 // bits
    return Fragments(
        tuple(chips.split()), side, depth, types,
        lambda i, k: ((k // per) % (run // per), bits * (k % per), (side * (k // run) + i,)),
        (lambda i, j: (4 * (i // 8) + i % 4, 0, (32 * (i // 4 % 2) + j,)))
        if side == 32 else (lambda i, j: (i % 4, 0, (16 * (i // 4) + j,))),
    )  # fmt: skip


_FLOATS, _BYTES = ("f16", "bf16"), ("i8", "i32")
FRAGMENTS: dict[str, Fragments] = {
    "v_mfma_f32_16x16x16f16": _mfma("gfx90a", 16, 16, ("f16", "f32"), 16),
    "v_mfma_f32_16x16x16bf16_1k": _mfma("gfx90a", 16, 16, ("bf16", "f32"), 16),
    "v_mfma_f32_32x32x8f16": _mfma("gfx90a", 32, 8, ("f16", "f32"), 16),
    "v_mfma_i32_16x16x16i8": _mfma("gfx90a", 16, 16, _BYTES, 8),
    "v_mfma_f32_16x16x4f32": _mfma("gfx90a", 16, 4, ("f32", "f32"), 32),
    "v_mfma_f32_16x16x16_f16": _mfma("gfx942 gfx950", 16, 16, ("f16", "f32"), 16),
    "v_mfma_f32_16x16x16_bf16": _mfma("gfx942 gfx950", 16, 16, ("bf16", "f32"), 16),
    "v_mfma_f32_32x32x8_bf16": _mfma("gfx942 gfx950", 32, 8, ("bf16", "f32"), 16),
    "v_mfma_f32_16x16x4_f32": _mfma("gfx942 gfx950", 16, 4, ("f32", "f32"), 32),
    "v_mfma_f32_32x32x2_f32": _mfma("gfx942 gfx950", 32, 2, ("f32", "f32"), 32),
    "v_mfma_i32_16x16x32_i8": _mfma("gfx942 gfx950", 16, 32, _BYTES, 8),
    "v_mfma_i32_32x32x16_i8": _mfma("gfx942 gfx950", 32, 16, _BYTES, 8),
    "v_mfma_f32_16x16x32_f16": _mfma("gfx950", 16, 32, ("f16", "f32"), 16),
    "v_mfma_f32_32x32x16_bf16": _mfma("gfx950", 32, 16, ("bf16", "f32"), 16),
    "v_mfma_i32_16x16x64_i8": _mfma("gfx950", 16, 64, _BYTES, 8),
    "v_mfma_f64_16x16x4_f64": Fragments(
        ("gfx90a", "gfx942"), 16, 4, ("f64", "f64"),
        lambda i, k: (0, 0, (16 * k + i,)),
        lambda i, j: (2 * (i // 4), 0, (16 * (i % 4) + j,)),
    ),
    **{
        f"v_wmma_f32_16x16x16_{kind}": Fragments(
            ("gfx1100",), 16, 16, (kind, "f32"),
            lambda i, k: (k // 2, 16 * (k % 2), (i, i + 16)),
            lambda i, j: (i // 2, 0, (16 * i % 32 + j,)),
        )
        for kind in _FLOATS
    },
    "v_wmma_i32_16x16x16_iu8": Fragments(
        ("gfx1100",), 16, 16, _BYTES,
        lambda i, k: (k // 4, 8 * (k % 4), (i, i + 16)),
        lambda i, j: (i // 2, 0, (16 * i % 32 + j,)),
    ),
    **{
        f"v_wmma_f32_16x16x16_{kind} of gfx12": Fragments(
            ("gfx1201",), 16, 16, (kind, "f32"),
            lambda i, k: (2 * (k // 8) + k // 2 % 2, 16 * (k % 2), (16 * (k // 4 % 2) + i,)),
            lambda i, j: (i % 8, 0, (16 * (i // 8) + j,)),
        )
        for kind in _FLOATS
    },
    "v_wmma_i32_16x16x16_iu8 of gfx12": Fragments(
        ("gfx1201",), 16, 16, _BYTES,
        lambda i, k: (k // 4 % 2, 8 * (k % 4), (16 * (k // 8) + i,)),
        lambda i, j: (i % 8, 0, (16 * (i // 8) + j,)),
    ),
}  # fmt: skip
