"""Memory of a device: kept for reuse, counted, freed once; new owners wait for streams of old ones."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry
from pykern.runtime.drivers.null import LIMIT, RUNTIME
from pykern.runtime.pool import MANY_STREAMS, Pool, rounded

over_devices = pytest.mark.parametrize(
    "device", ["cpu", "null:0", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)


@pytest.fixture
def null():
    """A null device of its own, with nothing in it."""
    driver = RUNTIME.open(RUNTIME.devices()[0])
    return driver, Pool("null:0", driver, driver.stream("normal"))


@pytest.mark.parametrize("nbytes", [0, 1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 3_000_000, (1 << 30) + 1])
def test_rounding_wastes_little(nbytes):
    size = rounded(nbytes)
    assert size >= max(1, nbytes) and size % 512 == 0
    assert size - nbytes <= max(512, nbytes / 8)


@over_devices
def test_memory_is_given_out_again(device):
    gc.collect()
    before = pk.memory_stats(device)
    x = pk.empty(5000, pk.f32, device=device)
    there = pk.memory_stats(device)
    assert there.live == before.live + 1
    assert there.allocated - before.allocated == rounded(20000)
    view = x[10:20]
    del x
    assert pk.memory_stats(device).live == before.live + 1  # the view holds it
    del view
    after = pk.memory_stats(device)
    assert after.live == before.live and after.allocated == before.allocated
    again = pk.empty(2500, pk.f64, device=device)
    assert pk.memory_stats(device).reused == after.reused + 1
    again.free()
    pk.empty_cache(device)
    assert pk.memory_stats(device).reserved == pk.memory_stats(device).allocated


@over_devices
def test_freed_arrays_are_told(device):
    x = pk.zeros((4, 4), pk.f32, device=device)
    view = x[1]
    x.free()
    for use in (
        x.numpy,
        view.numpy,
        lambda: view[0],
        lambda: pk.copyto(x, 1),
        lambda: np.asarray(view),
        x.copy,
    ):
        with pytest.raises(pk.UsedAfterFree, match="was freed and is used again"):
            use()
    x.free()  # once more is nothing


def test_no_room_is_a_named_error(null):
    _, pool = null
    first = pool.allocate(LIMIT // 2)
    second = pool.allocate(LIMIT // 4)
    with pytest.raises(pk.OutOfMemory, match=r"null:0 has no room for .* in 2 arrays are in use"):
        pool.allocate(LIMIT // 2)
    with pytest.raises(MemoryError):
        pool.allocate(LIMIT // 2)
    with pytest.raises(pk.OutOfMemory, match="more than null:0 gives to one array"):
        pool.allocate(LIMIT)
    first.free()
    assert pool.allocate(LIMIT // 2).nbytes == LIMIT // 2
    assert second.memory.nbytes >= LIMIT // 4


def test_what_is_kept_is_given_back_where_room_is_missing(null):
    driver, pool = null
    kept = [pool.allocate(LIMIT // 4) for _ in range(3)]
    for allocation in kept:
        allocation.free()
    assert pool.stats().reserved == 3 * (LIMIT // 4)
    assert pool.allocate(LIMIT // 2)  # another size: nothing of what is kept fits
    assert driver.reserved == LIMIT // 2


@over_devices
def test_too_big_for_the_device(device):
    with pytest.raises(pk.DeviceError):
        pk.empty(1 << 55, pk.f64, device=device)


def test_a_new_owner_waits_for_streams_of_the_old_one(null):
    driver, pool = null
    a, b = driver.stream("normal"), driver.stream("normal")
    first = pool.allocate(100)
    first.used_on(a)
    first.free()
    second = pool.allocate(100)
    second.used_on(a)
    assert not driver.waits  # in one stream everything is in order
    second.used_on(b)
    assert driver.waits == [(b, a)]
    second.used_on(b)
    assert len(driver.waits) == 1


def test_reading_waits_for_all_users(null):
    driver, pool = null
    a, b, c = (driver.stream("normal") for _ in range(3))
    allocation = pool.allocate(100)
    allocation.used_on(a)
    allocation.used_on(b)
    allocation.wait_for_users(c)
    assert driver.waits == [(c, a), (c, b)]


def test_threads_share_a_pool(null):
    _, pool = null
    failed = []

    def work(seed):
        random = np.random.default_rng(seed)
        held = []
        for _ in range(300):
            held.append(pool.allocate(int(random.integers(1, 5000))))
            if len(held) > 5:
                held.pop(int(random.integers(0, len(held))))
        places = [a.memory.address for a in held]
        if len(set(places)) != len(places):
            failed.append(seed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert pool.stats().live == 0 and pool.stats().allocated == 0


def test_memory_of_others_is_never_given_out():
    opened = registry.opened("cpu")
    x = np.arange(128.0)
    before = pk.memory_stats("cpu")
    view = pk.asarray(x, device="cpu")
    view.free()
    assert pk.memory_stats("cpu") == before
    assert opened.pool.allocate(1024).memory.address != x.ctypes.data


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True)
def test_memory_forgets_streams_that_are_closed(device, rng):
    """An array that outlives thousands of streams keeps none of them alive, and its numbers are right."""
    x = pk.zeros(64, pk.f32, device=device)
    driver_streams = []
    for n in range(300):
        stream = pk.Stream(device)
        driver_streams.append(weakref.ref(stream.native))
        pk.copyto(x, n, stream)
    stream.synchronize()
    del stream
    gc.collect()
    last = pk.Stream(device)
    pk.copyto(x, rng.random(64).astype(np.float32), last)  # one stream more, and memory looks at the others
    last.synchronize()
    gc.collect()
    assert sum(reference() is not None for reference in driver_streams) <= 2 * MANY_STREAMS
    assert len(x._allocation.users()) <= MANY_STREAMS + 1


def test_an_open_stream_is_never_forgotten(null):
    """A stream that its user still has is waited for, however many others were used in between."""
    driver, pool = null
    kept = driver.stream("normal")
    first = pool.allocate(100)
    first.used_on(kept)
    for _ in range(3 * MANY_STREAMS):
        first.used_on(other := driver.stream("normal"))
        pool.close(other)
    assert any(user is kept for user in first.users())
    assert len(first.users()) <= MANY_STREAMS + 1
