"""The CPU against the reference device, bit by bit, with guard zones around every array that a kernel writes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import pykern as pk

ZONE = 64
"""Elements of a guard zone in front of an array and behind it."""


def bits(array: np.ndarray) -> np.ndarray:
    """The bytes of an array; every NaN is the same one."""
    whole = np.ascontiguousarray(array)
    if array.dtype.kind in "fV":
        whole = whole.copy()
        whole[np.isnan(whole.astype(np.float64))] = np.nan
    return whole.view(np.uint8)


class Guarded:
    """An array in the middle of memory that nobody may write; `step` leaves out elements of its last dimension."""

    def __init__(self, like: np.ndarray, step: int = 1) -> None:
        shape = (*like.shape[:-1], like.shape[-1] * step)
        self.memory = np.full(int(np.prod(shape)) + 2 * ZONE, 77, like.dtype)
        self.array = self.memory[ZONE : len(self.memory) - ZONE].reshape(shape)[..., ::step]
        self.array[...] = like

    def check(self) -> None:
        """Raises where anything but the array was written."""
        self.array[...] = 77
        np.testing.assert_array_equal(self.memory, np.full_like(self.memory, 77))


def assert_as_reference(
    kernel, outputs: Sequence[np.ndarray], inputs: Sequence, ndrange, step: int = 1
) -> list:
    """Run the kernel on the CPU and on the device `python`: outputs are the same bits, guard zones are as they were.
    Gives the outputs."""
    guarded, plain = [Guarded(out, step) for out in outputs], [out.copy() for out in outputs]
    kernel(*(g.array for g in guarded), *inputs, ndrange=ndrange)
    with pk.device("python"):
        kernel(*plain, *inputs, ndrange=ndrange)
    results = [g.array.copy() for g in guarded]
    for found, expected in zip(results, plain, strict=True):
        np.testing.assert_array_equal(bits(found), bits(expected))
    for one in guarded:
        one.check()
    return results
