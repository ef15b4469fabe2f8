"""Divisions by powers of two against NumPy, which rounds as Python: every type, the ends of each, negative numbers."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")


@pk.kernel
def by_powers(out, x):
    i = pk.index()
    v = x[i]
    out[0, i], out[1, i], out[2, i] = v // 1, v // 2, v // 64
    out[3, i], out[4, i], out[5, i] = v % 1, v % 2, v % 64
    out[6, i], out[7, i] = v // 6, v % 6


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_every_type(dtype):
    ends = np.iinfo(dtype)
    values = [ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, 2, 63, 64, 65]
    if dtype in SIGNED:
        values += [-1, -2, -63, -64, -65]
    drawn = np.random.default_rng(1).integers(ends.min, ends.max, 60, dtype, endpoint=True)
    x = np.concatenate([np.array(values, dtype), drawn])
    out = np.zeros((8, len(x)), dtype)
    by_powers(out, x, ndrange=len(x))
    rows = [*(x // np.array(d, dtype) for d in (1, 2, 64)), *(x % np.array(d, dtype) for d in (1, 2, 64))]
    rows += [x // np.array(6, dtype), x % np.array(6, dtype)]
    np.testing.assert_array_equal(out, np.stack(rows))


def test_no_division_by_two_is_left():
    x = np.zeros(9, np.int64)
    stages = by_powers.lower(np.zeros((8, 9), np.int64), x, ndrange=9).stages
    text = next(s.text for s in stages if s.name == "kern-shift-divisions")
    assert text.count("arith.floordivsi") == 1
    assert text.count("arith.shrsi") == 2
    assert text.count("arith.andi %") >= 2


@pk.kernel
def halves(steps, n):
    i = pk.index()
    v, count = i - n, 0
    while v != 0 and v != -1:
        v = v // 2 if v % 2 == 0 else (v - 1) // 2
        count += 1
    steps[i] = count


def test_weak_integers():
    steps = np.zeros(77, np.int32)
    halves(steps, 40, ndrange=77)
    v = np.arange(77) - 40
    np.testing.assert_array_equal(steps, [(x if x >= 0 else ~x).bit_length() for x in v.tolist()])
