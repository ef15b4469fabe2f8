"""Arrays whose elements are not aligned: programs copy them, from the first call on, and write back updates."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


def behind_a_byte(n: int) -> np.ndarray:
    array = np.zeros(8 * n + 1, np.uint8)[1:].view(np.float64)
    array[...] = np.arange(n)
    return array


def in_records(n: int) -> np.ndarray:
    array = np.zeros(n, np.dtype([("tag", np.uint8), ("y", np.float64)]))["y"]
    array[...] = np.arange(n)
    return array


@pytest.mark.parametrize("made", [behind_a_byte, in_records])
@pytest.mark.parametrize("calls_before", [0, 3])
def test_read_and_updated(made, calls_before):
    @pk.jit
    def add(a):
        a[1:] = a[1:] + 1
        return a * 2

    for _ in range(calls_before):
        add(np.arange(11.0))
    odd = made(11)
    assert not odd.flags.aligned or odd.strides[0] % 8
    expected = np.array(odd)
    for _ in range(3):
        expected[1:] += 1
        np.testing.assert_array_equal(add(odd), expected * 2)
        np.testing.assert_array_equal(odd, expected)
