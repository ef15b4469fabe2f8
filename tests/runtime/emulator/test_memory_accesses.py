"""Coalesced accesses and bank conflicts, counted on emulated GPUs: against counts by hand, and one by one in Python."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.emulator import access_counts
from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.memory_accesses import memory_accesses
from tests.runtime.emulator import ptx_kernels
from tests.runtime.emulator.test_matrix_moves import loading

LANES = {"cuda:emulated": 32, "rocm:emulated": 64, "rocm:emulated:gfx1100": 32}
SEGMENT = {"cuda:emulated": 32, "rocm:emulated": 64, "rocm:emulated:gfx1100": 64}
over_devices = pytest.mark.parametrize("device", LANES)


@pk.kernel(workgroup=64)
def gathered(y, x, at):
    i = pk.index()
    y[i] = x[at[i]]


@pk.kernel(workgroup=64)
def stepped(y, x, step: pk.static):
    held = pk.shared(64 * 33, pk.f32)
    k = pk.local_index()
    held[step * k] = x[pk.index()]
    pk.barrier()
    y[pk.index()] = held[step * k]


@pk.kernel(workgroup=64)
def every_other(y, x):
    i = pk.index()
    if i % 2 == 0:
        y[i] = 2 * x[i]


@pk.kernel
def first_along(y, x, width):
    i, j = pk.index()
    y[j * width + i] = 2 * x[j * width + i]


@pk.kernel(workgroup=(32, 8))
def first_along_in_groups(y, x, width):
    i, j = pk.index()
    y[j * width + i] = 2 * x[j * width + i]


@pk.kernel(workgroup=(16, 16))
def first_along_in_tiles(y, x, width):
    i, j = pk.index()
    a, b = pk.local_index()
    held = pk.shared((16, 16), pk.f32)
    held[b, a] = x[j * width + i]
    pk.barrier()
    y[j * width + i] = 2 * held[b, a]


def counted(kernel, *arrays, device, **keywords):
    there = [pk.array(a, device=device) if isinstance(a, np.ndarray) else a for a in arrays]
    with pk.memory_accesses() as found:
        kernel(*there, **keywords)
    return {(row.space, row.kind, row.source): row for row in found.lines}, there[0].numpy()


def segments_by_hand(addresses, lanes, segment):
    """Segments of each request in turn, for addresses of the first byte of each lane's f32."""
    requests = [addresses[at : at + lanes] for at in range(0, len(addresses), lanes)]
    return sum(len({int(a) // segment for a in request}) for request in requests)


@over_devices
def test_global_accesses_against_counting_one_by_one(device, rng):
    """Addresses of the device's arrays are multiples of its segments."""
    n, lanes, segment = 320, LANES[device], SEGMENT[device]
    x, at = rng.random(1000, dtype=np.float32), rng.integers(0, 1000, n, dtype=np.int32)
    found, y = counted(gathered, np.zeros(n, np.float32), x, at, device=device, ndrange=n)
    np.testing.assert_array_equal(y, x[at])
    read = found["global", "read", "y[i] = x[at[i]]"]
    write = found["global", "write", "y[i] = x[at[i]]"]
    rows = 4 * np.arange(n)
    assert write.transactions == write.least == segments_by_hand(rows, lanes, segment)
    assert write.requests == n // lanes and write.bytes == 4 * n and write.wasted == 0
    assert read.requests == 2 * n // lanes and read.bytes == 8 * n  # of `at`, and of x
    assert read.transactions == segments_by_hand(rows, lanes, segment) + segments_by_hand(
        4 * at, lanes, segment
    )
    requests = [set(at[k : k + lanes].tolist()) for k in range(0, n, lanes)]
    fewest = sum(math.ceil(4 * len(request) / segment) for request in requests)
    assert read.least == segments_by_hand(rows, lanes, segment) + fewest


@over_devices
@pytest.mark.parametrize("step", [1, 2, 3, 4, 8, 16, 32, 33])
def test_bank_conflicts_of_steps(step, device, rng):
    """Of 32 lanes with a step, gcd(step, 32) meet in a bank."""
    x = rng.random(128, dtype=np.float32)
    found, y = counted(stepped, np.zeros(128, np.float32), x, step, device=device, ndrange=128)
    np.testing.assert_array_equal(y, x)
    for kind, line in (
        ("write", "held[step * k] = x[pk.index()]"),
        ("read", "y[pk.index()] = held[step * k]"),
    ):
        row = found["shared", kind, line]
        assert (row.transactions, row.least) == (4 * math.gcd(step, 32), 4), kind  # of 4 times 32 lanes
        assert ("bank conflicts" in str(row)) and ("no bank conflicts" in str(row)) == (step % 2 == 1)


@over_devices
@pytest.mark.parametrize("kernel", [first_along, first_along_in_groups, first_along_in_tiles])
def test_a_first_dimension_along_memory_is_coalesced(kernel, device, rng):
    """As `x, y` of CUDA C++: a group's work-items are numbered along it."""
    width, height = 64, 32
    x = rng.random(width * height, dtype=np.float32)
    found, y = counted(kernel, 0 * x, x, width, device=device, ndrange=(width, height))
    np.testing.assert_array_equal(y, 2 * x)
    for (space, _, _), row in found.items():
        assert row.transactions == row.least == (4 * x.size // SEGMENT[device] if space == "global" else 64)


@over_devices
def test_lanes_that_do_not_take_part(device):
    found, _ = counted(
        every_other, np.zeros(128, np.float32), np.ones(128, np.float32), device=device, ndrange=128
    )
    row = found["global", "write", "y[i] = 2 * x[i]"]
    assert row.bytes == 4 * 64
    assert (row.transactions, row.least) == (512 // SEGMENT[device], 256 // SEGMENT[device])
    assert str(row).endswith("not coalesced")


@over_devices
def test_counts_add_up_and_end(device):
    """Also from compiled entries, which begin with the third launch, and of buffers that are full."""
    x, y = (pk.array(np.ones(4096, np.float32), device=device) for _ in range(2))
    at = pk.array(np.arange(4096, dtype=np.int32), device=device)
    gathered(y, x, at, ndrange=4096)
    with pk.memory_accesses() as one:
        gathered(y, x, at, ndrange=4096)
    with pk.memory_accesses() as found:
        for _ in range(4):
            gathered(y, x, at, ndrange=4096)
    gathered(y, x, at, ndrange=4096)
    assert len(found.lines) == 2
    for row, single in zip(found.lines, one.lines, strict=True):
        assert row.requests == 4 * single.requests and row.transactions == 4 * single.transactions
    assert {line for _, line in found.by_line()} == {found.lines[0].line}
    assert "y[i] = x[at[i]]" in str(found) and "coalesced" in str(found)


@over_devices
def test_a_small_buffer_gives_the_same(device, rng, monkeypatch):
    x, at = rng.random(1000, dtype=np.float32), rng.integers(0, 1000, 1280, dtype=np.int32)
    arrays = np.zeros(1280, np.float32), x, at
    whole, _ = counted(gathered, *arrays, device=device, ndrange=1280)
    monkeypatch.setattr(access_counts, "ROOM", 37)
    monkeypatch.setattr(access_counts, "_PENDING", 500)
    assert counted(gathered, *arrays, device=device, ndrange=1280)[0] == whole


def test_other_devices_are_not_counted():
    with pk.memory_accesses() as found:
        gathered(np.zeros(64, np.float32), np.ones(64, np.float32), np.zeros(64, np.int32), ndrange=64)
    assert found.lines == () and "no memory accesses" in str(found)


def traced(text, arrays, threads=32):
    memory = DeviceMemory(1 << 22)
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        ptx_kernels.place(address, array)
    with memory_accesses() as found:
        ptx_kernels.run(text, memory, (1, 1, 1), (threads, 1, 1), addresses)
    rows = defaultdict(list)
    for row in found.lines:
        rows[row.space, row.kind].append(row)
    return rows


VECTORS = """{head}
.visible .entry f(.param .u64 p0, .param .u64 p1)
{{
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd2, %r0, {step}, %rd1;
ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%rd2];
mad.wide.u32 %rd3, %r0, 4, %rd0;
st.global.b32 [%rd3], %r1;
ret;
}}
"""


@pytest.mark.parametrize(("step", "sectors", "least"), [(16, 16, 16), (32, 32, 16), (64, 32, 16), (0, 1, 1)])
def test_vectors_of_four(step, sectors, least):
    text = VECTORS.format(head=ptx_kernels.HEAD, step=step)
    (row,) = traced(text, [np.zeros(32, np.int32), np.zeros(1024, np.int32)])["global", "read"]
    assert (row.requests, row.bytes, row.transactions, row.least) == (1, 512, sectors, least)


@pytest.mark.parametrize(("count", "steps"), [(1, 1), (2, 2), (4, 4)])
def test_matrices_of_rows_side_by_side_have_no_conflicts(count, steps):
    """`ldmatrix` reads 8 rows of 16 bytes at a time."""
    words = np.zeros(1024, np.int32)
    (row,) = traced(loading(count, ""), [words, words, words])["shared", "read"]
    assert (row.requests, row.transactions, row.least) == (1, steps, steps)
