"""Derivatives of array programs on devices with a driver: equal to the CPU's, and where their arrays are."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.autodiff import test_programs as programs
from tests.cases.narrow import narrowed

over_devices = pytest.mark.parametrize(
    "device",
    ["opencl:0", "vulkan:0", "webgpu:0", "cuda:emulated:80", "rocm:emulated:gfx942", "metal:emulated:0"],
    indirect=True,
)

random = np.random.default_rng(5)


def put(value, device):
    return pk.asarray(narrowed(value, device), device=device) if isinstance(value, np.ndarray) else value


def host(value, device):
    """A value with its arrays brought back; each of them was on the device."""
    if isinstance(value, tuple):
        return tuple(host(item, device) for item in value)
    if isinstance(value, dict):
        return {name: host(item, device) for name, item in value.items()}
    assert not isinstance(value, np.ndarray)
    if isinstance(value, pk.Array):
        assert value.device_name == device
        return value.numpy()
    return value


def close(have, want, rtol=1e-11, atol=1e-12):
    if isinstance(want, tuple):
        assert len(have) == len(want)
        for a, b in zip(have, want, strict=True):
            close(a, b, rtol, atol)
    elif isinstance(want, dict):
        close(tuple(have.values()), tuple(want.values()), rtol, atol)
    elif want is None:
        assert have is None
    else:
        assert np.shape(have) == np.shape(want)
        is_narrow = np.result_type(have) == np.float32 and np.result_type(want) == np.float64  # see `put`
        rtol, atol = (max(rtol, 5e-5), max(atol, 1e-5)) if is_narrow else (rtol, atol)
        np.testing.assert_allclose(have, want, rtol=rtol, atol=atol)


def actives(arguments):
    return tuple(n for n, a in enumerate(arguments) if isinstance(a, np.ndarray | float))


@over_devices
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_reverse_and_forward(device, name):
    """The vector-Jacobian and the Jacobian-vector product of every program of the CPU's tests."""
    program, make = programs.PROGRAMS[name]
    arguments = make()
    there = tuple(put(a, device) for a in arguments)
    value, pull = pk.vjp(program, *arguments)
    value_there, pull_there = pk.vjp(program, *there)
    close(host(value_there, device), value)
    close(host(pull_there(value_there), device), pull(value))
    tangents = tuple(
        random.random(np.shape(a)) if n in actives(arguments) else None for n, a in enumerate(arguments)
    )
    tangents = tuple(float(t) if isinstance(t, np.ndarray) and not t.shape else t for t in tangents)
    have = pk.jvp(program, there, tuple(put(t, device) for t in tangents))
    close(host(have, device), pk.jvp(program, arguments, tangents))


def loss_arguments(steps=5):
    return random.random((6, 7)), 0.1 * random.random((6, 7)), steps


@over_devices
@pytest.mark.parametrize("policy", ["all", pk.every(3), pk.binomial(2)], ids=str)
def test_checkpoints(device, policy):
    arguments = loss_arguments()
    want = pk.value_and_grad(programs.diffusion_loss, (0, 1))(*arguments)
    program = pk.value_and_grad(programs.diffusion_loss, (0, 1), checkpoint=policy)
    close(host(program(*(put(a, device) for a in arguments)), device), want)


@pk.jit
def decay(u, c, n):
    for _ in pk.range(n):
        u = u - c * u * u
    return (u * u).sum()


@pk.jit
def decay_of_known_length(u, c, n: pk.static):
    for _ in pk.range(n):
        u = u - c * u * u
    return (u * u).sum()


@over_devices
@pytest.mark.parametrize("policy", ["all", pk.every(3)], ids=str)
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_numbers_of_steps_at_run_time(device, policy, steps):
    u = random.random((5, 9))
    want = pk.grad(decay_of_known_length, (0, 1))(u, 0.1, steps)
    have = pk.grad(decay, (0, 1), checkpoint=policy)(put(u, device), 0.1, steps)
    close(host(have, device), want)


@over_devices
def test_hessian_vector_products(device):
    x, v = random.random((2, 13))
    have = pk.hvp(cubes_program, (put(x, device),), (put(v, device),))
    close(host(have, device), 6 * x * v)


@pk.jit
def cubes_program(x):
    return (x * x * x).sum()


@over_devices
def test_derivative_of_a_gradient(device):
    """The vector-Jacobian product of a gradient: the Hessian times the cotangent."""
    x, v = random.random((2, 9))
    gradient, pull = pk.vjp(pk.grad(cubes_program), put(x, device))
    close(host(gradient, device), 3 * x * x)
    close(host(pull(put(v, device)), device), (6 * x * v,))


@over_devices
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_small_floats(device, dtype):
    x, y = random.random((2, 4, 9)).astype(dtype)
    have = host(pk.grad(programs.product_sum, (0, 1))(put(x, device), put(y, device)), device)
    assert all(a.dtype == dtype for a in have)
    wide = x.astype(np.float64)
    rtol = 1e-6 if dtype == np.float32 else 2e-3
    close(have, (np.cos(wide) * y, np.sin(wide)), rtol, np.finfo(dtype).smallest_subnormal)


@pk.jit
def looked_up(x, rows):
    return (x[rows] ** 2).sum()


@over_devices
@pytest.mark.parametrize("count", [0, 57, 1000])
def test_look_ups_are_added_up(device, count):
    """Few in order, many by atomics."""
    x, rows = random.random((20, 3)), random.integers(-20, 20, count)
    want = np.zeros_like(x)
    np.add.at(want, rows, 2 * x[rows])
    close(host(pk.grad(looked_up)(put(x, device), put(rows, device)), device), want)


@over_devices
def test_kernels_inside(device):
    """One that is raised, one that stays a launch, one whose loop's length is data: that one needs a tape."""
    steps = 1.0 + random.random((6, 7)), 0.1, 3
    x, c, k = random.random(3), random.random(5), np.array([3, 5, 2])
    root = 1.0 + random.random(6), 0.7
    for program, arguments in (
        (pk.jit(total_heat), steps),
        (programs.summed_roots, root),
        (programs.weighted_sum, (x, c, k)),
    ):
        want = pk.value_and_grad(program)(*arguments)
        close(host(pk.value_and_grad(program)(*(put(a, device) for a in arguments)), device), want)


def total_heat(old, c, n: pk.static):
    t = programs.heat_steps(old, c, n)
    return (t * t).sum()


@over_devices
def test_auxiliary_results_and_numpy_arguments(device):
    x = random.random(7)
    (value, more), gradient = pk.value_and_grad(pk.jit(with_more), has_aux=True)(put(x, device))
    close((value, host(more, device), host(gradient, device)), ((x * x).sum(), x + 1, 2 * x))
    with pk.device(device):
        gradient = pk.grad(cubes_program)(x)
    assert isinstance(gradient, np.ndarray)
    close(gradient, 3 * x * x)


def with_more(x):
    return (x * x).sum(), x + 1


@over_devices
def test_check_grads_with_arrays_of_the_device(device):
    with pk.device(device):
        pk.check_grads(
            programs.layernorm, (random.random((3, 5)), random.random(5), random.random(5)), rtol=2e-7
        )


@pk.kernel
def blur(out, x, w):
    i = pk.index()
    s = 0.0
    for k in range(w.shape[0]):
        s += x[i + k] * w[k]
    out[i] = s * s


def gradient_of_blur(level, place, **launch):
    made = np.random.default_rng(3)
    shapes = (46, 46, 50, 50, 5, 5)
    out, dout, x, dx, w, dw = (place(made.random(n)) for n in shapes)
    pk.autodiff(blur, level=level)(pk.Dup(out, dout), pk.Dup(x, dx), pk.Dup(w, dw), ndrange=46, **launch)
    return tuple(np.asarray(a) for a in (dout, dx, dw))


@over_devices
@pytest.mark.parametrize("level", ["raised", "auto"])
def test_raised_gradients_of_kernels(device, level):
    """On whole arrays, with arrays of the device, NumPy's, and in a stream."""
    want = gradient_of_blur("direct", lambda a: a)
    close(gradient_of_blur(level, lambda a: put(a, device)), want)
    close(gradient_of_blur(level, lambda a: a, device=device), want)
    close(gradient_of_blur(level, lambda a: put(a, device), stream=pk.Stream(device)), want)
