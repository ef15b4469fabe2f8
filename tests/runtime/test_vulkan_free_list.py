"""The arithmetic of free memory, against a map of every byte."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.runtime.drivers.vulkan.free_list import FreeList


def test_against_a_map_of_bytes(rng):
    size = 500
    free, taken = np.ones(size, bool), []
    parts = FreeList(size)
    refused = 0
    for _ in range(3000):
        if taken and rng.random() < 0.45:
            offset, length = taken.pop(rng.integers(len(taken)))
            parts.give(offset, length)
            assert not free[offset : offset + length].any()
            free[offset : offset + length] = True
        else:
            length = int(rng.integers(1, 60))
            offset = parts.take(length)
            if offset is None:
                refused += 1
            else:
                assert free[offset : offset + length].all(), "somebody has it already"
                free[offset : offset + length] = False
                taken.append((offset, length))
        edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(int)))
        runs = edges[1::2] - edges[::2]
        assert parts.free == free.sum()
        assert parts.largest == max(runs, default=0), "neighbours that are free are one part"
        if offset is None:
            assert length > parts.largest
    assert refused
    for offset, length in taken:
        parts.give(offset, length)
    assert parts.whole and parts.largest == size


@pytest.mark.parametrize(("wanted", "expected"), [(10, 60), (20, 20), (40, None), (5, 60)])
def test_the_part_that_fits_best(wanted, expected):
    parts = FreeList(100)
    offsets = [parts.take(length) for length in (20, 30, 10, 10, 30)]
    assert offsets == [0, 20, 50, 60, 70]
    parts.give(20, 30)
    parts.give(60, 10)
    assert parts.take(wanted) == expected
