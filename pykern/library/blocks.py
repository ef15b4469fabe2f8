"""Parts of an axis that are computed a block of rows at a time, where only a call knows where a part begins and ends.

Comes in: where a part lies, and the length of a block. Goes out: how many blocks it has, and where each lies. All
blocks have one length: the last one of the array is moved back into it, and counts only the rows that are its own.
"""

from __future__ import annotations

from typing import Any

import pykern as pk


def block(low: Any, end: Any, size: int, length: int) -> Any:
    """Where the block of `size` rows from `low` on begins, its rows, and which of them are its own, before `end`."""
    start = pk.minimum(low, length - size)
    rows = start + pk.arange(size)
    return start, rows, (rows >= low) & (rows < end)


def count(low: Any, end: Any, size: int) -> Any:
    """The number of blocks from `low` to `end`."""
    return (pk.maximum(end - low, 0) + size - 1) // size
