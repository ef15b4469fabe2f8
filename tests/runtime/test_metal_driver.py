"""The driver of Metal over the classes that stand for the framework: copies, streams, limits, and what it refuses."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pykern as pk
from pykern.data.artifact import Artifact, DeviceCode
from pykern.errors import DeviceError
from pykern.runtime import registry
from pykern.runtime.driver import Missing
from pykern.runtime.drivers.metal.facts import describe
from pykern.runtime.drivers.metal.stream import MOST

DEVICE = "metal:emulated"
pytestmark = pytest.mark.parametrize("device", [DEVICE], indirect=True)


@pk.kernel
def moved(to, source):
    i = pk.index()
    to[i] = source[i] + 1


@pk.kernel
def delayed(to, source, rounds):
    """As `moved`, after a while."""
    i = pk.index()
    value = source[i]
    for _ in range(rounds):
        value = (value * 3 + 1) % 7
    to[i] = source[i] + 1 + value // 7


ROUNDS = 20_000_000
"""Of `delayed`: some tenths of a second."""


def loaded(driver, text, memories, slots, group=(32,)):
    code = DeviceCode("msl", ("memory",) * memories + ("slot",) * slots)
    return driver.load(
        Artifact("", "k", "source:msl+words", "k", binary=text.encode(), workgroup=group, device=code)
    )


def text_of(body, words=1):
    fields = "\n".join(f"    long w{n};" for n in range(words))
    return f"""#include <metal_stdlib>
using namespace metal;
struct Words {{
{fields}
}};
kernel void k(
    device int *out [[buffer(0)]],
    constant Words &words [[buffer(1)]],
    uint3 local_id [[thread_position_in_threadgroup]],
    uint3 group_id [[threadgroup_position_in_grid]]
) {{
    {body}
}}
"""


def test_its_names(device):
    assert str(pk.device(device)) == "metal:emulated:0"
    assert pk.device(device).info.target == "source:msl+words+simd+bfloat"
    assert not [each for each in pk.devices() if each.name.startswith("metal:emulated")]
    with pytest.raises(DeviceError, match="no device 'metal:emulated:fast'") as raised:
        pk.device("metal:emulated:fast")
    assert raised.value.hint == "write metal:emulated:0"


@pytest.mark.skipif(sys.platform == "darwin", reason="this machine may have one")
def test_there_is_none_elsewhere(device):
    with pytest.raises(DeviceError, match="no device 'metal': Metal belongs to macOS") as raised:
        pk.device("metal")
    assert "metal:emulated" in (raised.value.hint or "")


def test_without_a_compiler_it_says_what_is_needed(device, monkeypatch):
    from pykern.runtime.metal_emulator import RUNTIME, compile

    monkeypatch.setattr(compile, "compiler", lambda: None)
    found = RUNTIME.devices()
    assert isinstance(found, Missing) and "no compiler of C++" in found.reason


def test_devices_without_lanes_are_given_no_shuffles(device):
    from pykern.runtime.metal_emulator import RUNTIME, framework

    class Older(framework.Device):
        def supportsFamily_(self, family):  # noqa: N802
            return family < framework.MTLGPUFamilyApple7

    older = describe(RUNTIME.framework(), Older(), "metal", 3)
    assert (older.target, older.subgroup_size, older.ordinal) == ("source:msl+words", 0, 3)
    assert not {"f64", "f8e4m3"} & older.dtypes and "i64" not in older.atomics


@pytest.mark.parametrize(("system", "has"), [("", True), ("13.6.1", False), ("14.0", True), ("26.1", True)])
def test_matrices_of_bf16_are_used_from_macos_14_on(device, system, has, monkeypatch):
    from pykern.runtime.metal_emulator import RUNTIME, framework

    monkeypatch.setattr("platform.mac_ver", lambda: (system, ("", "", ""), ""))
    told = describe(RUNTIME.framework(), framework.Device(), "metal", 0)
    assert told.target == "source:msl+words+simd" + "+bfloat" * has


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("busy", [False, True])
def test_copies_of_any_size(device, busy, rng):
    """Those of a stream at rest are the host's; the others are the device's, or wait."""
    wanted = rng.integers(0, 256, 64).astype(np.uint8)
    opened = registry.opened(device)
    driver, stream = opened.driver, opened.driver.stream("normal")
    memory = driver.allocate(64)
    x, y = (driver.allocate(4) for _ in range(2))
    spin = loaded(
        driver, text_of("int v = 1; for (long n = 0; n < words.w0; n++) v = v * 3 + 1; *out = v;"), 1, 1
    )

    def occupied():
        if busy:
            driver.launch(stream, spin, [x, 3_000_000], (1, 1, 1), (1, 1, 1), 0)
            assert not stream.is_idle()

    occupied()
    driver.copy_in(stream, memory, 0, wanted)
    for offset, size in ((1, 1), (3, 2), (5, 11), (62, 2), (0, 7), (8, 16)):
        part = np.full(size, 190 + offset, np.uint8)
        occupied()
        driver.copy_in(stream, memory, offset, part)
        wanted[offset : offset + size] = part
    for offset, pattern, size in ((21, b"\7", 5), (32, b"\0", 8), (12, b"\1\2\3\4", 12)):
        occupied()
        driver.fill(stream, memory, offset, pattern, size)
        wanted[offset : offset + size] = np.frombuffer(pattern * size, np.uint8)[:size]
    for to, source, size in ((41, 2, 9), (8, 4, 12), (48, 16, 16), (0, 20, 4)):
        occupied()
        driver.copy(stream, memory, to, memory, source, size)
        wanted[to : to + size] = wanted[source : source + size].copy()
    occupied()
    found = np.zeros(64, np.uint8)
    driver.copy_out(stream, found, memory, 0)
    np.testing.assert_array_equal(found, wanted)
    for piece in (memory, x, y):
        driver.free(piece)


def test_two_arguments_may_be_parts_of_one_buffer(device):
    x = pk.array(np.arange(16, dtype=np.float32), device=device)
    moved(x[8:], x[:8], ndrange=8)
    np.testing.assert_array_equal(x.numpy(), [*range(8), *range(1, 9)])


def test_a_piece_that_no_buffer_holds_is_refused(device):
    info = registry.info(device)
    with pytest.raises(pk.OutOfMemory, match="at most"):
        registry.opened(device).driver.allocate(info.max_allocation + 4)


def test_no_room(device, monkeypatch):
    from pykern.runtime.metal_emulator import framework

    monkeypatch.setattr(framework.Device, "newBufferWithLength_options_", lambda *_: None)
    with pytest.raises(pk.OutOfMemory, match="no room for a buffer of 12 bytes"):
        registry.opened(device).driver.allocate(12)


# -- streams and events ----------------------------------------------------------------------------


def test_launches_are_committed_before_anybody_asks(device):
    x = pk.zeros(4, pk.i32, device=device)
    stream = pk.Stream(device)
    for _ in range(3 * MOST):
        moved(x, x, ndrange=4, stream=stream)
    assert stream.native.last.number >= 3
    stream.synchronize()
    assert (x.numpy() == 3 * MOST).all()


def test_a_stream_waits_for_another(device):
    x, y, z = (pk.zeros(4, pk.i32, device=device) for _ in range(3))
    one, other = pk.Stream(device), pk.Stream(device)
    delayed(y, x, ROUNDS, ndrange=4, stream=one)
    event = one.record()
    assert not event.done
    other.wait(event)
    moved(z, y, ndrange=4, stream=other)
    other.synchronize()
    assert event.done
    np.testing.assert_array_equal(z.numpy(), 2)


def test_times_go_on(device):
    x = pk.zeros(1 << 12, pk.i32, device=device)
    stream, start, end = pk.Stream(device), pk.Event(), pk.Event()
    moved(x, x, ndrange=1 << 12, stream=stream)
    start.record(stream)
    for _ in range(5):
        moved(x, x, ndrange=1 << 12, stream=stream)
    end.record(stream)
    end.wait()
    assert end.done and start.done and start.elapsed(end) > 0


# -- kernels ---------------------------------------------------------------------------------------


def test_more_numbers_than_a_command_carries(device):
    driver = registry.opened(device).driver
    stream, out = driver.stream("normal"), driver.allocate(4)
    code = loaded(driver, text_of("*out = (int)(words.w0 + words.w599);", words=600), 1, 600)
    driver.launch(stream, code, [out, 7, *range(1, 599), -3], (1, 1, 1), (1, 1, 1), 0)
    found = np.zeros(1, np.int32)
    driver.copy_out(stream, found, out, 0)
    assert found[0] == 4


def test_more_arrays_than_a_kernel_has_buffers(device):
    code = DeviceCode("msl", ("memory",) * 31)
    artifact = Artifact("", "wide", "source:msl+words", "wide", binary=b"", workgroup=(32,), device=code)
    with pytest.raises(DeviceError, match="wide takes 31 pieces of memory; a kernel of Metal has 30 at most"):
        registry.opened(device).driver.load(artifact)


def test_a_text_that_the_compiler_refuses(device):
    with pytest.raises(DeviceError, match=r"(?s)Metal refuses `k`:.*kernel.metal:12:\d+: error: .nothing"):
        loaded(registry.opened(device).driver, text_of("*out = nothing;"), 1, 1)
    text = text_of("*out = 1;").replace("void k", "void other")
    with pytest.raises(DeviceError, match="it is not in its library"):
        loaded(registry.opened(device).driver, text, 1, 1)


def test_groups_that_registers_do_not_suffice_for(device, monkeypatch):
    from pykern.runtime.metal_emulator import framework

    monkeypatch.setattr(framework.Pipeline, "maxTotalThreadsPerThreadgroup", lambda _: 16)
    with pytest.raises(DeviceError, match="a group has 16 work-items at most") as raised:
        loaded(registry.opened(device).driver, text_of("*out = 1;"), 1, 1)
    assert raised.value.hint == "give a smaller workgroup="


def test_subgroups_of_another_size(device, monkeypatch):
    from pykern.runtime.metal_emulator import framework

    monkeypatch.setattr(framework.Pipeline, "threadExecutionWidth", lambda _: 64)
    with pytest.raises(DeviceError, match="its subgroups have 64 here"):
        loaded(registry.opened(device).driver, text_of("*out = simd_shuffle_xor(1, ushort(1));"), 1, 1)


def test_older_systems_are_asked_for_exact_floats_by_another_name(device, monkeypatch):
    from pykern.runtime.metal_emulator import framework

    asked = []
    monkeypatch.delattr(framework.MTLCompileOptions, "setMathMode_")
    monkeypatch.setattr(framework.MTLCompileOptions, "setFastMathEnabled_", lambda _, on: asked.append(on))
    loaded(registry.opened(device).driver, text_of("*out = 1;"), 1, 1)
    assert asked == [False]


def test_work_items_that_wait_at_different_places(device):
    """An error that names the kernel; the device goes on."""
    driver = registry.opened(device).driver
    stream, out = driver.stream("normal"), driver.allocate(4)
    meet = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    for condition in ("local_id.x < 5", "local_id.x < 5 && local_id.x > words.w0"):
        code = loaded(driver, text_of(f"if ({condition}) {{ {meet} }} *out = 1;"), 1, 1)
        driver.launch(stream, code, [out, 1], (1, 1, 1), (32, 1, 1), 0)
        with pytest.raises(DeviceError, match=r"wait at different places.*launched here: `k`"):
            driver.synchronize(stream)
    x = pk.zeros(4, pk.i32, device=device)
    moved(x, x, ndrange=4)
    assert (x.numpy() == 1).all()


def test_what_pyobjc_raises_is_an_error_of_the_device(device, monkeypatch):
    from pykern.runtime.metal_emulator import framework

    def refuse(*_):
        raise ValueError("depythonifying 'unsigned long long', got 'str'")

    monkeypatch.setattr(framework.Device, "newCommandQueue", refuse)
    with pytest.raises(DeviceError, match="Metal: a command queue: depythonifying"):
        pk.Stream(device)


def test_a_framework_without_gpus(device, monkeypatch):
    from pykern.runtime.drivers.metal import MetalRuntime
    from pykern.runtime.drivers.metal.framework import Framework

    runtime = MetalRuntime()
    empty = SimpleNamespace(MTLCreateSystemDefaultDevice=lambda: None, MTLCopyAllDevices=lambda: None)
    there = Framework(empty, lambda: __import__("contextlib").nullcontext(), (ValueError,))
    monkeypatch.setattr(runtime, "framework", lambda: there)
    found = runtime.devices()
    assert isinstance(found, Missing) and found.reason == "Metal finds no GPU"
