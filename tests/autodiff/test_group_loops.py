"""Barriers in loops that a whole group runs alike: sorting networks, scans, tree reductions, in reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pykern as pk

over_devices = pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)
G = 16


@pk.kernel(workgroup=16)
def bitonic(out, x):
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    s[lane] = x[i]
    pk.barrier()
    k = 2
    while k <= 16:
        j = k // 2
        while j > 0:
            p = lane ^ j
            if p > lane:
                a, b = s[lane], s[p]
                if (a > b) == ((lane & k) == 0):
                    s[lane] = b
                    s[p] = a
            pk.barrier()
            j = j // 2
        k = k * 2
    out[i] = s[lane]


@pk.kernel(workgroup=16)
def tree_sum(out, x):
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    s[lane] = x[i] * x[i]
    pk.barrier()
    step = 8
    while step > 0:
        if lane < step:
            s[lane] += s[lane + step]
        pk.barrier()
        step //= 2
    if lane == 0:
        out[pk.group_index()] = pk.sin(s[0])


@pk.kernel(workgroup=16)
def hillis_steele(out, x):
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    s[lane] = x[i]
    pk.barrier()
    step = 1
    while step < 16:
        t = s[lane]
        if lane >= step:
            t = t * s[lane - step]
        pk.barrier()
        s[lane] = t
        pk.barrier()
        step *= 2
    out[i] = s[lane]


@pk.kernel(workgroup=16)
def blelloch(out, x):
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    s[lane] = x[i]
    d = 1
    while d < 16:
        pk.barrier()
        q = (lane + 1) * d * 2 - 1
        if q < 16:
            s[q] += s[q - d]
        d *= 2
    pk.barrier()
    if lane == 15:
        s[lane] = 0.0
    while d > 1:
        d //= 2
        pk.barrier()
        q = (lane + 1) * d * 2 - 1
        if q < 16:
            t = s[q - d]
            s[q - d] = s[q]
            s[q] += t
    pk.barrier()
    out[i] = s[lane] * s[lane]


@pk.kernel(workgroup=16)
def strided(out, x, n):
    """Each group sums a row of n, in strides of its size."""
    s = pk.shared((16,), pk.f64)
    lane, g = pk.local_index(), pk.group_index()
    t = 0.0
    j = lane
    while j < n:
        t += pk.exp(x[g, j])
        j += 16
    s[lane] = t
    pk.barrier()
    step = 8
    while step > 0:
        if lane < step:
            s[lane] = s[lane] + s[lane + step]
        pk.barrier()
        step //= 2
    if lane == 0:
        out[g] = pk.log(s[0])


@pk.kernel(workgroup=16)
def until_small(out, x, tolerance):
    """A condition that only the run tells: relaxation until the whole group has settled."""
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    s[lane] = x[i]
    left = 1.0
    while left > tolerance:
        pk.barrier()
        m = 0.5 * (s[lane] + s[(lane + 1) % 16])
        pk.barrier()
        s[lane] = m * pk.cos(m)
        left = pk.group_reduce(pk.abs(pk.stop_gradient(m)), "max")
    out[i] = s[lane]


@pk.kernel(workgroup=16)
def odd_even(out, x, rounds):
    """Nested loops of both kinds, with a uniform exit."""
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    s[lane] = x[i]
    pk.barrier()
    for r in range(rounds):
        if r == 12:
            break
        side = 0
        while side < 2:
            if lane % 2 == side and lane < 15:
                a, b = s[lane], s[lane + 1]
                s[lane] = pk.minimum(a, b)
                s[lane + 1] = pk.maximum(a, b)
            pk.barrier()
            side += 1
    out[i] = s[lane]


def rows(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, G)


def sorted_gradient(x: np.ndarray, d: np.ndarray) -> np.ndarray:
    found = np.zeros_like(x)
    np.put_along_axis(rows(found), np.argsort(rows(x), axis=1), rows(d), axis=1)
    return found


def put(a: Any, device: str) -> Any:
    return a if device == "cpu" or not isinstance(a, np.ndarray) else pk.asarray(a, device=device)


def gradient(
    kernel: Any, shape: tuple, x: np.ndarray, d: np.ndarray, device: str, *more: Any, **launch: Any
) -> Any:
    out = np.zeros(shape)
    given = [put(a.copy(), device) for a in (out, d, x, np.zeros_like(x))]
    pk.autodiff(kernel)(pk.Dup(given[0], given[1]), pk.Dup(given[2], given[3]), *more, **launch)
    found = given[3] if device == "cpu" else given[3].numpy()
    assert not np.asarray(given[1] if device == "cpu" else given[1].numpy()).any(), (
        "what is overwritten comes out as zero"
    )
    return found


@over_devices
@pytest.mark.parametrize("kernel", [bitonic, odd_even])
def test_sorting(device: str, kernel: Any) -> None:
    rng = np.random.default_rng(0)
    x, d = rng.random(3 * G), rng.random(3 * G)
    more = (8,) if kernel is odd_even else ()
    found = gradient(kernel, x.shape, x, d, device, *more, ndrange=3 * G)
    np.testing.assert_array_equal(found, sorted_gradient(x, d))


@over_devices
def test_tree_sum(device: str) -> None:
    rng = np.random.default_rng(1)
    x, d = rng.random(4 * G), rng.random(4)
    found = gradient(tree_sum, (4,), x, d, device, ndrange=4 * G)
    wanted = 2 * rows(x) * (d * np.cos((rows(x) ** 2).sum(1)))[:, None]
    np.testing.assert_allclose(found, wanted.ravel(), rtol=1e-12)


@over_devices
def test_products_by_hillis_and_steele(device: str) -> None:
    rng = np.random.default_rng(2)
    x, d = rng.random(2 * G) + 0.5, rng.random(2 * G)
    x[5] = 0.0  # a zero among the factors
    found = gradient(hillis_steele, x.shape, x, d, device, ndrange=2 * G)
    wanted = np.zeros((2, G))
    for row, (y, e) in enumerate(zip(rows(x), rows(d), strict=True)):
        for j in range(G):
            for k in range(j, G):
                wanted[row, j] += e[k] * np.prod(np.delete(y[: k + 1], j))
    np.testing.assert_allclose(found, wanted.ravel(), rtol=1e-11, atol=1e-14)


@over_devices
def test_sums_by_blelloch(device: str) -> None:
    rng = np.random.default_rng(3)
    x, d = rng.random(2 * G), rng.random(2 * G)
    found = gradient(blelloch, x.shape, x, d, device, ndrange=2 * G)
    before = np.cumsum(rows(x), axis=1) - rows(x)
    flowing = 2 * before * rows(d)
    wanted = np.cumsum(flowing[:, ::-1], axis=1)[:, ::-1] - flowing
    np.testing.assert_allclose(found, wanted.ravel(), rtol=1e-11)


@over_devices
@pytest.mark.parametrize("n", [1, 16, 37])
def test_strided_rows(device: str, n: int) -> None:
    rng = np.random.default_rng(4)
    x, d = rng.random((3, n)), rng.random(3)
    found = gradient(strided, (3,), x, d, device, n, ndrange=3 * G)
    wanted = d[:, None] * np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("kernel", [tree_sum, hillis_steele, blelloch, until_small, odd_even])
def test_against_finite_differences(kernel: Any) -> None:
    rng = np.random.default_rng(5)
    out = np.zeros(2 if kernel is tree_sum else 2 * G)
    more = {until_small: (0.05,), odd_even: (20,)}.get(kernel, ())
    pk.check_grads(kernel, (out, rng.random(2 * G), *more), ndrange=2 * G)


@over_devices
def test_settling_with_a_reduction(device: str) -> None:
    rng = np.random.default_rng(6)
    x, d = rng.random(2 * G), rng.random(2 * G)
    wanted = gradient(until_small, x.shape, x, d, "cpu", 0.05, ndrange=2 * G)
    found = gradient(until_small, x.shape, x, d, device, 0.05, ndrange=2 * G)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14)


@pk.kernel(workgroup=16)
def products_of(out, x, n):
    """Some work-items leave before the loop."""
    s = pk.shared((16,), pk.f64)
    lane, i = pk.local_index(), pk.index()
    if i >= n:
        return
    s[lane] = x[i]
    pk.barrier()
    step = 1
    while step < 16:
        t = s[lane]
        if lane >= step:
            t = t * s[lane - step]
        pk.barrier()
        s[lane] = t
        pk.barrier()
        step *= 2
    out[i] = s[lane]


def running_products(x: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The gradient of the running products of each group."""
    found = np.zeros_like(x)
    for first in range(0, len(x), G):
        y, e = x[first : first + G], d[first : first + G]
        products = np.cumprod(y)
        for j in range(len(y)):
            found[first + j] = (e[j:] * products[j:]).sum() / y[j]
    return found


@over_devices
def test_partial_groups_and_early_returns(device: str) -> None:
    rng = np.random.default_rng(7)
    x, d = rng.random(2 * G + 5) + 0.5, rng.random(2 * G + 5)
    found = gradient(hillis_steele, x.shape, x, d, device, ndrange=len(x))
    np.testing.assert_allclose(found, running_products(x, d), rtol=1e-12)
    n = G + 7
    found = gradient(
        products_of, x.shape, x, np.where(np.arange(len(x)) < n, d, 0.0), device, n, ndrange=len(x)
    )
    np.testing.assert_allclose(found[:n], running_products(x[:n], d[:n]), rtol=1e-12)
    assert not found[n:].any()


@pk.kernel(workgroup=(4, 4))
def transposed_twice(out, x):
    """Two dimensions, and a branch for the group that holds a barrier in a loop."""
    s = pk.shared((4, 4), pk.f64)
    i, j = pk.index()
    a, b = pk.local_index()
    s[a, b] = x[i, j]
    turn = 0
    while turn < 3:
        pk.barrier()
        if turn != 1:
            t = s[b, a] * x[i, j]
            pk.barrier()
            s[a, b] = t
        turn += 1
    out[i, j] = s[a, b]


@over_devices
def test_a_branch_of_the_group_in_a_loop(device: str) -> None:
    rng = np.random.default_rng(8)
    x, d = rng.random((8, 4)) + 0.5, rng.random((8, 4))
    out = np.zeros((8, 4))
    transposed_twice(out, x, ndrange=(8, 4))
    y = x.reshape(2, 4, 4)
    np.testing.assert_allclose(out.reshape(2, 4, 4), y * y * y.transpose(0, 2, 1), rtol=1e-14)
    found = gradient(transposed_twice, x.shape, x, d, device, ndrange=(8, 4)).reshape(2, 4, 4)
    e, t = d.reshape(2, 4, 4), y.transpose(0, 2, 1)
    wanted = 2 * e * y * t + e.transpose(0, 2, 1) * t * t
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
