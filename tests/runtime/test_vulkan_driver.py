"""The Vulkan driver on a device of this machine, against NumPy; the kernels are not the compiler's.

Without a device these tests are skipped, unless PYKERN_TEST_REQUIRE names vulkan.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime import registry
from pykern.runtime.driver import Memory, Missing
from pykern.runtime.drivers.vulkan import RUNTIME
from tests.runtime import vulkan_kernels as kernels

DTYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
GROUP = (64, 1, 1)


@pytest.fixture(scope="module")
def driver():
    found = RUNTIME.devices()
    if isinstance(found, Missing):
        if "vulkan" in os.environ.get("PYKERN_TEST_REQUIRE", "").split(","):
            pytest.fail(f"no Vulkan device: {found.reason}")
        pytest.skip(f"no Vulkan device: {found.reason}")
    return RUNTIME.open(RUNTIME.devices()[0])


@pytest.fixture
def stream(driver):
    return driver.stream("normal")


@pytest.fixture(scope="module")
def codes(driver):
    """Kernels, loaded when a test first asks for them."""
    loaded = {}

    def get(name, *arguments):
        if (name, *arguments) not in loaded:
            loaded[(name, *arguments)] = driver.load(getattr(kernels, name)(*arguments))
        return loaded[(name, *arguments)]

    return get


def on_device(driver, stream, array):
    memory = driver.allocate(array.nbytes)
    driver.copy_in(stream, memory, 0, array)
    return memory


def read(driver, stream, memory, like):
    out = np.full_like(like, 77)
    driver.copy_out(stream, out, memory, 0)
    driver.synchronize(stream)
    return out


def bits(value) -> int:
    array = np.asarray(value)
    return int(array.view(f"u{array.itemsize}"))


def random(rng, count, dtype):
    if np.issubdtype(dtype, np.floating):
        return rng.standard_normal(count).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, count, dtype, endpoint=True)


def generated(values, rounds):
    """What the kernel `generator` does."""
    values = values.astype(np.uint32)
    for _ in range(rounds):
        values = values * np.uint32(1664525) + np.uint32(1013904223)
    return values.view(np.int32)


def axpy(driver, stream, code, x, ox, a, y, oy, n):
    groups = -(-n // 64)
    driver.launch(stream, code, [x, ox, y, oy, bits(a), n, 0], (groups, 1, 1), GROUP, 0)


# -- what there is --------------------------------------------------------------------------------


def test_devices_are_described(driver):
    found = RUNTIME.devices()
    assert [one.ordinal for one in found] == list(range(len(found)))
    kinds = [one.facts["kind"] for one in found]
    assert kinds == sorted(kinds, key=["discrete", "integrated", "virtual", "other", "software"].index)
    info = driver.info
    assert info == found[0] and info.target.removesuffix("+lavapipe") in (
        "spirv:vulkan1.2",
        "spirv:vulkan1.3",
    )
    assert {"f32", "i32", "u32", "bool"} <= info.dtypes
    assert {"i32", "u32"} <= info.atomics
    assert info.memory_bytes > 0 and info.shared_bytes >= 16384 and info.subgroup_size >= 1
    assert info.max_group >= 128 and info.max_grid >= (65535,) * 3
    assert info.facts["max_storage_range"] >= 1 << 27 and "Shader" in info.facts["capabilities"]


def test_a_device_that_is_not_there():
    with pytest.raises(DeviceError, match="no device 'vulkan:99'"):
        registry.info("vulkan:99")


@pytest.mark.parametrize(
    ("hidden", "reason"),
    [
        ("import sys; sys.modules['vulkan'] = None", "package vulkan"),
        ("import os; os.environ['VK_ICD_FILENAMES'] = os.environ['VK_DRIVER_FILES'] = '/nowhere'", "driver"),
        (
            "import sys\nclass Gone:\n    def find_spec(self, name, *_):\n"
            "        if name == 'vulkan': raise OSError('Cannot find Vulkan SDK version')\n"
            "sys.meta_path.insert(0, Gone())",
            "loader",
        ),
    ],
)
def test_missing_says_why(driver, hidden, reason):
    """In a process of its own that lacks the package, the drivers, the loader."""
    program = f"{hidden}\nfrom pykern.runtime.drivers.vulkan import RUNTIME\nprint(RUNTIME.devices())\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("Missing(") and reason in run.stdout, run.stdout + run.stderr


# -- launches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000, 40_001])
def test_axpy(driver, stream, codes, rng, dtype, n):
    if dtype not in driver.info.dtypes:
        pytest.skip(f"{driver.info.name} has no {dtype}")
    kind = DTYPES[dtype]
    ox, oy, tail = 5, 3, 11
    x, y = random(rng, n + ox, kind), random(rng, n + oy + tail, kind)
    a = random(rng, 1, kind)[0]
    device_x, device_y = on_device(driver, stream, x), on_device(driver, stream, y)
    axpy(driver, stream, codes("axpy", dtype), device_x, ox, a, device_y, oy, n)
    expected = y.copy()
    if kind == np.float16:
        expected[oy : oy + n] = (a * x[ox:]).astype(kind) + y[oy : oy + n]
    elif np.issubdtype(kind, np.floating):
        expected[oy : oy + n] = a * x[ox:] + y[oy : oy + n]
    else:
        with np.errstate(over="ignore"):
            expected[oy : oy + n] = a * x[ox:] + y[oy : oy + n]
    got = read(driver, stream, device_y, y)
    if np.issubdtype(kind, np.floating):  # the device may fuse multiply and add
        np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(kind).eps, atol=4 * np.finfo(kind).eps)
    else:
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(got[oy + n :], y[oy + n :])
    driver.free(device_x)
    driver.free(device_y)


def test_a_launch_cut_in_parts(driver, stream, codes):
    """The word `first group` tells the code where it stands."""
    n = 10 * 64 + 7
    memory = on_device(driver, stream, np.arange(n, dtype=np.int32))
    code = codes("generator")
    for first, groups in ((0, 4), (4, 5), (9, 2)):
        driver.launch(stream, code, [memory, 0, 1, n, first], (groups, 1, 1), GROUP, 0)
    np.testing.assert_array_equal(
        read(driver, stream, memory, np.empty(n, np.int32)), generated(np.arange(n), 1)
    )


def test_negative_and_large_words(driver, stream, codes):
    x = np.array([3, -4], np.int64)
    device_x, device_y = on_device(driver, stream, x), on_device(driver, stream, np.zeros(2, np.int64))
    for a in (-7, (1 << 64) - 7):
        driver.fill(stream, device_y, 0, b"\0", 16)
        driver.launch(stream, codes("axpy", "i64"), [device_x, 0, device_y, 0, a, 2, 0], (1, 1, 1), GROUP, 0)
        np.testing.assert_array_equal(read(driver, stream, device_y, x), -7 * x)


def test_an_empty_grid_runs_nothing(driver, stream, codes):
    memory = on_device(driver, stream, np.ones(4, np.int32))
    driver.launch(stream, codes("generator"), [memory, 0, 1, 4, 0], (0, 1, 1), GROUP, 0)
    np.testing.assert_array_equal(read(driver, stream, memory, np.ones(4, np.int32)), np.ones(4))


def test_memory_of_no_bytes(driver, stream, codes):
    nothing = driver.allocate(0)
    driver.copy_in(stream, nothing, 0, np.empty(0, np.float32))
    driver.copy_out(stream, np.empty((0, 3)), nothing, 0)
    driver.fill(stream, nothing, 0, b"\1", 0)
    axpy(driver, stream, codes("axpy", "f32"), nothing, 0, np.float32(1), nothing, 0, 0)
    driver.launch(stream, codes("generator"), [nothing, 0, 1, 0, 0], (1, 1, 1), GROUP, 0)
    driver.synchronize(stream)
    driver.free(nothing)


# -- copies and fills -----------------------------------------------------------------------------


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("n", [1, 3, 1000, (1 << 24) + 13])
def test_copies(driver, stream, codes, rng, n, busy, pinned):
    """To the device at an odd offset, on the device, and back; also behind work under way."""
    data = rng.integers(0, 256, n, np.uint8)
    if busy:
        work = on_device(driver, stream, np.zeros(4096, np.int32))
        driver.launch(stream, codes("generator"), [work, 0, 3000, 4096, 0], (64, 1, 1), GROUP, 0)
    first, second = driver.allocate(n + 9), driver.allocate(n + 5)
    driver.fill(stream, second, 0, b"\xab", n + 5)
    source, out = data, np.zeros(n + 5, np.uint8)
    if pinned:
        source, out = driver.pinned(n), driver.pinned(n + 5)
        source[:], out[:] = data, 0
    driver.copy_in(stream, first, 7, source)
    driver.copy(stream, second, 2, first, 7, n)
    driver.copy_out(stream, out, second, 0)
    event = driver.record(stream)
    driver.wait(event)
    assert driver.done(event)
    np.testing.assert_array_equal(out[2:-3], data)
    np.testing.assert_array_equal(out[[0, 1, -3, -2, -1]], 0xAB)
    for memory in (first, second):
        driver.free(memory)


@pytest.mark.parametrize(("to", "source"), [(100, 0), (0, 100), (1, 0), (50, 50)])
def test_copies_within_one_piece(driver, stream, rng, to, source):
    data = rng.integers(0, 256, 5000, np.uint8)
    memory = on_device(driver, stream, data)
    driver.copy(stream, memory, to, memory, source, 4000)
    expected = data.copy()
    expected[to : to + 4000] = data[source : source + 4000]
    np.testing.assert_array_equal(read(driver, stream, memory, data), expected)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("offset", [0, 1, 2, 4, 8])
@pytest.mark.parametrize("count", [1, 3, 700, 300_001])
def test_fills(driver, stream, rng, size, offset, count):
    pattern = rng.integers(0, 256, size, np.uint8)
    memory = driver.allocate(offset + count * size + 3)
    driver.fill(stream, memory, 0, b"\x55", memory.nbytes)
    driver.fill(stream, memory, offset, pattern.tobytes(), count * size)
    got = read(driver, stream, memory, np.empty(memory.nbytes, np.uint8))
    expected = np.full(memory.nbytes, 0x55, np.uint8)
    expected[offset:-3] = np.tile(pattern, count)
    np.testing.assert_array_equal(got, expected)
    driver.free(memory)


def test_arrays_of_any_shape_and_dtype(driver, stream, rng):
    data = rng.standard_normal((3, 5, 2)).astype(np.float16)
    memory = on_device(driver, stream, data)
    np.testing.assert_array_equal(read(driver, stream, memory, data), data)
    scalar = on_device(driver, stream, np.array(2.5))
    np.testing.assert_array_equal(read(driver, stream, scalar, np.array(0.0)), 2.5)


# -- order ----------------------------------------------------------------------------------------


def test_launches_return_before_they_are_done(driver, stream, codes):
    values = np.arange(4096, dtype=np.int32)
    memory = on_device(driver, stream, values)
    rounds = 20_000
    driver.launch(stream, codes("generator"), [memory, 0, rounds, 4096, 0], (64, 1, 1), GROUP, 0)
    event = driver.record(stream)
    out = np.zeros_like(values)
    driver.copy_out(stream, out, memory, 0)
    assert not driver.done(event)
    assert not out.any()
    driver.synchronize(None)
    assert driver.done(event)
    np.testing.assert_array_equal(out, generated(values, rounds))


def test_streams_wait_for_events(driver, codes):
    """A long launch on one stream; others read its result, one behind the other, and the host waits for the last."""
    values = np.arange(2048, dtype=np.int32)
    streams = [driver.stream(priority) for priority in ("high", "normal", "low")]
    memory = on_device(driver, streams[0], values)
    copies = [driver.allocate(memory.nbytes) for _ in streams]
    out = [np.zeros_like(values) for _ in streams]
    rounds, source = 2000, memory
    for stream, copy, host in zip(streams, copies, out, strict=True):
        driver.launch(stream, codes("generator"), [source, 0, rounds, 2048, 0], (32, 1, 1), GROUP, 0)
        driver.copy(stream, copy, 0, source, 0, memory.nbytes)
        driver.copy_out(stream, host, copy, 0)
        event = driver.record(stream)
        for other in streams:
            driver.stream_wait(other, event)
        source = copy
    driver.wait(event)
    for number, host in enumerate(out, 1):
        np.testing.assert_array_equal(host, generated(values, number * rounds))


def test_a_copy_waits_for_the_event_of_another_stream(driver, codes):
    """An idle stream that has to wait does not copy at once."""
    values = np.arange(4096, dtype=np.int32)
    working, copying = driver.stream("normal"), driver.stream("normal")
    memory = on_device(driver, working, values)
    driver.launch(working, codes("generator"), [memory, 0, 5000, 4096, 0], (64, 1, 1), GROUP, 0)
    driver.stream_wait(copying, driver.record(working))
    np.testing.assert_array_equal(read(driver, copying, memory, values), generated(values, 5000))


def test_more_waits_than_one_submission_takes(driver, codes):
    streams = [driver.stream("normal") for _ in range(40)]
    count = on_device(driver, streams[0], np.zeros(1, np.int32))
    last = driver.stream("normal")
    for stream in streams:
        driver.launch(stream, codes("tally"), [count, 0, 100, 0], (2, 1, 1), GROUP, 0)
        driver.stream_wait(last, driver.record(stream))
    assert read(driver, last, count, np.zeros(1, np.int32))[0] == 4000


def test_a_thousand_launches_leave_nothing_behind(driver, stream, codes):
    """More than may be under way at once, and more slots than the ring holds."""
    n = 300
    memory = on_device(driver, stream, np.zeros(n, np.int32))
    code = codes("generator")
    driver.launch(stream, code, [memory, 0, 0, n, 0], (5, 1, 1), GROUP, 0)
    driver.synchronize(stream)
    gc.collect()
    before = driver.statistics()
    for _ in range(1000):
        driver.launch(stream, code, [memory, 0, 1, n, 0], (5, 1, 1), GROUP, 0)
        driver.record(stream)
    got = read(driver, stream, memory, np.zeros(n, np.int32))
    np.testing.assert_array_equal(got, generated(np.zeros(n, np.int32), 1000))
    for _ in range(300):  # new memory each time, so new descriptors: the old ones are used again
        temporary = driver.allocate(1024)
        driver.launch(stream, code, [temporary, 0, 0, 4, 0], (1, 1, 1), GROUP, 0)
        driver.free(temporary)
    driver.synchronize(stream)
    after = driver.statistics()
    assert {k: v["used_bytes"] for k, v in after.items()} == {k: v["used_bytes"] for k, v in before.items()}
    assert len(code.handles.pools) <= 6


def test_words_under_way_are_not_written_over(driver, stream, codes, monkeypatch):
    """Every launch adds another number; a ring of a few launches must make the host wait."""
    monkeypatch.setattr("pykern.runtime.drivers.vulkan.driver.RING_BYTES", 512)
    stream = driver.stream("normal")
    x, y = np.ones(1, np.int64), np.zeros(1, np.int64)
    device_x, device_y = on_device(driver, stream, x), on_device(driver, stream, y)
    for a in range(500):
        driver.launch(stream, codes("axpy", "i64"), [device_x, 0, device_y, 0, a, 1, 0], (1, 1, 1), GROUP, 0)
    assert read(driver, stream, device_y, y)[0] == sum(range(500))


def test_memory_freed_under_way_stays_until_it_is_done(driver, stream, codes):
    values = np.arange(4096, dtype=np.int32)
    memory, kept = on_device(driver, stream, values), driver.allocate(values.nbytes)
    driver.launch(stream, codes("generator"), [memory, 0, 10_000, 4096, 0], (64, 1, 1), GROUP, 0)
    driver.copy(stream, kept, 0, memory, 0, memory.nbytes)
    driver.free(memory)
    others = [driver.allocate(values.nbytes) for _ in range(4)]
    assert all(
        one.handle.offset != memory.handle.offset for one in others if one.handle.block is memory.handle.block
    )
    np.testing.assert_array_equal(read(driver, stream, kept, values), generated(values, 10_000))


def test_streams_and_pinned_memory_go_back(driver, codes):
    """The first round may take a block of memory that the driver keeps for later; further rounds take no more."""

    def use_memory() -> None:
        stream = driver.stream("low")
        host = driver.pinned(1 << 16)
        host[:] = 3
        memory = driver.allocate(1 << 16)
        driver.copy_in(stream, memory, 0, host)
        driver.launch(stream, codes("generator"), [memory, 0, 1, 10, 0], (1, 1, 1), GROUP, 0)
        driver.free(memory)

    def statistics() -> dict:
        driver.synchronize(None)
        gc.collect()
        return driver.statistics()

    use_memory()
    before = statistics()
    for _ in range(20):
        use_memory()
    assert statistics() == before


def test_threads(driver, codes):
    """Streams of several threads, and one counter for all."""
    total = driver.allocate(4)
    start = driver.stream("normal")
    driver.fill(start, total, 0, b"\0", 4)
    driver.synchronize(start)
    codes("tally"), codes("generator")
    failures = []

    def work(seed):
        try:
            stream = driver.stream("normal")
            values = np.random.default_rng(seed).integers(-1000, 1000, 500 + seed).astype(np.int32)
            n = values.size
            for round_ in range(1, 16):
                memory = on_device(driver, stream, values)
                driver.launch(stream, codes("generator"), [memory, 0, round_, n, 0], (16, 1, 1), GROUP, 0)
                driver.launch(stream, codes("tally"), [total, 0, n, 0], (16, 1, 1), GROUP, 0)
                np.testing.assert_array_equal(read(driver, stream, memory, values), generated(values, round_))
                driver.free(memory)
        except (DeviceError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    expected = 15 * sum(500 + seed for seed in range(4))
    assert read(driver, start, total, np.zeros(1, np.int32))[0] == expected


def test_elapsed_time(driver, stream, codes):
    if not driver.info.facts["timestamps"]:
        pytest.skip(f"{driver.info.name} keeps no time")
    memory = on_device(driver, stream, np.zeros(4096, np.int32))
    driver.launch(stream, codes("generator"), [memory, 0, 1, 4096, 0], (64, 1, 1), GROUP, 0)
    driver.synchronize(stream)
    start = driver.record(stream)
    time.sleep(0.05)  # the host's time is not the device's
    began = time.perf_counter()
    driver.launch(stream, codes("generator"), [memory, 0, 20_000, 4096, 0], (64, 1, 1), GROUP, 0)
    middle = driver.record(stream)
    driver.launch(stream, codes("generator"), [memory, 0, 20_000, 4096, 0], (64, 1, 1), GROUP, 0)
    end = driver.record(stream)
    driver.wait(end)
    took = (time.perf_counter() - began) * 1e3
    whole, first, second = (
        driver.elapsed_ms(*pair) for pair in ((start, end), (start, middle), (middle, end))
    )
    assert 0 < first < whole <= took + 1
    assert 0 < second < whole
    assert first + second == pytest.approx(whole, rel=0.2, abs=2)
    assert driver.elapsed_ms(end, end) == 0


# -- errors ---------------------------------------------------------------------------------------


@pytest.fixture
def memory(driver, stream):
    return on_device(driver, stream, np.zeros(100, np.int32))


def test_freed_memory(driver, stream, codes, memory):
    driver.free(memory)
    with pytest.raises(DeviceError, match="free: this memory of 400 bytes was freed already"):
        driver.free(memory)
    with pytest.raises(DeviceError, match="launch generator: this memory of 400 bytes was freed already"):
        driver.launch(stream, codes("generator"), [memory, 0, 1, 100, 0], (2, 1, 1), GROUP, 0)
    with pytest.raises(DeviceError, match="freed already"):
        driver.copy_out(stream, np.zeros(4), memory, 0)


@pytest.mark.parametrize(
    ("arguments", "grid", "group", "shared", "message"),
    [
        (["m", 0, 1, 100], (2, 1, 1), GROUP, 0, "takes 5 arguments, not 4"),
        (["m", "m", 1, 100, 0], (2, 1, 1), GROUP, 0, "argument 1 is a slot"),
        ([7, 0, 1, 100, 0], (2, 1, 1), GROUP, 0, "argument 0 is memory, not 7"),
        (["m", 0, 1, 100, 0], (2, 1, 1), (32, 1, 1), 0, "was made for groups of"),
        (["m", 0, 1, 100, 0], (1 << 31, 1, 1), GROUP, 0, "is outside of"),
        (["m", 0, 1, 100, 0], (1, -1, 1), GROUP, 0, "is outside of"),
        (["m", 0, 1, 100, 0], (2, 1, 1), GROUP, 1 << 30, "a group may share"),
        (["other", 0, 1, 100, 0], (2, 1, 1), GROUP, 0, "this is no memory of vulkan:0"),
    ],
)
def test_launches_that_cannot_be(driver, stream, codes, memory, arguments, grid, group, shared, message):
    known = {"m": memory, "other": Memory(handle=b"x", nbytes=400)}
    given = [known.get(one, one) for one in arguments]
    with pytest.raises(DeviceError, match=message):
        driver.launch(stream, codes("generator"), given, grid, group, shared)
    driver.launch(stream, codes("generator"), [memory, 0, 1, 100, 0], (2, 1, 1), GROUP, 0)
    expected = generated(np.zeros(100, np.int32), 1)
    np.testing.assert_array_equal(read(driver, stream, memory, expected), expected)


def test_memory_that_a_kernel_cannot_see(driver, stream, codes):
    most = driver.info.facts["max_storage_range"]
    if most >= driver.info.max_allocation:
        pytest.skip("a kernel sees whatever can be allocated")
    exactly, more = driver.allocate(most), driver.allocate(most + 4)
    with pytest.raises(DeviceError, match=f"argument 0 lies in a piece of {most + 4} bytes"):
        driver.launch(stream, codes("generator"), [more, 0, 1, 1, 0], (1, 1, 1), GROUP, 0)
    driver.fill(stream, exactly, most - 4, b"\0", 4)
    driver.launch(stream, codes("generator"), [exactly, most // 4 - 1, 1, 1, 0], (1, 1, 1), GROUP, 0)
    out = np.zeros(1, np.int32)
    driver.copy_out(stream, out, exactly, most - 4)
    driver.synchronize(stream)
    assert out[0] == 1013904223
    driver.free(exactly)
    driver.free(more)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, s, m: d.copy_in(s, m, 396, np.zeros(2, np.int32)), "bytes 396 to 404"),
        (lambda d, s, m: d.copy_out(s, np.zeros(2), m, -8), "bytes -8 to 8"),
        (lambda d, s, m: d.copy_out(s, np.zeros((4, 4))[:, ::2], m, 0), "not contiguous"),
        (lambda d, s, m: d.copy_out(s, np.broadcast_to(np.zeros(1), 1), m, 0), "read-only"),
        (lambda d, s, m: d.copy(s, m, 0, m, 200, 201), "bytes 200 to 401"),
        (lambda d, s, m: d.fill(s, m, 0, b"abc", 3), "a pattern of 3 bytes"),
        (lambda d, s, m: d.fill(s, m, 0, b"ab", 3), "cannot fill 3 bytes"),
        (lambda d, s, m: d.fill(s, m, 0, b"ab", 402), "bytes 0 to 402"),
        (lambda d, s, m: d.copy_in(None, m, 0, np.zeros(1)), "None is no stream"),
        (lambda d, s, m: d.stream("urgent"), "high, normal or low"),
        (lambda d, s, m: d.allocate(-1), "cannot allocate -1 bytes"),
        (lambda d, s, m: d.launch(s, "code", [], (1, 1, 1), GROUP, 0), "was not loaded on"),
        (lambda d, s, m: d.allocate(1 << 50), "out of memory on vulkan:0"),
    ],
)
def test_calls_that_cannot_be(driver, stream, memory, call, message):
    with pytest.raises(DeviceError, match=message):
        call(driver, stream, memory)
    np.testing.assert_array_equal(read(driver, stream, memory, np.ones(100, np.int32)), np.zeros(100))


def test_code_that_cannot_be_loaded(driver):
    good = kernels.generator()

    def changed(**fields):
        return dataclasses.replace(good, **fields)

    opencl = kernels.serialized('spirv.func @generator() "None" { spirv.Return }', "Kernel, Addresses")
    for artifact, message in (
        (changed(device=None), "a shared object"),
        (changed(device=dataclasses.replace(good.device, format="ptx")), "ptx code"),
        (changed(binary=b"nonsense"), "no SPIR-V"),
        (changed(binary=b"\0" * 64), "no SPIR-V"),
        (changed(binary=good.binary[:-8]), "cut off: it does not end"),
        (changed(binary=good.binary[:-12]), "cut off at word"),
        (changed(entry="other"), "no entry 'other'"),
        (changed(binary=opencl), "code for OpenCL"),
        (changed(device=dataclasses.replace(good.device, arguments=("slot",) * 5)), "bindings 0 to 0"),
        (changed(device=dataclasses.replace(good.device, shared_bytes=1 << 30)), "shared memory"),
        (kernels.generator(size=4096), "at most"),
    ):
        with pytest.raises(DeviceError, match=message):
            driver.load(artifact)


class Faulty:
    """The bindings' library, but one function fails with a result."""

    def __init__(self, real, name, result):
        self._real, self._name, self._result, self.calls = real, name, result, 0

    def __getattr__(self, name):
        return self._fail if name == self._name else getattr(self._real, name)

    def _fail(self, *_):
        self.calls += 1
        return self._result


def test_a_device_without_memory_left(driver, stream, memory, monkeypatch):
    """What the device says is told, and later allocations work."""
    from pykern.runtime.drivers.vulkan import memory as module

    faulty = Faulty(module.lib, "vkAllocateMemory", -2)
    with monkeypatch.context() as patch:
        patch.setattr(module, "lib", faulty)
        with pytest.raises(OutOfMemory, match=r"out of memory on vulkan:0.*: 100000000 bytes are asked for"):
            driver.allocate(100_000_000)
    assert faulty.calls
    driver.free(driver.allocate(100_000_000))
    np.testing.assert_array_equal(read(driver, stream, memory, np.ones(100, np.int32)), np.zeros(100))


def test_memory_that_is_only_waiting_to_be_freed_is_found(driver, stream, codes, monkeypatch):
    """With the device full, an allocation waits for work that still uses freed memory."""
    n = 10_000_000
    one = on_device(driver, stream, np.zeros(n, np.int32))
    driver.launch(stream, codes("generator"), [one, 0, 20, n, 0], (-(-n // 64) // 4, 1, 1), GROUP, 0)
    driver.free(one)
    pool = driver._store.arrays
    used = pool.statistics()["used_bytes"]
    real = pool.take
    monkeypatch.setattr(
        pool, "take", lambda size: real(size) if pool.statistics()["used_bytes"] < used else None
    )
    two = driver.allocate(4 * n)
    monkeypatch.undo()
    assert driver._store._waiting == []
    driver.free(two)


def test_a_lost_device(monkeypatch):
    """Every later call says so; nothing crashes, and freeing raises nothing."""
    from pykern.runtime.drivers.vulkan import stream as module

    driver = RUNTIME.open(RUNTIME.devices()[0])
    stream = driver.stream("normal")
    memory = on_device(driver, stream, np.zeros(64, np.int32))
    code = driver.load(kernels.generator())

    def launch_often():
        for _ in range(20):
            driver.launch(stream, code, [memory, 0, 1, 64, 0], (1, 1, 1), GROUP, 0)

    for name in ("vkQueueSubmit", "vkGetSemaphoreCounterValue"):
        with monkeypatch.context() as patch:
            patch.setattr(module, "lib", Faulty(module.lib, name, -4))
            with pytest.raises(DeviceError, match=r"the device is lost.*VK_ERROR_DEVICE_LOST"):
                launch_often()
            driver.free(driver.allocate(100))
    driver.launch(stream, code, [memory, 0, 100_000, 64, 0], (1, 1, 1), GROUP, 0)
    event = driver.record(stream)
    with monkeypatch.context() as patch:
        patch.setattr(module, "lib", Faulty(module.lib, "vkWaitSemaphores", -4))
        with pytest.raises(DeviceError, match="waiting for the device: the device is lost"):
            driver.wait(event)
    driver.wait(event)
    driver.free(memory)


def test_work_under_way_at_the_end_of_the_process(driver):
    program = """
import numpy as np
from pykern.runtime.drivers.vulkan import RUNTIME
from tests.runtime import vulkan_kernels as kernels
driver = RUNTIME.open(RUNTIME.devices()[0])
stream = driver.stream("normal")
memory = driver.allocate(4 * 4096)
code = driver.load(kernels.generator())
for _ in range(20):
    driver.launch(stream, code, [memory, 0, 5000, 4096, 0], (64, 1, 1), (64, 1, 1), 0)
print("submitted")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "submitted\n"), run.stderr
