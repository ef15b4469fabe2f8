"""Loops that go in steps of the launch, as kernels of CUDA C++ do: any number of work-items does all of the work."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pytest.fixture(params=["cpu", "python", "opencl", "cuda:emulated"])
def where(request, need_device):
    return need_device(request.param)


@pk.kernel
def by_range(y, x, n):
    for k in range(pk.index(), n, pk.ndrange()):
        y[k] = x[k] * x[k] + 1


@pk.kernel
def by_while(y, x, n):
    k = pk.index()
    while k < n:
        y[k] = x[k] * x[k] + 1
        k += pk.ndrange()


@pk.kernel(workgroup=64)
def by_groups(y, x, n):
    first, step = pk.group_index() * pk.group_size() + pk.local_index(), pk.num_groups() * pk.group_size()
    for k in range(first, n, step):
        y[k] = x[k] * x[k] + 1


@pk.kernel
def in_rows(y, x):
    i = pk.index(0)
    for j in range(pk.index(1), x.shape[1], pk.ndrange(1)):
        y[i, j] = x[i, j] * x[i, j] + 1


@pk.kernel
def squares_summed(out, x, n):
    total = 0.0
    for k in range(pk.index(), n, pk.ndrange()):
        total += x[k] * x[k]
    pk.atomic_add(out, 0, total)


@pk.kernel
def up_to_the_first(out, x, n):
    """A work-item ends early."""
    for k in range(pk.index(), n, pk.ndrange()):
        if x[k] > 1:
            break
        out[k] = 1


@pk.kernel
def back(y, x, n):
    """The last iteration that writes a cell counts: each work-item keeps its order."""
    for k in range(pk.index(), n, pk.ndrange()):
        y[k % pk.ndrange()] = x[k]


@pytest.mark.parametrize("kernel", [by_range, by_while, by_groups])
@pytest.mark.parametrize(("n", "items"), [(1000, 128), (1, 64), (0, 64), (1027, 2048), (500, 1)])
def test_elements(rng, where, kernel, n, items):
    x = rng.standard_normal(n)
    kernel(
        y := np.zeros(n),
        x,
        n,
        ndrange=items if kernel is not by_groups else -(-items // 64) * 64,
        device=where,
    )
    np.testing.assert_allclose(y, x * x + 1)


def test_rows(rng, where):
    x = rng.standard_normal((7, 301))
    in_rows(y := np.zeros((7, 301)), x, ndrange=(7, 32), device=where)
    np.testing.assert_allclose(y, x * x + 1)


@pytest.mark.parametrize("n", [0, 1, 127, 1000])
def test_sums_and_early_ends(rng, where, n):
    x = rng.standard_normal(n)
    squares_summed(total := np.zeros(1), x, n, ndrange=128, device=where)
    np.testing.assert_allclose(total[0], (x * x).sum())
    up_to_the_first(out := np.zeros(n), x, n, ndrange=128, device=where)
    expected = np.zeros(n)
    for first in range(min(n, 128)):
        for k in range(first, n, 128):
            if x[k] > 1:
                break
            expected[k] = 1
    np.testing.assert_array_equal(out, expected)


def test_the_order_of_a_work_item_stays(rng, where):
    x = rng.standard_normal(1000)
    back(y := np.zeros(128), x, 1000, ndrange=128, device=where)
    np.testing.assert_array_equal(y, [x[i::128][-1] for i in range(128)])


def test_gradients(rng):
    @pk.jit
    def loss(x):
        y = np.zeros(500)
        by_range(y, x, 500, ndrange=64)
        return (y * y).sum()

    x = rng.standard_normal(500)
    np.testing.assert_allclose(pk.grad(loss)(x), 4 * (x * x + 1) * x, rtol=1e-12)
