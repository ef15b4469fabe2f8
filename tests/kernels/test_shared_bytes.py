"""Shared memory sized at launch: ``pk.shared(None, dtype)`` and ``shared_bytes=``, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelSyntaxError, LaunchError, OutOfBounds


@pk.kernel
def group_sums(out, x):
    """A tree over the group; the array has a cell for each work-item."""
    cells = pk.shared(None, pk.f64)
    i, k = pk.index(), pk.local_index()
    cells[k] = x[i]
    pk.barrier()
    half = len(cells) // 2
    while half > 0:
        if k < half:
            cells[k] += cells[k + half]
        pk.barrier()
        half //= 2
    if k == 0:
        out[pk.group_index()] = cells[0]


@pytest.mark.parametrize("size", [16, 64])
def test_a_reduction_of_each_group(size, device, rng):
    x = rng.random(512)
    out = np.zeros(512 // size)
    group_sums(out, x, ndrange=512, workgroup=size, shared_bytes=8 * size, device=device)
    assert np.allclose(out, x.reshape(-1, size).sum(axis=1), rtol=1e-14)


@pk.kernel(workgroup=32)
def reversed_parts(y, x):
    part = pk.shared(-1, pk.i16)
    i, k = pk.index(), pk.local_index()
    n = part.shape[0]
    if k < n:
        part[k] = x[i]
    pk.barrier()
    y[i] = part[n - 1 - k] if k < n else pk.i16(n)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64])
def test_as_many_elements_as_fit(size, device, rng):
    x = rng.integers(-(2**15), 2**15, 96, dtype=np.int16)
    y = np.zeros_like(x)
    reversed_parts(y, x, ndrange=96, shared_bytes=size, device=device)
    n = size // 2
    expected = np.full((3, 32), n, np.int16)
    expected[:, :n] = x.reshape(3, 32)[:, :n][:, ::-1]
    assert np.array_equal(y, expected.ravel())


def test_many_sizes_are_one_compilation(rng):
    @pk.kernel(workgroup=32)
    def copied(y, x):
        cells = pk.shared((None,), pk.f32)
        k = pk.local_index()
        if k < len(cells):
            cells[k] = x[pk.index()]
            y[pk.index()] = cells[k]

    x = rng.random(64, dtype=np.float32)
    for count in (0, 5, 31, 32, 40_000):
        y = np.zeros_like(x)
        copied(y, x, ndrange=64, shared_bytes=np.int64(4 * count))
        kept = np.arange(64) % 32 < count
        assert np.array_equal(y, np.where(kept, x, 0))
    assert len(copied.launcher.cache.variants) == 1


@pk.func
def exchanged(value, k):
    cells = pk.shared(None, pk.f32)
    cells[k] = value
    pk.barrier()
    return cells[k ^ 1]


def test_in_a_function_and_beside_static_memory(device, rng):
    @pk.kernel(workgroup=(4, 8))
    def swapped(y, x):
        own = pk.shared((4, 8), pk.f32)
        i, j = pk.index()
        k = pk.local_index(0) * 8 + pk.local_index(1)
        own[pk.local_index()] = x[i, j]
        y[i, j] = exchanged(own[pk.local_index()], k)

    x = rng.random((8, 16), dtype=np.float32)
    y = np.zeros_like(x)
    swapped(y, x, ndrange=(8, 16), shared_bytes=4 * 32, device=device)
    assert np.array_equal(y, x.reshape(8, 8, 2)[:, :, ::-1].reshape(8, 16))


def test_in_a_loop_it_is_one_array(device):
    @pk.kernel(workgroup=8)
    def counted(y):
        for turn in range(3):
            cells = pk.shared(None, pk.i32)
            k = pk.local_index()
            if turn == 0:
                cells[k] = 0
            cells[k] += k
            y[pk.index()] = cells[k]

    y = np.zeros(8, np.int32)
    counted(y, ndrange=8, shared_bytes=32, device=device)
    assert np.array_equal(y, 3 * np.arange(8))


def test_bounds_in_debug(device):
    @pk.kernel(debug=True, workgroup=8)
    def beyond(y, at):
        cells = pk.shared(None, pk.f32)
        cells[at] = 1.0
        y[0] = cells[at]

    y = np.zeros(1, np.float32)
    beyond(y, 4, ndrange=1, shared_bytes=20, device=device)
    with pytest.raises(OutOfBounds, match=r"index 5 .*shared memory.*shape is 5"):
        beyond(y, 5, ndrange=1, shared_bytes=23, device=device)


# -- refused ------------------------------------------------------------------------------------


def test_a_launch_without_shared_bytes(device):
    out = np.zeros(4)
    with pytest.raises(LaunchError, match="launched without shared_bytes") as error:
        group_sums(out, np.zeros(64), ndrange=64, workgroup=16, device=device)
    assert error.value.span is not None and "pk.shared(None, pk.f64)" in str(error.value)
    group_sums(out, np.ones(64), ndrange=64, workgroup=16, shared_bytes=128, device=device)
    assert np.array_equal(out, np.full(4, 16.0))


@pk.kernel(workgroup=8)
def nothing_to_size(y):
    y[pk.index()] = 1.0


@pk.kernel(workgroup=8)
def static_only(y):
    cells = pk.shared(8, pk.f32)
    cells[pk.local_index()] = 1.0
    y[pk.index()] = cells[pk.local_index()]


@pytest.mark.parametrize("kernel", [nothing_to_size, static_only])
def test_shared_bytes_that_nobody_takes(kernel, device):
    with pytest.raises(LaunchError, match="has no shared array to size by it"):
        kernel(np.zeros(8, np.float32), ndrange=8, shared_bytes=32, device=device)
    y = np.zeros(8, np.float32)
    kernel(y, ndrange=8, device=device)
    assert y.all()


def test_two_arrays_are_refused_at_the_second(device):
    @pk.kernel(workgroup=8)
    def two(y):
        a = pk.shared(None, pk.f32)
        b = pk.shared(None, pk.i32)
        a[0] = 1.0
        b[0] = 1
        y[0] = a[0] + b[0]

    with pytest.raises(KernelSyntaxError, match="one shared array that is sized at launch") as error:
        two(np.zeros(1), ndrange=8, shared_bytes=32, device=device)
    assert "pk.i32" in str(error.value)


@pytest.mark.parametrize("given", [-1, 2**31, 1.5, True, "64"])
def test_what_is_no_number_of_bytes(given, device):
    with pytest.raises(LaunchError, match="shared_bytes"):
        group_sums(np.zeros(1), np.zeros(16), ndrange=16, shared_bytes=given, device=device)


def test_lower_shows_the_argument():
    lowered = group_sums.lower(np.zeros(4), np.zeros(64), ndrange=64, workgroup=16, shared_bytes=128)
    assert '"kern.dynamic_shared"(%arg2)' in lowered.as_text("kern")
    assert "kern.dynamic_shared" not in lowered.as_text("kern-expand-ndrange")
    with pytest.raises(LaunchError):
        group_sums.lower(np.zeros(4), np.zeros(64), ndrange=64)
