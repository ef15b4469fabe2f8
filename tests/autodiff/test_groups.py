"""Kernels with shared memory, barriers and collectives, differentiated."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

random = np.random.default_rng(11)


@pk.kernel
def tree_dot(out, x, y):
    i, lane, g = pk.index(), pk.local_index(0), pk.group_index(0)
    t = pk.shared(16, pk.f64)
    t[lane] = x[i] * y[i]
    pk.barrier()
    k = 8
    while k > 0:
        if lane < k:
            t[lane] += t[lane + k]
        pk.barrier()
        k //= 2
    if lane == 0:
        out[g] = t[0] * t[0]


@pk.kernel
def neighbours(out, x, y):
    """Each work-item reads what others of its group wrote, twice."""
    i, lane = pk.index(), pk.local_index(0)
    t = pk.shared(16, pk.f64)
    t[lane] = pk.sin(x[i])
    pk.barrier()
    for step in range(3):
        v = t[lane] * y[i] + t[(lane + step) % 16]
        pk.barrier()
        t[lane] = pk.tanh(v)
        pk.barrier()
    out[i] = t[15 - lane] * x[i]


@pk.kernel
def tiled_product(z, x, y):
    i, j = pk.index()
    li, lj = pk.local_index()
    a, b = pk.shared((4, 4), pk.f64), pk.shared((4, 4), pk.f64)
    s = 0.0
    for k in range(0, x.shape[1], 4):
        a[li, lj] = x[i, k + lj]
        b[li, lj] = y[k + li, j]
        pk.barrier()
        for q in range(4):
            s += a[li, q] * b[q, lj]
        pk.barrier()
    z[i, j] = s


@pk.kernel
def group_sums(out, x, y):
    i, lane, g = pk.index(), pk.local_index(0), pk.group_index(0)
    s = pk.group_reduce(x[i] * y[i], "add")
    if lane == 3:
        out[g] = s * s


@pk.kernel
def group_maxima(out, x, y):
    i, lane, g = pk.index(), pk.local_index(0), pk.group_index(0)
    s = pk.group_reduce(x[i] * y[i], "max")
    if lane == 0:
        out[g] = pk.exp(s)


@pk.kernel
def scans(out, x, y):
    i = pk.index()
    s = pk.subgroup_scan(x[i] * y[i], "add")
    e = pk.subgroup_scan(pk.sin(x[i]), "add", exclusive=True)
    m = pk.subgroup_reduce(x[i] + y[i], "min")
    out[i] = s * s + e * y[i] + m * pk.subgroup_broadcast(y[i], 2)


@pytest.mark.parametrize("kernel", [tree_dot, group_sums, group_maxima])
def test_one_result_a_group(kernel):
    args = (np.zeros(3), random.random(48), random.random(48))
    pk.check_grads(kernel, args, ndrange=48, workgroup=16)


def test_barriers_in_a_loop():
    args = (np.zeros(32), random.random(32), random.random(32))
    pk.check_grads(neighbours, args, ndrange=32, workgroup=16)


def test_tiled_matrix_product():
    x, y = random.random((8, 12)), random.random((12, 8))
    dx, dy, dz = np.zeros_like(x), np.zeros_like(y), random.random((8, 8))
    seed = dz.copy()
    pk.autodiff(tiled_product)(
        pk.Dup(np.zeros((8, 8)), dz), pk.Dup(x, dx), pk.Dup(y, dy), ndrange=(8, 8), workgroup=(4, 4)
    )
    np.testing.assert_allclose(dx, seed @ y.T, rtol=1e-13)
    np.testing.assert_allclose(dy, x.T @ seed, rtol=1e-13)
    assert not dz.any()


def test_scans_and_broadcast():
    args = (np.zeros(64), random.random(64), random.random(64))
    pk.check_grads(scans, args, ndrange=64, workgroup=32)


def test_a_tie_is_shared():
    x, dx, do = np.ones(16), np.zeros(16), np.ones(1)
    x[[2, 5]] = 3.0
    pk.autodiff(group_maxima)(pk.Dup(np.zeros(1), do), pk.Dup(x, dx), np.ones(16), ndrange=16, workgroup=16)
    expected = np.zeros(16)
    expected[[2, 5]] = 0.5 * np.exp(3.0)
    np.testing.assert_allclose(dx, expected)
