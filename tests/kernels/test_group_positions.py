"""The position of a work-item as CUDA C++ computes it: the group's number times its size, plus that in the group."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

TILE = 8


@pytest.fixture(params=["cpu", "python", "opencl", "vulkan", "cuda:emulated"])
def where(request, need_device):
    """Each kind of code: loops, plain Python, SPIR-V, PTX."""
    return need_device(request.param)


@pk.kernel(workgroup=(16, 8))
def product(c, a, b):
    x, y = pk.local_index()
    i, j = pk.group_index(0) * 16 + x, pk.group_index(1) * pk.group_size(1) + y
    if i < c.shape[0] and j < c.shape[1]:
        total = c.dtype(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@pk.kernel
def positions(out):
    """The size of a group is the launch's."""
    i = pk.local_index() + pk.group_size() * pk.group_index()
    out[i] = 1000 * i + pk.index()


@pk.kernel(workgroup=16)
def from_elsewhere(out):
    """Of a launch that begins elsewhere the position counts from its beginning."""
    place = pk.group_index() * 16 + pk.local_index()
    out[pk.index()] = place


@pk.kernel(workgroup=(TILE, TILE))
def tiled(c, a, b):
    x, y = pk.local_index()
    i, j = pk.group_index(0) * TILE + x, pk.group_index(1) * TILE + y
    left, right = pk.shared((TILE, TILE), pk.f32), pk.shared((TILE, TILE), pk.f32)
    total = pk.f32(0)
    for start in range(0, a.shape[1], TILE):
        left[x, y] = a[i, start + y]
        right[x, y] = b[start + x, j]
        pk.barrier()
        for k in range(TILE):
            total += left[x, k] * right[k, y]
        pk.barrier()
    c[i, j] = total


@pytest.mark.parametrize("shape", [(33, 41, 17), (16, 8, 5), (1, 1, 1), (7, 0, 3)])
def test_a_product(rng, where, shape):
    m, n, terms = shape
    a, b = (
        rng.standard_normal((m, terms)).astype(np.float32),
        rng.standard_normal((terms, n)).astype(np.float32),
    )
    product(c := np.zeros((m, n), np.float32), a, b, ndrange=(-(-m // 16) * 16, -(-n // 8) * 8), device=where)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("group", [None, 16, 64])
def test_positions(where, group):
    n = 129
    positions(out := np.zeros(n, np.int32), ndrange=n, workgroup=group, device=where)
    np.testing.assert_array_equal(out, 1001 * np.arange(n))


def test_a_launch_that_begins_elsewhere(where):
    from_elsewhere(out := np.full(200, -1, np.int32), ndrange=range(40, 140, 2), device=where)
    expected = np.full(200, -1, np.int32)
    expected[40:140:2] = np.arange(50)
    np.testing.assert_array_equal(out, expected)


def test_shared_memory(rng, where):
    a, b = rng.standard_normal((24, 16)).astype(np.float32), rng.standard_normal((16, 32)).astype(np.float32)
    tiled(c := np.zeros((24, 32), np.float32), a, b, ndrange=(24, 32), device=where)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_a_large_product_runs_in_tiles(rng, monkeypatch):
    from pykern.program import product as product_launch

    found = []
    a, b = rng.standard_normal((130, 200)), rng.standard_normal((200, 120))
    for limit in (1e30, 1e-9):
        monkeypatch.setattr(product_launch, "MANY_PRODUCTS", limit)
        monkeypatch.setattr(product_launch, "LONG_LOOPS", limit)
        product(c := np.zeros((130, 120)), a, b, ndrange=(144, 120))
        found.append(c)
    assert product.launcher.cache.products._plans
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], a @ b, atol=1e-12)
