"""The driver of WebGPU: what an adapter tells, copies that are no multiple of four bytes, arguments in one buffer."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry
from pykern.runtime.drivers.webgpu.facts import LIMITS, describe, refusal

WEBGPU = pytest.mark.parametrize("device", ["webgpu:0"], indirect=True)


def adapter(features: tuple[str, ...], backend: str = "Vulkan", vendor: str = "NVIDIA") -> SimpleNamespace:
    about = {
        "backend_type": backend,
        "adapter_type": "DiscreteGPU",
        "device": "a GPU",
        "vendor": vendor,
        "description": "1.0",
    }
    return SimpleNamespace(info=about, features=set(features), limits=dict.fromkeys(LIMITS, 1024))


def test_an_adapter_tells_its_types_by_the_target():
    whole = describe(adapter(("shader-int64", "shader-f16", "shader-f64")), 0)
    assert whole.target == "source:wgsl+words+i64+f16+f64" and {"f16", "f64", "i64"} <= whole.dtypes
    plain = describe(adapter(("shader-int64",)), 0)
    assert plain.target == "source:wgsl+words+i64" and "f64" not in plain.dtypes
    least = describe(adapter(()), 0)
    assert least.target == "source:wgsl+words" and {"i64", "f16"} <= least.dtypes
    assert not {"i64", "u64"} & least.atomics
    assert describe(adapter(("shader-int64",), vendor="llvmpipe"), 0).target.endswith("+lavapipe")


@pytest.mark.parametrize(
    ("device", "vendor", "sizes", "lanes"),
    [
        ("a GPU", "NVIDIA", (32, 32), 32),
        ("a GPU", "Intel", (8, 32), 0),  # each kernel may have another
        ("a GPU", "AMD", (64, 64), 0),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe", (4, 128), 8),
        ("llvmpipe (LLVM 15.0.6, 128 bits)", "llvmpipe", (4, 128), 4),
        ("llvmpipe", "llvmpipe", (4, 128), 0),
    ],
)
def test_lanes_of_a_subgroup_are_used_where_every_kernel_has_as_many(device, vendor, sizes, lanes):
    told = adapter(("subgroup",), vendor=vendor)
    told.info |= {"device": device, "subgroup_min_size": sizes[0], "subgroup_max_size": sizes[1]}
    info = describe(told, 0)
    assert info.subgroup_size == lanes and (f"+subgroups{lanes}" in info.target) == (lanes > 0)
    told.features.clear()
    assert describe(told, 0).subgroup_size == 0


def test_adapters_that_are_of_no_use_are_named_with_the_reason():
    assert "OpenGL" in refusal(adapter(("shader-int64",), backend="OpenGL"))
    assert refusal(adapter(("shader-int64",))) == ""


def test_floats_that_a_device_lacks_are_refused_at_the_line():
    @pk.kernel
    def doubled(x):
        x[pk.index()] *= 2.0

    for target in ("source:wgsl+words", "source:wgsl+words+i64"):
        with pytest.raises(pk.TargetError, match="has no type f64") as raised:
            doubled.lower(pk.spec((8,), pk.f64), ndrange=8, target=target)
        assert raised.value.span is not None


@WEBGPU
def test_copies_that_are_no_multiple_of_four_bytes(device):
    wanted = np.arange(64, dtype=np.uint8)
    driver = registry.opened(device).driver
    memory, stream = driver.allocate(64), driver.stream("normal")
    driver.copy_in(stream, memory, 0, wanted)
    for offset, size in ((1, 1), (3, 2), (5, 11), (62, 2), (0, 7)):
        part = np.full(size, 190 + offset, np.uint8)
        driver.copy_in(stream, memory, offset, part)
        wanted[offset : offset + size] = part
    driver.fill(stream, memory, 21, b"\7", 5)
    wanted[21:26] = 7
    driver.fill(stream, memory, 32, b"\0", 8)
    wanted[32:40] = 0
    driver.copy(stream, memory, 41, memory, 2, 9)
    wanted[41:50] = wanted[2:11].copy()
    driver.copy(stream, memory, 8, memory, 4, 12)
    wanted[8:20] = wanted[4:16].copy()
    found = np.zeros(64, np.uint8)
    driver.copy_out(stream, found, memory, 0)
    np.testing.assert_array_equal(found, wanted)
    assert [driver.copy_out(stream, found[:3], memory, at) or list(found[:3]) for at in (13, 61)] == [
        list(wanted[at : at + 3]) for at in (13, 61)
    ]
    driver.free(memory)


@pk.kernel
def moved(to, source):
    i = pk.index()
    to[i] = source[i] + 1


@WEBGPU
def test_two_arguments_may_be_parts_of_one_buffer(device):
    x = pk.array(np.arange(16, dtype=np.float32), device=device)
    moved(x[8:], x[:8], ndrange=8)
    np.testing.assert_array_equal(x.numpy(), [*range(8), *range(1, 9)])


@WEBGPU
def test_more_launches_than_their_numbers_have_room_for(device):
    x = pk.zeros(4, pk.i32, device=device)
    for _ in range(600):
        moved(x, x, ndrange=4)
    assert (x.numpy() == 600).all()


@WEBGPU
def test_times_go_on(device):
    x = pk.zeros(1 << 16, pk.i32, device=device)
    stream, start, end = pk.Stream(device), pk.Event(), pk.Event()
    moved(x, x, ndrange=1 << 16, stream=stream)
    start.record(stream)
    for _ in range(5):
        moved(x, x, ndrange=1 << 16, stream=stream)
    end.record(stream)
    end.wait()
    assert end.done and start.done and start.elapsed(end) > 0


@WEBGPU
def test_a_piece_that_no_kernel_could_see_is_refused(device):
    info = registry.info(device)
    with pytest.raises(pk.OutOfMemory, match="lets a kernel see"):
        registry.opened(device).driver.allocate(info.max_allocation + 4)


@pk.kernel
def scaled(x, by):
    i = pk.index()
    x[i] = x[i] * by


@WEBGPU
@pytest.mark.parametrize("options", ["words+i64+lavapipe", "words+lavapipe"])
def test_python_floats_on_a_device_without_floats_of_64_bits(device, options, monkeypatch):
    """They come in 64 bits all the same."""
    opened = registry.opened(device)
    narrow = replace(opened.info, target=f"source:wgsl+{options}")
    monkeypatch.setattr(opened, "info", narrow)
    numbers = [2.5, -1 / 3, 1e-45, 1e300, -0.0, 3.4028235677973366e38, float("inf"), 1 + 2**-24]
    for number in numbers:
        x = pk.array(np.ones(3, np.float32), device=device)
        scaled(x, number, ndrange=3)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(x.numpy(), np.full(3, np.float32(number)))
    text = scaled.lower(x, 2.0, ndrange=3, target=narrow.target).compile().source
    assert "f64" not in text
