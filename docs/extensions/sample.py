"""The kernel whose stages the documentation shows."""

from __future__ import annotations

import pykern as pk


@pk.kernel
def heat(new, old, c, dt):
    i, j = pk.index()
    rows, columns = old.shape
    if 0 < i < rows - 1 and 0 < j < columns - 1:
        around = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
        new[i, j] = old[i, j] + dt * c[i, j] * (around - 4 * old[i, j])
