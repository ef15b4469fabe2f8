"""Rows of fast kernels: loops that are unrolled, whose rests have any length, maxima with NaN, subnormals."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

GROUP = 32


@pk.kernel(workgroup=GROUP, fastmath=True)
def row_facts(largest, total, power, x):
    row, here = pk.group_index(), pk.local_index()
    most, added, powers = pk.f32(-np.inf), pk.f32(0), pk.f32(0)
    for k in range(here, x.shape[1], GROUP):
        most = max(most, x[row, k])
    for k in range(here, x.shape[1], GROUP):
        added += x[row, k]
    for k in range(x.shape[1] - 1 - here, -1, -GROUP):
        powers += pk.exp(-abs(x[row, k]))
    most, added, powers = pk.group_reduce(most, "max"), pk.group_reduce(added), pk.group_reduce(powers)
    if here == 0:
        largest[row], total[row], power[row] = most, added, powers


@pytest.mark.parametrize("columns", [0, 1, 31, 33, 500, 1029])
def test_rows_of_any_length(device, columns, rng):
    x = rng.standard_normal((3, columns)).astype(np.float32)
    if columns > 40:
        x[1, 37] = np.nan
    there = pk.array(x, device=device)
    found = [pk.zeros(3, pk.f32, device=device) for _ in range(3)]
    row_facts(*found, there, ndrange=3 * GROUP)
    wide = x.astype(np.float64)
    expected = [wide.max(axis=1, initial=-np.inf), wide.sum(axis=1), np.exp(-np.abs(wide)).sum(axis=1)]
    for have, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(have.numpy(), want, rtol=2e-5, atol=1e-4)


@pk.kernel(fastmath=True)
def scaled(y, x, a):
    i = pk.index()
    y[i] = x[i] * a


def test_subnormals_are_themselves_or_zero(device):
    x = np.array([1e-38, -2e-38, 3.0, 0.0], np.float32)
    y = pk.zeros(4, pk.f32, device=device)
    scaled(y, pk.array(x, device=device), np.float32(0.25), ndrange=4)
    found, exact = y.numpy(), x * np.float32(0.25)
    assert found[2] == 0.75
    assert all(have in (0, want) for have, want in zip(found, exact, strict=True))
