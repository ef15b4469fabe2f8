"""What Mesa's driver for processors leaves out without a word is told: loops it ends, conditions it takes for true."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry
from tests.cases.texts import imported

TURNS = 65_535


@pytest.fixture(params=["vulkan:0", "webgpu:0"])
def lavapipe(request, need_device) -> str:
    """The device, where it is this driver's; on another one there is nothing to tell."""
    name = need_device(request.param)
    if "lavapipe" not in registry.info(name).target:
        pytest.skip(f"{name} is not lavapipe")
    return name


@pk.kernel
def count(o, n):
    i = pk.index()
    s = 0
    for _ in range(n):
        s += 1
    o[i] = s


@pk.kernel
def triangle(o, n):
    i = pk.index()
    s = 0
    k = 0
    while k < n + i:
        for _ in range(k, 0, -1):
            s += 1
        k += 1
    o[i] = s


@pk.func
def sum_to(n):
    s = 0
    for k in range(n):
        s += k
    return s


@pk.kernel
def in_function(o, n):
    o[pk.index()] = sum_to(n)


@pk.kernel
def constant(o):
    i = pk.index()
    s = 0
    for a in range(300):
        for b in range(300):
            s += a ^ b
    o[i] = s


@pk.kernel
def leaves_early(o, x, n):
    i = pk.index()
    o[i] = -1
    for k in range(n):
        if x[k] > i:
            o[i] = k
            break


def line_of(error: pk.KernelError) -> str:
    """The line that an error points to."""
    assert error.span is not None
    return linecache.getline(error.span.file, error.span.line).strip()


def launched(kernel, device, *args, items=20):
    o = pk.zeros(items, pk.i64, device=device)
    kernel(o, *args, ndrange=items)
    return o.numpy()


@pytest.mark.parametrize("n", [0, 1, 100, 4095, 60_000, TURNS - 1])
def test_loops_within_the_limit_are_right(lavapipe, n):
    assert (launched(count, lavapipe, n) == n).all()
    small = min(n, 300)
    np.testing.assert_array_equal(launched(triangle, lavapipe, small), launched(triangle, "cpu", small))


@pytest.mark.parametrize(
    ("kernel", "args", "line"),
    [
        (count, (TURNS + 1,), "for _ in range(n):"),
        (count, (10_000_000,), "for _ in range(n):"),
        (triangle, (400,), "for _ in range(k, 0, -1):"),
        (in_function, (100_000,), "for k in range(n):"),
        (constant, (), "for b in range(300):"),
    ],
)
def test_a_loop_that_the_driver_ends_is_told(lavapipe, kernel, args, line):
    with pytest.raises(
        pk.DeviceError, match="the loops of a work-item make 65,535 iterations in all"
    ) as caught:
        launched(kernel, lavapipe, *args)
    assert line_of(caught.value) == line
    assert (launched(kernel, lavapipe, *args[:-1], *([7] if args else [])) >= 0).all() if args else True


def test_a_loop_that_is_left_in_time_is_not_told(lavapipe):
    x = pk.asarray(np.arange(200_000), device=lavapipe)
    np.testing.assert_array_equal(launched(leaves_early, lavapipe, x, 200_000), np.arange(20) + 1)


def test_other_devices_have_no_such_limit(need_device):
    for device in ("cpu", need_device("opencl:0")):
        assert (launched(count, device, 1_000_000) == 1_000_000).all()


def test_programs_tell_it_too(lavapipe, rng):
    @pk.jit
    def recurrence(x, n: pk.static):
        y = pk.zeros_like(x)
        for k in pk.range(1, n):
            y[k] = y[k - 1] * 0.999 + x[k]
        return y

    @pk.jit
    def largest(x):
        return x.argmax(axis=1)

    x = rng.random(100_000)
    short = recurrence(pk.asarray(x, device=lavapipe), 5000).numpy()
    np.testing.assert_allclose(short, recurrence(x, 5000), rtol=1e-12)
    with pytest.raises(pk.DeviceError, match="iterations in all"):
        recurrence(pk.asarray(x, device=lavapipe), 100_000).numpy()

    wide = rng.random((3, 70_000))
    np.testing.assert_array_equal(
        largest(pk.asarray(wide[:, :50_000], device=lavapipe)).numpy(), wide[:, :50_000].argmax(axis=1)
    )
    with pytest.raises(pk.DeviceError, match="iterations in all"):
        largest(pk.asarray(wide, device=lavapipe)).numpy()


def test_derivatives_tell_it_too(lavapipe):
    @pk.kernel
    def power(y, x, n):
        i = pk.index()
        p = x[i]
        for _ in range(n):
            p = p * 0.999
        y[i] = p

    def gradient(n):
        x, dx = (pk.ones(4, pk.f64, device=lavapipe) for _ in range(2))
        y, dy = (pk.ones(4, pk.f64, device=lavapipe) for _ in range(2))
        pk.autodiff(power)(pk.Dup(y, dy), pk.Dup(x, dx), n, ndrange=4)
        return dx.numpy()

    np.testing.assert_allclose(gradient(1000), 1 + 0.999**1000, rtol=1e-9)
    with pytest.raises(pk.DeviceError, match="iterations in all"):
        gradient(70_000)


def nest(folder: Path, depth: int, header: str) -> ModuleType:
    """A kernel with `depth` conditions, each of which adds one."""
    lines = ["import pykern as pk", "@pk.kernel", "def nested(o, x, n):", "    i = pk.index()", "    s = 0"]
    for d in range(depth):
        lines += ["    " * (d + 1) + header.format(d=d), "    " * (d + 2) + "s += 1"]
    file = folder / f"nested_{depth}.py"
    return imported(file, "\n".join([*lines, "    o[i] = s", ""]))


@pytest.mark.parametrize("depth", [1, 40, 70, 79])
def test_nested_conditions_are_right(lavapipe, tmp_path, rng, depth):
    nested = nest(tmp_path, depth, "if x[{d}] > i - {d}:").nested
    x = rng.integers(0, 20, 100)
    there, here = pk.asarray(x, device=lavapipe), np.zeros(20, np.int64)
    nested(here, x, 1, ndrange=20)
    np.testing.assert_array_equal(launched(nested, lavapipe, there, 1), here)


@pytest.mark.parametrize("depth", [85, 90, 95])
def test_conditions_that_are_nested_too_deep_are_refused(lavapipe, tmp_path, depth):
    nested = nest(tmp_path, depth, "if x[{d}] > i - {d}:").nested
    x = pk.ones(100, pk.i64, device=lavapipe)
    with pytest.raises(pk.errors.TargetError, match="nested more than 80 deep") as caught:
        launched(nested, lavapipe, x, 1)
    assert line_of(caught.value).startswith(("if x[", "s += 1"))


def test_large_private_memory_is_refused(lavapipe):
    @pk.kernel
    def private(o):
        i = pk.index()
        t = pk.private(10_000, pk.f32)
        for k in range(10_000):
            t[k] = k
        o[i] = pk.cast(t[i], pk.i64)

    @pk.kernel
    def small(o):
        i = pk.index()
        t = pk.private(200, pk.f32)
        for k in range(200):
            t[k] = k
        o[i] = pk.cast(t[i], pk.i64)

    with pytest.raises(
        pk.errors.TargetError, match="40000 bytes of private memory, and lavapipe has 16384"
    ) as caught:
        launched(private, lavapipe)
    assert line_of(caught.value) == "t = pk.private(10_000, pk.f32)"
    np.testing.assert_array_equal(launched(small, lavapipe), np.arange(20))


@pk.kernel
def first_small(o, m, x, start):
    i = pk.index()
    n = start[i]
    while (c := x[n]) > 0.5:
        n += 1
    o[i] = c
    m[i] = n


@pk.kernel
def first_pair(o, m, x, start):
    i = pk.index()
    n = start[i]
    total = 0.0
    while (c := x[n] + x[n + 1]) > 1.0 and n < 400:
        k = 0
        while (d := x[n + k]) > 0.7:
            k += 1
        total += d * k
        n += 1
    o[i] = c + total
    m[i] = n


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("kernel", [first_small, first_pair])
def test_what_a_condition_loads_is_kept_behind_the_loop(kernel, dtype, lavapipe, rng):
    """Work-items that leave the loop before others of their vector kept nothing of what its condition had loaded."""
    x = rng.random(600).astype(dtype)
    x[-50:] = 0
    start = rng.integers(0, 400, 333).astype(np.int32)
    expected = np.zeros(333, dtype), np.zeros(333, np.int32)
    kernel(*expected, x, start, ndrange=333, device="python")
    found = pk.zeros(333, dtype, device=lavapipe), pk.zeros(333, np.int32, device=lavapipe)
    kernel(*found, pk.asarray(x, device=lavapipe), pk.asarray(start, device=lavapipe), ndrange=333)
    np.testing.assert_array_equal(found[1].numpy(), expected[1])
    np.testing.assert_allclose(found[0].numpy(), expected[0], rtol=1e-3 if dtype == "f2" else 1e-6)
