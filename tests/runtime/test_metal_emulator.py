"""What stands for Metal's standard library computes as its specification says, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.metal_emulator import compile
from tests.cases import refused

DEVICE = "metal:emulated"
pytestmark = pytest.mark.parametrize("device", [DEVICE], indirect=True)


def run(body, out, given, group=1, groups=1, extra=""):
    """Run a body for each work-item: `x` is what is given, and `out` what it fills."""
    kinds = {
        "float16": "half",
        "float32": "float",
        "int32": "int",
        "uint16": "ushort",
        "int64": "long",
        "int8": "char",
    }
    text = f"""#include <metal_stdlib>
using namespace metal;
kernel void k(
    device {kinds[out.dtype.name]} *out [[buffer(0)]],
    device const {kinds[given.dtype.name]} *x [[buffer(1)]],
    {extra}uint3 local_id [[thread_position_in_threadgroup]],
    uint3 group_id [[threadgroup_position_in_grid]]
) {{
    const int n = (int)group_id.x * {group} + (int)local_id.x;
    {body}
}}
"""
    code = compile.compiled(text)
    shared = [64] if extra else []
    assert code.run("k", [out.ctypes.data, given.ctypes.data], shared, (groups, 1, 1), (group, 1, 1)) == 0
    return out


def test_every_half_and_back(device):
    codes = np.arange(1 << 16, dtype=np.uint16)
    halves = codes.view(np.float16)
    found = run("out[n] = (float)x[n];", np.empty(1 << 16, np.float32), halves, groups=1 << 16)
    np.testing.assert_array_equal(
        found.view(np.uint32) >> 31, halves.astype(np.float32).view(np.uint32) >> 31
    )
    np.testing.assert_array_equal(found, halves.astype(np.float32))
    back = run("out[n] = (half)x[n];", np.empty(1 << 16, np.float16), found, groups=1 << 16)
    numbers = ~np.isnan(halves)
    np.testing.assert_array_equal(back.view(np.uint16)[numbers], codes[numbers])
    assert np.isnan(back[~numbers]).all()


def test_halves_are_rounded_to_nearest(device, rng):
    """Beside what lies in the middle of two, and what is subnormal or too large."""
    middles = (np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)[1:] / 2).astype(
        np.float32
    )
    spread = rng.integers(0, 1 << 32, 1 << 15).astype(np.uint32).view(np.float32)
    given = np.concatenate([middles, np.nextafter(middles, np.float32(9e9)), spread, -spread]).astype(
        np.float32
    )
    found = run("out[n] = (half)x[n];", np.empty(given.size, np.float16), given, groups=given.size)
    with np.errstate(over="ignore"):
        wanted = given.astype(np.float16)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_arithmetic_of_halves(device, rng, operator):
    given = rng.integers(0, 1 << 16, 1 << 14).astype(np.uint16).view(np.float16)
    found = run(f"out[n] = x[n] {operator} x[n ^ 1];", np.empty_like(given), given, groups=given.size)
    other = given.reshape(-1, 2)[:, ::-1].reshape(-1)
    by = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[operator]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, by(given, other))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_bits_of_integers(device, rng, dtype):
    info = np.iinfo(dtype)
    given = np.array([0, 1, -1, info.min, info.max, *rng.integers(info.min, info.max, 50)], dtype)
    bits = [np.binary_repr(int(v), info.bits) for v in given]
    count = run("out[n] = popcount(x[n]);", np.empty_like(given), given, groups=given.size)
    np.testing.assert_array_equal(count, [text.count("1") for text in bits])
    zeros = run("out[n] = clz(x[n]);", np.empty_like(given), given, groups=given.size)
    np.testing.assert_array_equal(zeros, [len(text) - len(text.lstrip("0")) for text in bits])


@pytest.mark.parametrize("group", [32, 48, 256])
def test_lanes_exchange_values(device, rng, group):
    given = rng.standard_normal(group).astype(np.float32)
    lanes, first = np.arange(group) % 32, np.arange(group) // 32 * 32
    for call, lane in (
        ("simd_shuffle(x[n], ushort(n * 7 % 32))", np.arange(group) * 7 % 32),
        ("simd_shuffle_xor(x[n], ushort(5))", lanes ^ 5),
        ("simd_shuffle_up(x[n], ushort(3))", np.where(lanes >= 3, lanes - 3, lanes)),
        ("simd_shuffle_down(x[n], ushort(4))", np.where(lanes + 4 < 32, lanes + 4, lanes)),
    ):
        found = run(f"out[n] = {call};", np.empty_like(given), given, group=group)
        there = first + lane < group
        np.testing.assert_array_equal(found[there], given[(first + lane)[there]])


def test_subgroups_exchange_values_at_their_own_pace(device):
    """One subgroup goes round a loop more often than the other; then both meet at a barrier."""
    body = """
    threadgroup float seen[64];
    float value = x[n];
    const int rounds = n < 32 ? 3 : 8;
    for (int round = 0; round < rounds; round++) {
        value = value + simd_shuffle_xor(value, ushort(1));
    }
    seen[n] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[n] = seen[63 - n];"""
    given = np.arange(64, dtype=np.float32)
    pairs = given.reshape(-1, 2).sum(1).repeat(2)
    wanted = pairs * np.where(np.arange(64) < 32, 2.0**2, 2.0**7)
    np.testing.assert_array_equal(run(body, np.empty(64, np.float32), given, group=64), wanted[::-1])


def test_barriers_in_a_loop_of_a_large_group(device):
    body = """
    memory[n % 16] = 0.0f;
    float value = x[n];
    threadgroup float seen[1024];
    for (int step = 512; step > 0; step /= 2) {
        seen[n] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        value = value + seen[n ^ step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[n] = value;"""
    given = np.arange(1024, dtype=np.float32)
    extra = "threadgroup float *memory [[threadgroup(0)]],\n    "
    found = run(body, np.empty(1024, np.float32), given, group=1024, extra=extra)
    np.testing.assert_array_equal(found, 1024 * 1023 / 2)


def test_private_memory_that_no_stack_holds_is_refused(device):
    with pytest.raises(compile.CompileError, match=r"stack frame|frame size"):
        run("int own[200000]; own[x[n]] = 1; out[n] = own[n];", np.empty(1, np.int32), np.zeros(1, np.int32))


# -- numbers of a launch ---------------------------------------------------------------------------

NUMBERS = [
    0.0, -0.0, 1.0, -2.5, 1 / 3, 1e-45, 7e-46, 7.1e-46, 1.2e-38, 5.9e-39, 3.4028234663852886e38, 3.4028235677973366e38,
    3.5e38, 1e308, 5e-324, float("inf"), -float("inf"), float("nan"), 1 + 2**-24, 1 + 3 * 2**-24, 65504.0, 65519.99,
    65520.0, 6e-8, 2.98e-8, 2.981e-8, 2**-14 - 2**-26, 2**-126 * (1 - 2**-25), 0.1, 2.0**-149, 2.0**-150,
]  # fmt: skip


@pk.kernel
def filled(out, number):
    out[pk.index()] = number


@pytest.mark.parametrize("dtype", [pk.f32, pk.f16, pk.bf16])
def test_python_floats_are_rounded_as_numpy_rounds_them(device, rng, dtype):
    """Their 64 bits come as an integer."""
    import ml_dtypes

    kind = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[dtype.name]
    out = pk.zeros(1, dtype, device=device)
    spread = rng.integers(0, 1 << 63, 40).astype(np.uint64).view(np.float64)
    near = 2.0 ** rng.uniform(-30, 20, 40) * rng.choice([-1, 1], 40)
    for number in [*NUMBERS, *map(float, spread), *map(float, near)]:
        filled(out, number, ndrange=1)
        with np.errstate(all="ignore"):
            wanted = np.float64(number).astype(kind)
        np.testing.assert_array_equal(np.asarray(out.numpy()).astype(np.float64), [np.float64(wanted)])
        assert np.signbit(out.numpy()[0]) == np.signbit(wanted) or np.isnan(wanted)


@pk.kernel
def told(x):
    i = pk.index()
    print(x[i])


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_floats_are_printed_exactly(device, rng, capfd, kind):
    bits = rng.integers(0, 1 << (8 * kind().itemsize), 200).astype(f"u{kind().itemsize}")
    with np.errstate(all="ignore"):
        given = np.concatenate([np.array(NUMBERS).astype(kind), bits.view(kind)])
    told(pk.array(given, device=device), ndrange=given.size)
    pk.synchronize(device)
    lines = capfd.readouterr().out.split()
    found = sorted(lines, key=str)
    assert found == sorted((str(v) for v in given), key=str)


# -- what Metal has not ----------------------------------------------------------------------------


@pk.kernel
def doubled(x):
    x[pk.index()] *= 2


@pk.kernel
def counted(count):
    pk.atomic_add(count, 0, 1)


@pk.kernel
def log_gamma(x):
    i = pk.index()
    x[i] = pk.lgamma(x[i])


def test_what_is_refused(device):
    x = pk.zeros(4, pk.f64, device=device)
    with pytest.raises(pk.KernelError, match="holds f64, which metal:emulated:0") as raised:
        doubled(x, ndrange=4)
    assert refused.reason(device, raised.value) == "Metal has no floats of 64 bits"
    with pytest.raises(pk.TargetError, match="MSL changes no integers of 64 bits atomically") as raised:
        counted(pk.zeros(1, pk.i64, device=device), ndrange=4)
    assert raised.value.span is not None and "32 bits" in (raised.value.hint or "")
    assert refused.reason(device, raised.value) == "Metal has no atomics on integers of 64 bits"
    with pytest.raises(pk.TargetError, match="MSL has no type f64") as raised:
        log_gamma(pk.zeros(4, pk.f32, device=device), ndrange=4)
    assert raised.value.span is not None and "pk.lgamma" in (raised.value.hint or "")
    assert refused.reason("vulkan:0", raised.value) is None
