"""Array programs on devices with a driver: results against NumPy, arrays that stay where they are, what is refused."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.tools.cli import main
from tests.cases.narrow import narrowed, tolerance
from tests.cases.python_programs import CASES, leaves
from tests.programs.test_jit import heat, heat_numpy

over_devices = pytest.mark.parametrize(
    "device",
    ["opencl:0", "vulkan:0", "webgpu:0", "cuda:emulated:80", "rocm:emulated:gfx942", "metal:emulated:0"],
    indirect=True,
)


def put(value, device):
    """Arrays on the device, everything else as it is."""
    return pk.asarray(value, device=device) if isinstance(value, np.ndarray) else value


def run(program, device, *arguments, **keywords):
    """The program's value, its arrays on the host; each of them was on the device."""
    return host(program(*(put(a, device) for a in arguments), **keywords), device)


def host(value, device):
    if isinstance(value, tuple):
        return tuple(host(item, device) for item in value)
    if isinstance(value, pk.Array):
        assert value.device_name == device
        return value.numpy()
    assert not isinstance(value, np.ndarray)
    return value


@over_devices
@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_case(rng, device, function, arguments):
    theirs = [narrowed(rng.random(a), device) if isinstance(a, tuple) else a for a in arguments]
    ours = [put(a, device) for a in theirs]
    result, expected = leaves(host(pk.jit(function)(*ours), device)), leaves(function(*theirs))
    assert len(result) == len(expected)
    for have, want in zip(result, expected, strict=True):
        assert np.shape(have) == np.shape(want)
        np.testing.assert_allclose(
            have, want, rtol=tolerance(device, 1e-11), atol=tolerance(device, 1e-13, 1e-6)
        )
    for n, (have, want) in enumerate(zip(ours, theirs, strict=True)):
        rtol = tolerance(device, 1e-11)
        np.testing.assert_allclose(host(have, device), want, rtol=rtol, err_msg=f"argument {n}")


@pk.jit
def weighted(x, w):
    return x.astype(w.dtype) @ w


@over_devices
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_factors_of_products_are_converted_where_they_are_read(rng, device, dtype):
    x, w = rng.integers(0, 100, (65, 70)).astype(dtype), rng.random((70, 33)).astype(np.float32)
    np.testing.assert_allclose(run(weighted, device, x, w), x.astype(np.float64) @ w, rtol=1e-5)
    target = pk.runtime.registry.info(device).target
    stages = weighted.lower(x, w, target=target).stages
    kernels = next(s.text for s in stages if s.name.startswith("kern-make-kernels"))
    assert "kern.shared" in kernels  # a tile of each factor
    assert kernels.count('"kern.launch"') == 1


# -- elements and dtypes -------------------------------------------------------------------------


@pk.jit
def scaled(x, y):
    return x * 2 + y


DTYPES = [
    np.float16, np.float32, np.float64, ml_dtypes.bfloat16,
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
]  # fmt: skip


@over_devices
@pytest.mark.parametrize("dtype", DTYPES, ids=[np.dtype(d).name for d in DTYPES])
def test_dtypes(rng, device, dtype):
    x, y = (rng.integers(0, 40, (13, 70)).astype(dtype) for _ in range(2))
    have = run(scaled, device, x, y)
    assert have.dtype == dtype
    np.testing.assert_array_equal(have, (x * dtype(2) + y).astype(dtype))


@pk.jit
def logic(x, y):
    m = (x > 0.25) & ~(y > 0.5)
    return m, pk.where(m, x, -y), m.sum()


@over_devices
def test_bools(rng, device):
    x, y = rng.random((2, 5, 33)).astype(np.float32)
    m, chosen, count = run(logic, device, x, y)
    want = (x > 0.25) & ~(y > 0.5)
    assert m.dtype == np.bool_ and count == want.sum()
    np.testing.assert_array_equal(m, want)
    np.testing.assert_array_equal(chosen, np.where(want, x, -y))
    again = run(pk.jit(negated), device, want)
    np.testing.assert_array_equal(again, ~want)


def negated(m):
    return ~m


@over_devices
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (255,), (257,), (3, 5, 7), (2, 300), (300, 2)])
def test_shapes(rng, device, shape):
    x, y = narrowed([np.asarray(rng.random(shape)) for _ in range(2)], device)
    np.testing.assert_array_equal(run(scaled, device, x, y), x * 2 + y)


@over_devices
def test_views_are_copied_in(rng, device):
    x, y = narrowed([rng.random((40, 30)), rng.random((30, 40))], device)
    a, b = pk.asarray(x, device=device), pk.asarray(y, device=device)
    np.testing.assert_array_equal(host(scaled(a.T, b), device), x.T * 2 + y)
    np.testing.assert_array_equal(host(scaled(a[3:9], a[5:11]), device), x[3:9] * 2 + x[5:11])
    np.testing.assert_array_equal(host(scaled(a[::-2], a[::2]), device), x[::-2] * 2 + x[::2])


@pk.jit
def functions(x):
    return pk.sin(x) + pk.exp(-x), pk.log(x + 1.0), pk.tanh(x) ** 3, pk.sqrt(x), pk.erf(x)


@over_devices
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elementary_functions(rng, device, dtype):
    x = (rng.random(777) * 10).astype(dtype)
    for have, want in zip(run(functions, device, x), functions(x), strict=True):
        np.testing.assert_allclose(have, want, rtol=5e-7 if dtype == np.float32 else 2e-15, atol=1e-7)


# -- reductions ----------------------------------------------------------------------------------


@pk.jit
def along(x):
    return x.sum(axis=0), x.sum(axis=1), x.max(axis=0), x.min(axis=1), x.sum(), x.prod(axis=1)


REDUCED = [
    ((1, 1), np.float32), ((7, 1000), np.float32), ((1000, 7), np.float32), ((20_000, 3), np.float32),
    ((3, 40_000), np.float32), ((33, 257), np.int64),
]  # fmt: skip


@over_devices
@pytest.mark.parametrize(("shape", "dtype"), REDUCED)
def test_reductions(rng, device, shape, dtype):
    x = rng.integers(-3, 4, shape) if dtype == np.int64 else (0.999 + 0.002 * rng.random(shape)).astype(dtype)
    wide = x if dtype == np.int64 else x.astype(np.float64)
    want = wide.sum(0), wide.sum(1), wide.max(0), wide.min(1), wide.sum(), wide.prod(1)
    for have, wanted in zip(run(along, device, x), want, strict=True):
        np.testing.assert_allclose(have, wanted, rtol=1e-4)


@pk.jit
def three(x):
    return x.sum(axis=(0, 2)), x.sum(axis=1), x.mean(axis=(1, 2)), x.max(axis=2)


@over_devices
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 130, 70), (65, 1, 66)])
def test_reductions_of_three_dimensions(rng, device, shape):
    x = narrowed(rng.random(shape), device)
    want = x.sum((0, 2)), x.sum(1), x.mean((1, 2)), x.max(2)
    for have, wanted in zip(run(three, device, x), want, strict=True):
        np.testing.assert_allclose(have, wanted, rtol=tolerance(device, 1e-13))


@pk.jit
def total(x):
    return x.sum(), (x * x).sum(), x.max()


@over_devices
@pytest.mark.parametrize("length", [0, 1, 63, 8193, 300_001])
def test_full_reductions(rng, device, length):
    x = narrowed(rng.normal(size=length), device)
    have, rtol = run(pk.jit(sum_of_squares), device, x), tolerance(device, 1e-11)
    np.testing.assert_allclose(have, (x * x).sum(), rtol=tolerance(device, 1e-12))
    assert type(have) is x.dtype.type
    if length:
        for value, want in zip(run(total, device, x), (x.sum(), (x * x).sum(), x.max()), strict=True):
            np.testing.assert_allclose(value, want, rtol=rtol, atol=rtol * length**0.5)


def sum_of_squares(x):
    return (x * x).sum()


@over_devices
def test_a_sum_is_the_same_in_every_run(rng, device):
    x = put(rng.random(200_000).astype(np.float32), device)
    assert len({float(pk.jit(sum_of_squares)(x)) for _ in range(3)}) == 1


@over_devices
def test_not_a_number_wins(device):
    x = np.ones((9, 300), np.float32)
    x[4, 77] = np.nan
    assert np.isnan(run(along, device, x)[4])
    np.testing.assert_array_equal(np.isnan(run(along, device, x)[3]), np.isnan(x).any(1))


@pk.jit
def places(x):
    return np.argmax(x, axis=1), np.argmin(x, axis=0), np.argmax(x)


@over_devices
def test_places_of_extremes(rng, device):
    x = narrowed(rng.integers(0, 50, (23, 117)).astype(np.float64), device)
    for have, want in zip(run(places, device, x), (x.argmax(1), x.argmin(0), x.argmax()), strict=True):
        np.testing.assert_array_equal(have, want)


@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@over_devices
@pytest.mark.parametrize("shape", [(1, 1), (7, 1000), (100, 33), (300, 64)])
def test_softmax(rng, device, shape):
    x = rng.normal(size=shape).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(run(softmax, device, x), e / e.sum(1, keepdims=True), rtol=3e-6)


# -- products ------------------------------------------------------------------------------------


@pk.jit
def product(a, b):
    return a @ b


@over_devices
@pytest.mark.parametrize(
    ("m", "k", "n", "dtype"),
    [
        (1, 1, 1, np.float32), (3, 200, 5, np.float64), (65, 33, 70, np.float32), (128, 64, 128, np.float32),
        (7, 0, 4, np.float64), (97, 150, 33, np.float64), (200, 40, 300, np.float16), (70, 30, 80, np.int32),
    ],
)  # fmt: skip
def test_products(rng, device, m, k, n, dtype):
    a, b = ((4 * rng.normal(size=shape)).astype(dtype) for shape in ((m, k), (k, n)))
    rtol, atol = {np.float16: (2e-2, 1.0), np.float32: (1e-4, 1e-3)}.get(dtype, (1e-12, 1e-11))
    want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(run(product, device, a, b), want, rtol=rtol, atol=atol)


@pk.jit
def products(a, b, v, w):
    return a.T @ b, a @ v, v @ a.T, w @ w, (a @ a.T) * 2 + 1


@over_devices
def test_products_of_other_forms(rng, device):
    shapes = (35, 18), (35, 21), (18,), (5, 19, 19)
    a, b, v, w = narrowed([rng.normal(size=shape) for shape in shapes], device)
    want = a.T @ b, a @ v, v @ a.T, w @ w, (a @ a.T) * 2 + 1
    for have, wanted in zip(run(products, device, a, b, v, w), want, strict=True):
        np.testing.assert_allclose(have, wanted, rtol=tolerance(device, 1e-10), atol=tolerance(device, 1e-12))


# -- look-ups, slices, loops, kernels ------------------------------------------------------------


@pk.jit
def looked_up(x, rows, n):
    y = x[rows] * 2
    return y, x[n], x[n : n + 3]


@over_devices
def test_look_ups(rng, device):
    x, rows = narrowed(rng.random((20, 7)), device), np.array([3, -1, 19, 0, 3])
    have = run(looked_up, device, x, rows, 5)
    for value, want in zip(have, (x[rows] * 2, x[5], x[5:8]), strict=True):
        np.testing.assert_array_equal(value, want)


@pk.jit
def until(x, tolerance):
    change, turns = 1.0, 0
    while change > tolerance:
        y = x * 0.5
        change = pk.abs(y - x).max()
        x = y
        turns = turns + 1
    return x, turns


@over_devices
def test_a_loop_that_ends_by_data(rng, device):
    x = narrowed(rng.random((9, 31)), device)
    have, turns = run(until, device, x, 1e-3)
    want, expected = until(x, 1e-3)
    assert turns == expected and turns > 3
    np.testing.assert_allclose(have, want, rtol=tolerance(device, 1e-14, 1e-6))


@pk.jit
def steps_by_a_quotient(x, a, b):
    q = a / b
    for _ in pk.range(int(q)):
        x = x + 1.0
    return x * (a * 1e300 * b)


@over_devices
@pytest.mark.parametrize(("a", "b"), [(4.0, 2.0), (0.0, 0.0), (-1.0, 0.0), (1e200, -1e200)])
def test_numbers_between_kernels_are_infinite_or_not_a_number_without_a_word(device, a, b, recwarn):
    got = steps_by_a_quotient(pk.ones(3, pk.f64, device=device), a, b).numpy()
    np.testing.assert_array_equal(got, steps_by_a_quotient(np.ones(3), a, b))
    assert not recwarn.list


@over_devices
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_kernels_in_a_loop(rng, device, steps):
    x, rtol = narrowed(rng.random((12, 17)), device), tolerance(device, 1e-12)
    np.testing.assert_allclose(run(heat, device, x, 0.1, steps), heat_numpy(x, 0.1, steps), rtol=rtol)


@pk.kernel
def row_sums(out, x, scale):
    """Groups and shared memory, which stay a launch."""
    part = pk.shared(64, pk.f64)
    row, me = pk.group_index(), pk.local_index()
    s = 0.0
    for j in range(me, x.shape[1], 64):
        s += x[row, j]
    part[me] = s
    pk.barrier()
    if me == 0:
        t = 0.0
        for j in range(64):
            t += part[j]
        out[row] = t * scale


@pk.jit
def with_groups(x, scale):
    out = pk.zeros(x.shape[0])
    row_sums(out, x, scale, ndrange=x.shape[0] * 64, workgroup=64)
    return out + 1


@over_devices
def test_kernels_with_groups(rng, device):
    x = rng.random((6, 150))
    np.testing.assert_allclose(run(with_groups, device, x, 3.0), x.sum(1) * 3 + 1, rtol=1e-12)


@pk.kernel
def checked(x, limit):
    i = pk.index()
    assert x[i] < limit, "too large"


@pk.jit
def with_assert(x, limit):
    checked(x, limit, ndrange=x.shape)
    return x + 1


@over_devices
def test_assertions_of_kernels(device):
    x = pk.asarray(np.arange(10.0), device=device)
    assert with_assert(x, 10.0).numpy()[-1] == 10
    with pytest.raises(pk.AssertionFailed, match="too large"):
        with_assert(x, 9.0).numpy()


@pk.kernel
def moved_on(x, n):
    i = pk.index()
    x[i + n] = 1.0


@pk.jit(debug=True)
def checks_bounds(x, n):
    moved_on(x, n, ndrange=x.shape)
    return x + 1


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
def test_debug_checks_the_accesses_of_kernels_that_would_be_raised(device):
    x = pk.zeros(8, device=device)
    assert checks_bounds(x, 0)[7] == 2 if device == "cpu" else checks_bounds(x, 0).numpy()[7] == 2
    with pytest.raises(pk.OutOfBounds, match="index 8 is outside of `x`"):
        checks_bounds(x, 3)


@pk.jit
def inner(x, n: pk.static):
    return x * n


@pk.jit
def outer(x, y):
    return {"sum": inner(x, 3) + y, "parts": (x.sum(), None, 4), "zeros": pk.zeros_like(x)}


@over_devices
def test_programs_in_programs_and_results_of_all_kinds(rng, device):
    x, y = rng.random((2, 11))
    have = outer(put(x, device), put(y, device))
    np.testing.assert_allclose(have["sum"].numpy(), x * 3 + y, rtol=1e-14)
    assert have["parts"][1:] == (None, 4) and type(have["parts"][0]) is np.float64
    np.testing.assert_allclose(have["parts"][0], x.sum())
    assert not have["zeros"].numpy().any() and have["zeros"].device_name == device


@pk.jit
def made(n: pk.static):
    return pk.arange(n) * 2.0, pk.ones((n, 3))


@over_devices
def test_a_program_without_arrays_runs_where_it_is_asked_to(device):
    counted, ones = host(made(5, device=device), device)
    np.testing.assert_array_equal(counted, np.arange(5) * 2.0)
    np.testing.assert_array_equal(ones, np.ones((5, 3)))


# -- memory: out, donation, updates, NumPy arguments ---------------------------------------------


@over_devices
def test_out(rng, device):
    x, y = rng.random((2, 6, 20))
    a, b = put(x, device), put(y, device)
    out = pk.zeros((6, 20), device=device)
    assert scaled(a, b, out=out) is out
    np.testing.assert_array_equal(out.numpy(), x * 2 + y)
    turned = pk.zeros((20, 6), device=device).T
    assert scaled(a, b, out=turned) is turned
    np.testing.assert_array_equal(turned.numpy(), x * 2 + y)
    scaled(a, b, out=a)
    np.testing.assert_array_equal(a.numpy(), x * 2 + y)
    with pytest.raises(pk.LaunchError, match="arrays of the device"):
        scaled(a, b, out=np.zeros((6, 20)))
    with pytest.raises(pk.LaunchError, match="result 0"):
        scaled(a, b, out=pk.zeros((6, 21), device=device))


@over_devices
def test_donation(rng, device):
    x, y = rng.random((2, 100))
    a, b = put(x, device), put(y, device)
    result = scaled(a, b, donate=0)
    assert result is a
    np.testing.assert_array_equal(result.numpy(), x * 2 + y)
    with pytest.raises(pk.LaunchError, match="overlaps"):
        scaled(b[:50], b[10:60], donate=0)


@over_devices
def test_numpy_arguments_are_copied_where_a_device_is_asked_for(rng, device):
    x, y = rng.random((2, 30))
    with pk.device(device):
        have = scaled(x, y)
    assert type(have) is np.ndarray
    np.testing.assert_array_equal(have, x * 2 + y)
    assert type(scaled(x, y, device=device)) is np.ndarray
    out = np.zeros(30)
    assert scaled(x, y, device=device, out=out) is out
    np.testing.assert_array_equal(out, x * 2 + y)


@pk.jit
def shifted(x, y):
    x[1:] = x[1:] + y[:-1]


@over_devices
def test_updates_of_numpy_arguments(rng, device):
    x, y = rng.random((2, 30))
    want = x.copy()
    want[1:] += y[:-1]
    assert shifted(x, y, device=device) is None
    np.testing.assert_array_equal(x, want)
    x.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="read-only"):
        shifted(x, y, device=device)


@over_devices
def test_streams(rng, device):
    x, y = rng.random((2, 1000))
    stream = pk.Stream(device)
    a, b = put(x, device), put(y, device)
    have = scaled(scaled(a, b, stream=stream), b, stream=stream)
    np.testing.assert_array_equal(have.numpy(), (x * 2 + y) * 2 + y)


@over_devices
def test_arrays_of_two_places_are_refused(rng, device):
    x = rng.random(5)
    with pytest.raises(pk.DeviceError, match=f"`y` lives on cpu.*{device}"):
        scaled(put(x, device), x)
    other = "vulkan:0" if device.startswith("opencl") else "opencl:0"
    if isinstance(pk.runtime.registry.found(other.split(":")[0]), tuple):
        with pytest.raises(pk.DeviceError, match=f"`x` lives on {device}, and `y` on {other}"):
            scaled(put(x, device), put(x, other))


# -- looking inside ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["spirv:opencl3.0", "spirv:vulkan1.3", "nvvm:sm_80", "rocdl:gfx942"])
def test_stages_for_every_target(target):
    lowered = softmax.lower(pk.spec((50, 100), pk.f32), target=target)
    names = [stage.name for stage in lowered.stages]
    first = next(n for n, name in enumerate(names) if name.startswith("kern-flatten-memory"))
    assert next(n for n, name in enumerate(names) if name.startswith("kern-make-kernels")) < first
    compiled = lowered.compile()
    assert compiled.binary and compiled.resources["kernels"] >= 1
    if "spirv" not in target:
        assert "kern_softmax_" in compiled.asm()


def test_equal_kernels_are_compiled_once():
    plan = pk.jit(twice).lower(pk.spec((50, 50), pk.f32), target="spirv:opencl3.0").artifact.program.plan
    launched = [step for step in json.loads(plan.steps)["steps"] if step[0] == "launch"]
    assert len(plan.kernels) < len(launched)


def twice(x):
    y = x @ x
    return y @ y


@pytest.mark.parametrize("target", ["nvvm:sm_80", "rocdl:gfx942"])
def test_the_command_compiles_programs(tmp_path, capsys, target):
    file = tmp_path / "softmax_file.py"
    file.write_text("import pykern as pk\n\n\n@pk.jit\ndef twice(x):\n    return x * 2, x.sum()\n")
    command = ["compile", f"{file}::twice", "--args", "f32[50]", "--target", target]
    assert main(command) == 0
    assert "kern-make-kernels" in capsys.readouterr().out
    assert main([*command, "--asm"]) == 0
    text = capsys.readouterr().out
    assert "kern_twice_0" in text


@pk.jit
def sum_of_many_parts(x):
    total = pk.zeros(x.shape[1:], x.dtype)
    for k in range(x.shape[0]):
        total = total + x[k] * x[k - 1]
    x[1:-1] = x[:-2] - x[2:]
    return total


def test_many_parts_of_an_array_are_one_buffer(pk_device, rng):
    """Vulkan and WebGPU bind about 30 buffers, and forty parts of one array are one of them."""
    x = rng.standard_normal((40, 53)).astype("f4")
    given = pk.asarray(x.copy(), device=pk_device)
    found = sum_of_many_parts(given)
    np.testing.assert_allclose(np.asarray(found), (x * np.roll(x, 1, 0)).sum(0), rtol=1e-4, atol=1e-5)
    expected = x.copy()
    expected[1:-1] = x[:-2] - x[2:]
    np.testing.assert_array_equal(np.asarray(given), expected)
