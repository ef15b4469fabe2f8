"""Fragments of matrices as the PTX ISA tells them, shape by shape, in its own words: "row = groupID for ai where ...".

Comes in: a matrix, and the name of a shape. Goes out: what each lane holds, and back. Nothing is shared with the
emulator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

At = Callable[[int, int, int], tuple[int, int]]
"""groupID (lane >> 2), threadID_in_group (lane % 4) and i of an element: its row and column."""

A: dict[str, tuple[int, At]] = {
    "m16n8k16.16": (8, lambda g, t, i: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (8 if i >= 4 else 0))),
    "m16n8k8.16": (4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))),
    "m16n8k4.32": (2, lambda g, t, i: (g if i == 0 else g + 8, t)),
    "m16n8k8.32": (4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4)),
    "m8n8k4.64": (1, lambda g, t, i: (g, t)),
    "m16n8k4.64": (2, lambda g, t, i: (g if i == 0 else g + 8, t)),
    "m16n8k8.64": (4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4)),
    "m16n8k16.64": (8, lambda g, t, i: (g if i % 2 == 0 else g + 8, i * 2 + t if i % 2 == 0 else i * 2 - 2 + t)),
    "m8n8k16.8": (4, lambda g, t, i: (g, t * 4 + i)),
    "m16n8k16.8": (8, lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3))),
    "m16n8k32.8": (16, lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (16 if i >= 8 else 0))),
}  # fmt: skip
"""Shape and bits of an element -> elements of A that a lane holds, and where they are."""

B: dict[str, tuple[int, At]] = {
    "m16n8k16.16": (4, lambda g, t, i: (t * 2 + (i & 1) + (8 if i >= 2 else 0), g)),
    "m16n8k8.16": (2, lambda g, t, i: (t * 2 + i, g)),
    "m16n8k4.32": (1, lambda g, t, i: (t, g)),
    "m16n8k8.32": (2, lambda g, t, i: (t if i == 0 else t + 4, g)),
    "m8n8k4.64": (1, lambda g, t, i: (t, g)),
    "m16n8k4.64": (1, lambda g, t, i: (t, g)),
    "m16n8k8.64": (2, lambda g, t, i: (t if i == 0 else t + 4, g)),
    "m16n8k16.64": (4, lambda g, t, i: (t + i * 4, g)),
    "m8n8k16.8": (4, lambda g, t, i: (t * 4 + i, g)),
    "m16n8k16.8": (4, lambda g, t, i: (t * 4 + i, g)),
    "m16n8k32.8": (8, lambda g, t, i: (t * 4 + (i & 3) + (16 if i >= 4 else 0), g)),
}
"""The same of B."""


def result_at(rows: int) -> tuple[int, At]:
    """Of C and D."""
    if rows == 8:
        return 2, lambda g, t, i: (g, t * 2 + i)
    return 4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))


def spread(matrix: np.ndarray, fragment: tuple[int, At]) -> np.ndarray:
    """What the lanes hold of a matrix: shape (32, elements of a lane)."""
    count, at = fragment
    places = np.array([[at(lane >> 2, lane % 4, i) for i in range(count)] for lane in range(32)])
    return matrix[places[..., 0], places[..., 1]]


def gathered(held: np.ndarray, fragment: tuple[int, At], shape: tuple[int, int]) -> np.ndarray:
    """The matrix of which each lane holds a row of `held`; what no lane holds is the largest number of the type."""
    count, at = fragment
    whole = np.zeros(shape, held.dtype)
    seen = np.zeros(shape, np.int64)
    for lane in range(32):
        for i in range(count):
            place = at(lane >> 2, lane % 4, i)
            whole[place] = held[lane, i]
            seen[place] += 1
    assert (seen == 1).all(), "each element of the result is one lane's"
    return whole
