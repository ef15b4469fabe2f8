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


@pk.kernel
def sized_at_launch(y, x):
    """One array, also where it is asked for in a loop; the tape grows beside it."""
    i, lane = pk.index(), pk.local_index(0)
    s = 0.0
    for turn in range(3):
        t = pk.shared(None, pk.f64)
        if turn == 0:
            t[lane] = x[i] * x[i]
        pk.barrier()
        s += t[len(t) - 1 - lane] * x[i]
        pk.barrier()
        t[lane] *= s
        pk.barrier()
    y[i] = s


@pk.kernel
def kept_in_a_loop(y, x):
    """Private and shared memory in a loop keep what they hold, and so do their shadows."""
    i, lane = pk.index(), pk.local_index(0)
    s = 0.0
    for turn in range(3):
        p, t = pk.private(2, pk.f64), pk.shared(16, pk.f64)
        if turn == 0:
            p[0] = x[i] * 3.0
            t[lane] = x[i] * x[i]
        pk.barrier()
        s += x[i] * p[0] + pk.sin(t[15 - lane])
    y[i] = s


def test_shared_memory_sized_at_launch():
    args = (np.zeros(32), random.random(32))
    pk.check_grads(sized_at_launch, args, ndrange=32, workgroup=16, shared_bytes=128)


def test_memory_asked_for_in_a_loop():
    pk.check_grads(kept_in_a_loop, (np.zeros(32), random.random(32)), ndrange=32, workgroup=16)


@pk.kernel
def reduction(y, x, z, kind: pk.static):
    i = pk.index()
    y[i] = pk.subgroup_reduce(x[i] * z[i], kind) * z[i] + pk.group_reduce(x[i] + z[i], kind)


@pk.kernel
def scan(y, x, z, kind: pk.static):
    i = pk.index()
    s = pk.subgroup_scan(x[i] * z[i], kind)
    e = pk.subgroup_scan(x[i] + z[i], kind, exclusive=True)
    y[i] = s * z[i] + (e if pk.lane_index() > 0 else 0.0)


@pk.kernel
def shuffles(y, x, z):
    i, lane = pk.index(), pk.lane_index()
    a = pk.subgroup_shuffle(x[i] * z[i], lane ^ 1)
    b = pk.subgroup_shuffle(x[i], lane // 4 * 4)
    y[i] = a * z[i] + b * b + pk.subgroup_broadcast(z[i], 5)


@pk.kernel
def butterfly(y, x, z):
    """A sum over the subgroup by shuffles, in a loop that reads again what it made."""
    i, lane = pk.index(), pk.lane_index()
    s, step = x[i], 1
    while step < pk.subgroup_size():
        s = s * z[i] + pk.subgroup_shuffle(s, lane ^ step)
        step *= 2
    y[i] = s


ITEMS = [(64, 32), (50, 16), (40, 64)]
"""Work-items and groups: whole subgroups; groups smaller than one, the last in part; a subgroup in part."""


# Every kind in whole subgroups; sums, and products, which need the others' values, in all groups.
KINDS = [(*ITEMS[0], kind) for kind in ("min", "max")] + [
    (*g, kind) for g in ITEMS for kind in ("add", "mul")
]


@pytest.mark.parametrize("kernel", [reduction, scan])
@pytest.mark.parametrize(("n", "group", "kind"), KINDS)
def test_collectives(kernel, kind, n, group):
    x, z = random.random(n) + 0.4, random.random(n) + 0.4
    pk.check_grads(kernel, (np.zeros(n), x, z, kind), ndrange=n, workgroup=group)


@pytest.mark.parametrize("kernel", [reduction, scan])
@pytest.mark.parametrize("zeros", [[3], [0, 7], [15, 31]])
def test_products_with_zeros(kernel, zeros):
    """The product of the others is the derivative, also by a factor that is zero."""
    x, z = random.random(32) + 0.6, random.random(32) + 0.6
    x[zeros] = 0.0
    pk.check_grads(kernel, (np.zeros(32), x, z, "mul"), ndrange=32, workgroup=16)


@pytest.mark.parametrize(("n", "group"), [(64, 32), (64, 64)])
def test_shuffles(n, group):
    args = (np.zeros(n), random.random(n), random.random(n))
    pk.check_grads(shuffles, args, ndrange=n, workgroup=group)
    pk.check_grads(butterfly, args, ndrange=n, workgroup=group, rtol=1e-5)


@pk.kernel
def greatest_so_far(y, x):
    i = pk.index()
    y[i] = pk.subgroup_scan(x[i], "max")


def test_a_tie_in_a_scan_is_shared():
    x, dx, dy = np.array([1.0, 3.0, 2.0, 3.0, 5.0]), np.zeros(5), np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    pk.autodiff(greatest_so_far)(pk.Dup(np.zeros(5), dy.copy()), pk.Dup(x, dx), ndrange=5, workgroup=8)
    np.testing.assert_allclose(dx, [1, 2 + 4 + 8 / 2, 0, 8 / 2, 16])
    tangent, out = np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.zeros(5)
    forward = pk.autodiff(greatest_so_far, mode="forward")
    forward(pk.Dup(np.zeros(5), out), pk.Dup(x, tangent), ndrange=5, workgroup=8)
    np.testing.assert_allclose(out, [1, 2, 2, (2 + 8) / 2, 16])


def test_a_shuffle_from_where_nobody_is():
    """A lane that is not there gives a work-item its own value."""
    x, dx = random.random(5), np.zeros(5)
    pk.autodiff(from_ahead)(pk.Dup(np.zeros(5), np.ones(5)), pk.Dup(x, dx), ndrange=5, workgroup=5)
    np.testing.assert_array_equal(dx, [0, 0, 1, 2, 2])


@pk.kernel
def from_ahead(y, x):
    y[pk.index()] = pk.subgroup_shuffle(x[pk.index()], min(pk.lane_index() + 2, 7))
