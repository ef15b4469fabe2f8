"""Array programs inside of ``with pk.graph()``: replays with other contents give what NumPy makes of them."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry

over_devices = pytest.mark.parametrize(
    "device",
    [
        "cpu",
        "opencl:0",
        "vulkan:0",
        "webgpu:0",
        "cuda:emulated:80",
        "rocm:emulated:gfx942",
        "metal:emulated:0",
    ],
    indirect=True,
)
over_gpus = pytest.mark.parametrize(
    "device",
    ["opencl:0", "vulkan:0", "webgpu:0", "cuda:emulated:80", "rocm:emulated:gfx942", "metal:emulated:0"],
    indirect=True,
)


def make(value, device):
    """An array where programs on the device want it."""
    return np.array(value) if device in ("cpu", "python") else pk.array(value, device=device)


def get(array):
    return np.asarray(array) if isinstance(array, np.ndarray) else array.numpy()


def put(array, value):
    array[...] = value


def softmax_of(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pk.jit
def both(x, y, a):
    return x * a + y, x @ y


def steps_of(x, n):
    """In place, a number of times that is known at the call."""
    for _ in range(n):
        x[1:-1] = x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])


def until_of(x):
    """As often as the data say."""
    while np.sum(x) > 1.0:
        x = x * 0.5
    return x


softmax, step, until = pk.jit(softmax_of), pk.jit(steps_of), pk.jit(until_of)


@pk.jit
def half(x):
    return x * 0.5


@pk.jit
def added(x, y):
    return x + y


@pk.jit
def loss(x, w):
    return np.sum((x @ w) ** 2)


@pytest.mark.parametrize(
    "device", ["cpu", "python", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)
def test_results_of_each_replay(device, rng):
    x, y = make(rng.random((7, 7)), device), make(rng.random((7, 7)), device)
    for _ in range(5):  # also where calls run no Python any more
        softmax(x)
    with pk.device(device), pk.graph() as g:
        soft = softmax(x)
        line, product = both(x, y, 2.5)
    assert len(g) == 2
    for _ in range(3):
        a, b = rng.random((7, 7)), rng.random((7, 7))
        put(x, a)
        put(y, b)
        g.replay().wait()
        e = np.exp(a - a.max(-1, keepdims=True))
        np.testing.assert_allclose(get(soft), e / e.sum(-1, keepdims=True), rtol=1e-13)
        np.testing.assert_allclose(get(line), a * 2.5 + b, rtol=1e-13)
        np.testing.assert_allclose(get(product), a @ b, rtol=1e-13)


def test_arrays_of_pykern_on_the_cpu(rng):
    x, y = pk.array(rng.random((7, 7))), pk.array(rng.random((7, 7)))
    with pk.graph() as g:
        line, product = both(x, y, 2.5)
    for _ in range(2):
        a, b = rng.random((7, 7)), rng.random((7, 7))
        put(x, a)
        put(y, b)
        g.replay().wait()
        np.testing.assert_allclose(line, a * 2.5 + b, rtol=1e-13)
        np.testing.assert_allclose(product, a @ b, rtol=1e-13)


@pytest.mark.parametrize(
    "device", ["cpu", "python", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)
def test_arrays_that_are_written(device, rng):
    """In place, also through a view; a scalar stays what it was at the capture."""
    x, n = make(rng.random(20), device), 3
    wide = make(rng.random(40), device)
    with pk.device(device), pk.graph() as g:
        step(x, n)
        step(wide[::2], n)
    n = 5
    for _ in range(2):
        a, b = rng.random(20), rng.random(40)
        put(x, a)
        put(wide, b)
        g.replay().wait()
        steps_of(a, 3)
        steps_of(b[::2], 3)
        np.testing.assert_allclose(get(x), a, rtol=1e-13)
        np.testing.assert_allclose(get(wide), b, rtol=1e-13)


@over_devices
def test_donated_and_given_arrays(device, rng):
    x, y, out = (make(rng.random(33), device) for _ in range(3))
    strided = make(rng.random(66), device)
    with pk.graph() as g:
        mine = half(x, donate=0)
        assert half(y, out=out) is out
        into = strided[::2]
        half(y, out=into)
        apart = half(strided[1::2], donate=0)
    assert mine is x
    for _ in range(3):
        a, b, c = rng.random(33), rng.random(33), rng.random(66)
        put(x, a)
        put(y, b)
        put(strided, c)
        g.replay().wait()
        np.testing.assert_array_equal(get(x), a / 2)
        np.testing.assert_array_equal(get(out), b / 2)
        np.testing.assert_array_equal(get(strided)[::2], b / 2)
        np.testing.assert_array_equal(get(strided)[1::2], c[1::2])
        np.testing.assert_array_equal(get(apart), c[1::2] / 2)


@over_devices
def test_loops_that_data_decide(device, rng):
    x = make(np.ones(10), device)
    with pk.graph() as g:
        y = until(x)
    for size in (100.0, 0.01, 3e4):
        a = rng.random(10) * size
        put(x, a)
        g.replay().wait()
        np.testing.assert_allclose(get(y), until_of(a), rtol=1e-12)


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        "opencl:0",
        "vulkan:0",
        "webgpu:0",
        "cuda:emulated:80",
        "rocm:emulated:gfx942",
        "metal:emulated:0",
    ],
    indirect=True,
)
def test_derivatives_and_numbers(device, rng):
    """A number is an array without dimensions, which other programs of the graph may take."""
    x, w = make(rng.random((5, 4)), device), make(rng.random((4, 3)), device)
    with pk.graph() as g:
        value, slope = pk.value_and_grad(loss, argnums=1)(x, w)
        again = half(slope)
        _, tangent = pk.jvp(loss, (x, w), (None, w))
        result, pull = pk.vjp(softmax, x)
        (back,) = pull(x)
    assert value.shape == () and tangent.shape == ()
    for _ in range(2):
        a, b = rng.random((5, 4)), rng.random((4, 3))
        put(x, a)
        put(w, b)
        g.replay().wait()
        gradient = 2 * a.T @ (a @ b)
        np.testing.assert_allclose(get(value)[()], ((a @ b) ** 2).sum(), rtol=1e-12)
        np.testing.assert_allclose(get(slope), gradient, rtol=1e-12)
        np.testing.assert_allclose(get(again), gradient / 2, rtol=1e-12)
        np.testing.assert_allclose(get(tangent)[()], (gradient * b).sum(), rtol=1e-12)
        s = np.exp(a) / np.exp(a).sum(-1, keepdims=True)
        np.testing.assert_allclose(get(result), s, rtol=1e-12)
        np.testing.assert_allclose(get(back), s * (a - (s * a).sum(-1, keepdims=True)), rtol=1e-10)


@pk.kernel
def doubled(z, x):
    i = pk.index()
    z[i] = 2 * x[i]


@over_devices
def test_programs_between_kernels_and_copies(device, rng):
    x, z = make(rng.random(50), device), make(np.zeros(50), device)
    with pk.graph() as g:
        y = half(x)
        doubled(z, y, ndrange=50)
        w = half(z)
    stream = None if device == "cpu" else pk.Stream(device)
    for into in (None, stream, None):
        a = rng.random(50)
        put(x, a)
        g.replay(into).wait()
        np.testing.assert_array_equal(get(z), a)
        np.testing.assert_array_equal(get(w), a / 2)


@over_gpus
def test_scratch_memory_lives_as_long_as_the_graph(device, rng):
    """From the first replay on nothing is allocated; what was taken comes back with the graph."""
    x = pk.array(rng.random((64, 256)), device=device)
    with pk.graph() as g:
        y = until(softmax(x))
    g.replay().wait()
    held = pk.memory_stats(device)
    for _ in range(5):
        g.replay().wait()
    after = pk.memory_stats(device)
    assert (after.live, after.reserved) == (held.live, held.reserved)
    if (
        "lavapipe" not in registry.info(device).target
    ):  # there each launch of a loop brings memory for its report
        assert after.allocations == held.allocations
    np.testing.assert_allclose(y.numpy(), until_of(softmax_of(x.numpy())), rtol=1e-12)
    del g, y
    gc.collect()
    assert pk.memory_stats(device).live <= held.live - 2


@over_gpus
def test_what_is_refused(device):
    square = pk.array(np.ones((4, 4)), device=device)
    a = np.ones(4)
    a.flags.writeable = False
    with pk.graph() as g:
        with pytest.raises(pk.LaunchError, match="NumPy arguments on a device cannot be captured"):
            half(np.ones(4), device=device)
        with pytest.raises(pk.LaunchError, match="overlaps"):
            added(square, square.T, donate=0)
        with pytest.raises(pk.LaunchError, match="read-only"):
            step(a, 1)
        with pytest.raises(pk.LaunchError, match="NumPy arguments on a device cannot be captured"):
            doubled(np.ones(4), np.ones(4), ndrange=4, device=device)
    assert len(g) == 0


@pk.kernel
def squared(z, x):
    i = pk.index()
    z[i] = x[i] * x[i]


@over_devices
@pytest.mark.parametrize("level", ["auto", "raised", "direct"])
def test_derivatives_of_kernels(device, level, rng):
    """Replays add to shadows, whichever way the derivative is computed."""
    gradient = pk.autodiff(squared, level=level)
    z, x, dz, dx = (make(np.zeros(9), device) for _ in range(4))
    with pk.graph() as g:
        gradient(pk.Dup(z, dz), pk.Dup(x, dx), ndrange=9)
    assert len(g) == 1 and not get(dx).any()
    for _ in range(2):
        a = rng.random(9)
        put(x, a)
        put(dz, np.ones(9))
        put(dx, np.zeros(9))
        g.replay().wait()
        np.testing.assert_allclose(get(dx), 2 * a, rtol=1e-14)
