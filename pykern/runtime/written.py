"""Tells the library that owns an array's memory that the memory was written, and finds arrays that write themselves.

Comes in: NumPy arrays that a kernel or a program writes. PyTorch counts the writes of each tensor, so that a gradient
that needs the values of before is refused rather than wrong: a view of a tensor's memory has the tensor as its base.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pykern.runtime.other_libraries import is_tensor

_EXACT = 1 << 22
"""Elements up to which it is counted how many places strides in an odd order name."""


class Borrowed:
    """Bytes of somebody else, of which NumPy makes an array whose base tells the owner."""

    def __init__(self, address: int, nbytes: int, owner: Any) -> None:
        self.owner = owner
        place = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}
        self.__array_interface__ = place


def note_write(array: Any) -> None:
    """Count a write of the tensor that `array` is, or is a view of, where it is one."""
    owner = owner_of(array)
    if owner is not None:
        sys.modules["torch"].autograd.graph.increment_version(owner)


def owner_of(array: Any) -> Any | None:
    """The tensor of PyTorch that `array` is, or is a view of; None for others."""
    owner = array
    while isinstance(owner, np.ndarray | Borrowed):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.owner
    return owner if is_tensor(owner) else None


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether several positions of an array share bytes: then the order of writes decides what is left."""
    extent = array.itemsize
    steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n != 1)
    if not array.size:
        return False
    for step, length in steps:
        if step < extent:
            return _shares(array)
        extent += step * (length - 1)
    return False


def _shares(array: np.ndarray) -> bool:
    if any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)) or array.size > _EXACT:
        return True
    places = np.zeros(1, np.int64)
    for step, length in zip(array.strides, array.shape, strict=True):
        places = np.add.outer(places, step * np.arange(length)).ravel()
    return bool((np.diff(np.sort(places)) < array.itemsize).any())
