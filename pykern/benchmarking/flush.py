"""Emptying caches between rounds: for times of data that comes from memory.

Comes in: the inputs of a benchmark. Goes out: a function that fills the caches of their device with something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pykern.environment.machine import cache_bytes

DEVICE_BYTES = 128 << 20
"""More than the last-level cache of any GPU there is."""


def flusher(values: Iterable[Any]) -> Callable[[], None]:
    """Writes twice the last-level cache, on the device of the first array that lives on one, else on the host."""
    for value in values:
        if getattr(value, "__pykern_array__", False) and value.device_name not in ("cpu", "python"):
            return _on_device(value.device_name)
        if getattr(value, "is_cuda", False):
            waste = value.new_empty(DEVICE_BYTES)
            return lambda: waste.fill_(0)
    waste = np.zeros(2 * cache_bytes() // 8)
    return lambda: _touch(waste)


def _touch(waste: np.ndarray) -> None:
    np.add(waste, 1.0, out=waste)


def _on_device(device: str) -> Callable[[], None]:
    from pykern.arrays.copying import copyto
    from pykern.arrays.creation import empty
    from pykern.runtime.stream import synchronize

    waste = empty(DEVICE_BYTES, np.uint8, device)

    def fill() -> None:
        copyto(waste, 0)
        synchronize(device)

    return fill
