"""Atomics by which all work-items change the same cell: lanes join their values first (`kern-aggregate-atomics`)."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

over_devices = pytest.mark.parametrize(
    "device", ["cuda:emulated", "rocm:emulated", "rocm:emulated:gfx1100", "cuda:emulated:75"]
)
GROUPS = {"rows": (4, 64), "half rows": (8, 16), "rows of 24": (4, 24), "columns": (64, 1), "few": (2, 4)}


@pk.kernel
def extremes_and_sums(sums, counts, x, n):
    i = pk.index()
    pk.atomic_add(sums, 0, x[i])
    pk.atomic_max(sums, 1, x[i])
    pk.atomic_min(sums, 2, x[i])
    pk.atomic_sub(sums, 3, x[i])
    pk.atomic_add(counts, 0, n[i])
    pk.atomic_max(counts, 1, n[i])
    pk.atomic_min(counts, 2, n[i])
    pk.atomic_or_(counts, 3, n[i])
    pk.atomic_and_(counts, 4, n[i])
    pk.atomic_xor(counts, 5, n[i])


@over_devices
@pytest.mark.parametrize("length", [1, 31, 300])
@pytest.mark.parametrize(("real", "whole"), [(np.float32, np.int32), (np.float64, np.uint64)])
def test_every_kind(real, whole, length, device, rng):
    x = rng.standard_normal(length).astype(real)
    n = rng.integers(0, 1 << 30, length).astype(whole)
    sums, counts = (np.array([1, -9, 9, 2], real), np.array([3, 0, 1 << 20, 1, 7, 5], whole))
    there = [pk.array(each, device=device) for each in (sums, counts, x, n)]
    extremes_and_sums(*there, ndrange=length)
    want = np.array([1 + x.sum(), max(-9, x.max()), min(9, x.min()), 2 - x.sum()])
    np.testing.assert_allclose(there[0].numpy(), want, rtol=1e-5, atol=1e-5)
    integers = [n.sum() + whole(3), n.max(), min(whole(1 << 20), n.min())]
    integers += [np.bitwise_or.reduce(n) | whole(1), np.bitwise_and.reduce(n) & whole(7)]
    integers += [np.bitwise_xor.reduce(n) ^ whole(5)]
    np.testing.assert_array_equal(there[1].numpy(), np.array(integers).astype(whole))


@over_devices
@pytest.mark.parametrize("group", GROUPS)
def test_partial_groups(group, device, rng):
    """Where the launch ends within rows of a group, and below a branch that work-items leave by."""

    @pk.kernel(workgroup=GROUPS[group])
    def total(t, x):
        i, j = pk.index()
        pk.atomic_add(t, 0, x[i, j])
        if x[i, j] > 0:
            x[i, j] *= 2
            pk.atomic_add(t, 1, x[i, j])

    x = rng.standard_normal((7, 69)).astype(np.float32)
    there = [pk.array(each, device=device) for each in (np.zeros(2, np.float32), x)]
    total(*there, ndrange=x.shape)
    np.testing.assert_allclose(there[0].numpy(), [x.sum(), 2 * x[x > 0].sum()], rtol=1e-4, atol=1e-4)


@over_devices
def test_after_an_early_return_and_in_shared_memory(device, rng):
    @pk.kernel(workgroup=96)
    def sums(t, x):
        i = pk.index()
        held = pk.shared(1, pk.f32)
        if pk.local_index() == 0:
            held[0] = 0
        pk.barrier()
        pk.atomic_add(held, 0, x[i])
        pk.barrier()
        t[2 + pk.group_index()] = held[0]
        if x[i] < 0:
            return
        pk.atomic_add(t, 0, x[i])

    x = rng.standard_normal(500).astype(np.float32)
    there = [pk.array(each, device=device) for each in (np.zeros(8, np.float32), x)]
    sums(*there, ndrange=x.size)
    groups = [x[k : k + 96].sum() for k in range(0, 500, 96)]
    np.testing.assert_allclose(there[0].numpy(), [x[x > 0].sum(), 0, *groups], rtol=1e-4, atol=1e-4)
