"""Launches of many work-items on GPUs, of which a work-item of the device does several, beside NumPy.

The number from which a launch is one of many is lowered here: emulated GPUs are slow.
"""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.launching import device_entries, device_kinds

pytestmark = pytest.mark.slow
GPUS = pytest.mark.parametrize("device", ["cuda:emulated", "rocm:emulated"], indirect=True)


@pytest.fixture(autouse=True)
def many(monkeypatch):
    for module in (device_kinds, device_entries):
        monkeypatch.setattr(module, "MANY_ITEMS", 500)


def each_of(kernel):
    """What work-items did in each dimension, of each code that the kernel was compiled to."""
    return [found.device.each for found in kernel.launcher.cache.artifacts.values()]


def launched(kernel, device, ndrange, *hosts, **keywords):
    """What the first array holds after a launch by Python and after two by the compiled entry, which start anew."""
    found = []
    for _ in range(4):
        arguments = [pk.array(h, device=device) if isinstance(h, np.ndarray) else h for h in hosts]
        kernel(*arguments, ndrange=ndrange, **keywords)
        found.append(arguments[0].numpy())
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    return found[0]


@GPUS
@pytest.mark.parametrize("count", [499, 500, 1023, 1024, 1025, 4099, 5 * 1024])
@pytest.mark.parametrize("group", [None, 64, 96, 1024])
def test_a_line(device, count, group, rng):
    @pk.kernel
    def axpy(y, x, a: pk.f32):
        i = pk.index()
        y[i] += a * x[i]

    x, y = (rng.standard_normal(count + 7).astype(np.float32) for _ in "xy")
    keywords = {} if group is None else {"workgroup": group}
    got = launched(axpy, device, count, y, x, 2.5, **keywords)
    expected = y.copy()
    expected[:count] += np.float32(2.5) * x[:count]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
    most = 2 if group == 1024 else 4
    assert each_of(axpy) == [(most,) if count >= 500 else ()]


@GPUS
@pytest.mark.parametrize("shape", [(70, 33), (64, 64), (81, 130), (3, 700), (700, 3)])
def test_a_stencil_with_guards(device, shape, rng):
    @pk.kernel
    def spread(v, u):
        i, j = pk.index()
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]

    u, v = (rng.integers(-99, 99, shape).astype(np.float32) for _ in "uv")
    expected = v.copy()
    expected[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    np.testing.assert_array_equal(launched(spread, device, shape, v, u), expected)
    assert each_of(spread) == [(4, 1)]


@GPUS
def test_numbered_along_the_first_dimension(device, rng):
    """`x, y = pk.index()` as in CUDA C++: the several are rows there as well."""

    @pk.kernel
    def scale(o, t):
        x, y = pk.index()
        o[y, x] = 2 * t[y, x]

    t = rng.standard_normal((45, 77)).astype(np.float32)
    np.testing.assert_array_equal(launched(scale, device, (77, 45), np.zeros_like(t), t), 2 * t)
    assert each_of(scale) == [(1, 4)]


@GPUS
@pytest.mark.parametrize("shape", [(5, 13, 41), (3, 64, 65), (2, 3, 5, 67)])
def test_volumes(device, shape, rng):
    if len(shape) == 3:

        @pk.kernel
        def twice(o, t):
            i, j, k = pk.index()
            o[i, j, k] = 2 * t[i, j, k] + i - j
    else:

        @pk.kernel
        def twice(o, t):
            h, i, j, k = pk.index()
            o[h, i, j, k] = 2 * t[h, i, j, k] + i - j

    t = rng.integers(-99, 99, shape).astype(np.float32)
    i, j = np.indices(shape)[-3:-1]
    np.testing.assert_array_equal(launched(twice, device, shape, np.zeros_like(t), t), 2 * t + i - j)
    assert each_of(twice) == [(*(1,) * (len(shape) - 2), 4, 1)]


@GPUS
def test_a_work_item_reads_what_it_wrote(device, rng):
    """Steps of one work-item keep their order, whatever others do between."""

    @pk.kernel
    def steps(o, x):
        i = pk.index()
        o[i] = x[i] + 1
        o[i] = o[i] * 3
        o[i] += x[i]

    x = rng.integers(-99, 99, 2111).astype(np.float32)
    np.testing.assert_array_equal(launched(steps, device, 2111, np.zeros_like(x), x), (x + 1) * 3 + x)
    assert each_of(steps) == [(4,)]


@GPUS
def test_branches_returns_and_look_ups(device, rng):
    @pk.kernel
    def chosen(o, x, at):
        i = pk.index()
        if i % 7 == 3:
            return
        if x[i] > 0:
            o[at[i]] = pk.sqrt(x[i])
        else:
            o[at[i]] = x[at[i]]

    n = 3001
    x, at = rng.standard_normal(n).astype(np.float32), rng.permutation(n).astype(np.int32)
    x[::50], x[7::50] = np.nan, -np.inf
    start = rng.standard_normal(n).astype(np.float32)
    expected = start.copy()
    there = np.arange(n) % 7 != 3
    with np.errstate(invalid="ignore"):
        expected[at[there]] = np.where(x > 0, np.sqrt(x), x[at])[there]
    np.testing.assert_allclose(launched(chosen, device, n, start, x, at), expected, rtol=3e-7)


@GPUS
@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.int64])
def test_steps_of_arrays_and_of_the_launch(device, dtype, rng):
    @pk.kernel
    def add(o, x):
        i = pk.index()
        o[i] = o[i] + x[i]

    hx, ho = (rng.integers(-9, 9, 6400).astype(dtype) for _ in "xo")
    x, o = pk.array(hx, device=device), pk.array(ho, device=device)
    expected = ho.copy()
    for _ in range(3):
        add(o[::-2], x[1::2], ndrange=3200)
        expected[::-2] += hx[1::2]
        add(o, x, ndrange=range(3, 6300, 5))
        expected[3:6300:5] += hx[3:6300:5]
    np.testing.assert_array_equal(o.numpy(), expected)
    assert set(each_of(add)) == {(4,)}


@GPUS
def test_launches_of_few_and_of_many_have_code_of_their_own(device, rng):
    """Whichever came first, and by entries too."""

    @pk.kernel
    def copy(o, x):
        i = pk.index()
        o[i] = x[i]

    for count in (300, 900, 300, 1100, 499, 500):
        for _ in range(4):
            x = rng.standard_normal(count).astype(np.float32)
            o = pk.zeros(count, pk.f32, device=device)
            copy(o, pk.array(x, device=device), ndrange=count)
            np.testing.assert_array_equal(o.numpy(), x)
    assert each_of(copy) == [(), (4,)]


@pytest.mark.parametrize("device", ["cuda:emulated"], indirect=True)
def test_kernels_that_see_groups_do_one(device, rng):
    """Also those with loops, atomics, and those that load nothing."""

    @pk.kernel(workgroup=64)
    def groups(o, x):
        i = pk.index()
        o[i] = x[i] + pk.local_index() + pk.group_reduce(x[i])

    @pk.kernel
    def loops(o, x):
        i = pk.index()
        for k in range(x.shape[0] - 960):
            o[i] += x[k]

    @pk.kernel
    def counts(o, x):
        i = pk.index()
        pk.atomic_add(o, i % 3, x[i])

    @pk.kernel
    def fill(o, x):
        i = pk.index()
        o[i] = i

    x = rng.integers(0, 9, 960 + 5).astype(np.float32)
    zeros = np.zeros_like(x)
    sums = np.repeat(x[:960].reshape(-1, 64).sum(1), 64)
    got = launched(groups, device, 960, zeros, x)
    np.testing.assert_array_equal(got[:960], x[:960] + np.arange(960) % 64 + sums)
    np.testing.assert_array_equal(launched(loops, device, 965, zeros, x), np.full(965, x[:5].sum()))
    expected = [x[:960][k::3].sum() for k in range(3)]
    np.testing.assert_array_equal(launched(counts, device, 960, zeros, x)[:3], expected)
    np.testing.assert_array_equal(launched(fill, device, 965, zeros, x), np.arange(965))
    assert {each for kernel in (groups, loops, counts, fill) for each in each_of(kernel)} == {()}
