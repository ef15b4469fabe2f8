"""The workloads as Numba users write them; imported only where Numba is installed."""

from __future__ import annotations

import numba
import numpy as np


def saxpy(z, x, y, a):
    for i in numba.prange(z.shape[0]):
        z[i] = a * x[i] + y[i]


def heat(new, old, c):
    for i in numba.prange(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = old[i, j] + c * (
                old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1] - np.float32(4) * old[i, j]
            )


def jitted(function, threads: int, fastmath: bool = False):
    """prange is an ordinary range where there is one thread."""
    numba.set_num_threads(threads)
    return numba.njit(function, parallel=threads > 1, fastmath=fastmath)
