"""The two limits of a machine, measured: how fast memory is copied, how fast floats are computed.

Comes in: a device, a dtype. Goes out: `Limits`, reached by two kernels of pykern's in the same run as what is compared
with them. The copy moves arrays of several times the last-level cache, at most a sixteenth of the memory each; the
other keeps its numbers in registers. Data that stays in a cache may go beyond the copy's rate.
"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass

import numpy as np

import pykern as pk
from pykern.benchmarking.clock import clock_for
from pykern.environment.machine import cache_bytes, memory_bytes

STEPS = 512
CHAINS = 3
"""Independent sums of a work-item: with lanes of vectors enough to hide the latency of a multiply-add."""


@dataclass(frozen=True)
class Limits:
    """`gb_per_s`: bytes read and written by a copy; `gflop_per_s`: a multiply-add counts two."""

    gb_per_s: float
    gflop_per_s: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


@pk.kernel
def copy(to, source):
    i = pk.index()
    to[i] = source[i]


@pk.kernel
def multiply_add(x, factor, steps):
    i = pk.index()
    a = x[i]
    b = a + factor
    c = b + factor
    for _ in range(steps):
        a = a * factor + factor
        b = b * factor + factor
        c = c * factor + factor
    x[i] = a + b + c


@functools.cache
def measured(device: str = "cpu", dtype: str = "float32", repeat: int = 7) -> Limits:
    """The limits of a device for one type of float, with the threads that are set now."""
    n = min(4 * max(cache_bytes(), 16 << 20), memory_bytes() // 16) // 4
    source, to = (_array(np.ones(n, np.float32), device) for _ in range(2))
    moved = 2 * n * 4
    copying = _least(lambda: copy(to, source, ndrange=n), source, repeat)
    items = 1 << 15
    x = _array(np.ones(items, dtype), device)
    factor = np.dtype(dtype).type(0.5)
    computing = _least(lambda: multiply_add(x, factor, STEPS, ndrange=items), x, repeat)
    flops = items * STEPS * CHAINS * 2
    return Limits(moved / copying / 1e9, flops / computing / 1e9)


def _array(values: np.ndarray, device: str):
    return values if device == "cpu" else pk.array(values, device=device)


def _least(function, array, repeat: int) -> float:
    """Seconds of the quickest call: a limit is what can be had."""
    clock = clock_for([array])
    for _ in range(2):
        clock.time(function, 1)
    return min(clock.time(function, 1) for _ in range(repeat))
