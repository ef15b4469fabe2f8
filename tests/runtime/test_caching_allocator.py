"""Kept memory: large results own it, it comes back when the last who sees them is gone, and never twice at a time."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.service import service
from pykern.data.abi import KEPT_BLOCKS, KEPT_LEAST, KEPT_STATE, TABLE_INDEX
from pykern.data.artifact import SCRATCH
from pykern.environment.machine import cache_bytes
from pykern.environment.settings import read_settings
from pykern.obtain.memory_code import memory_code
from pykern.runtime import caching_allocator as runtime
from pykern.runtime import numpy_api
from pykern.runtime.caching_allocator import caching_allocator
from pykern.runtime.cpu_table import table
from pykern.runtime.numpy_api import handler_name

MIB = 1 << 20


@pk.jit
def twice(a):
    return a * 2 + 1


@pk.jit
def both(a, b):
    return a + b, a.sum(), a - b


@pk.jit
def chain(a, b):
    return (a @ b) @ b


@pytest.fixture(autouse=True)
def kept():
    """Loaded, nothing in it, its rules as they are at first."""
    if memory_code.address is None and memory_code.obtain(1) is None:
        service().start()
        memory_code.obtain(1)
        assert memory_code._thread is not None
        memory_code._thread.join()
    if not memory_code.address:
        pytest.skip("no kept memory on this system")
    gc.collect()
    caching_allocator.empty()
    rules = [state(name) for name in ("limit", "milliseconds")]
    yield
    for name, value in zip(("limit", "milliseconds"), rules, strict=True):
        rule(name, value)
    caching_allocator.empty()


def state(name):
    return caching_allocator._state[KEPT_STATE.index(name)]


def rule(name, value):
    caching_allocator._state[KEPT_STATE.index(name)] = value


def warm(program, *args):
    """Until the entry takes it."""
    for _ in range(4):
        program(*args)


def random(n, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).random(n).astype(dtype)


# -- results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [MIB // 8, MIB // 8 + 1, 200_003, MIB])
@pytest.mark.parametrize("quick", [False, True])
def test_the_next_result_takes_the_memory_of_the_last(n, quick):
    a = random(n)
    call = (lambda x: twice(x)) if quick else (lambda x: twice(x, device="cpu"))
    warm(call, a)
    first = call(a)
    assert handler_name(first) == "pykern"
    assert first.flags.owndata and first.base is None and first.flags.writeable
    place, before = first.ctypes.data, caching_allocator.stats()
    assert place % 64 == 0
    del first
    again = call(2 * a)
    assert again.ctypes.data == place
    after = caching_allocator.stats()
    assert (after.reused, after.live) == (before.reused + 1, before.live)
    assert after.reserved == before.reserved
    np.testing.assert_allclose(again, 4 * a + 1)


def test_small_results_are_as_before():
    a = random(KEPT_LEAST // 8 - 1)
    warm(twice, a)
    before = caching_allocator.stats()
    assert handler_name(twice(a)) == "default_allocator"
    assert caching_allocator.stats() == before


def test_several_results_are_apart():
    a, b = random(MIB), random(MIB, 1)
    warm(both, a, b)
    held = [both(a, b) for _ in range(3)]
    for plus, total, minus in held:
        np.testing.assert_array_equal(plus, a + b)
        np.testing.assert_array_equal(minus, a - b)
        assert total == pytest.approx(a.sum())
    places = sorted(x.ctypes.data for plus, _, minus in held for x in (plus, minus))
    assert all(y - x >= 8 * MIB for x, y in itertools.pairwise(places))


@pytest.mark.parametrize(
    "look", [lambda r: r[5:9], memoryview, np.from_dlpack, lambda r: pk.asarray(r, device="cpu"), np.asarray]
)
def test_who_looks_at_a_result_keeps_its_memory(look):
    a = random(MIB)
    warm(twice, a)
    before = caching_allocator.stats().live
    result = twice(a)
    seen = look(result)
    expected = np.asarray(seen).copy()
    del result
    others = [twice(a + n) for n in range(1, 4)]
    np.testing.assert_array_equal(np.asarray(seen), expected)
    assert caching_allocator.stats().live == before + 4
    del seen, others
    gc.collect()
    assert caching_allocator.stats().live == before


def test_resize_moves_what_is_there():
    a = random(MIB)
    warm(twice, a)
    result = twice(a)
    for n in (3 * MIB, 2 * MIB, 100, MIB):
        known = min(result.size, n)
        expected = result[:known].copy()
        result.resize(n, refcheck=False)
        np.testing.assert_array_equal(result[:known], expected)
        assert not result[known:].any()
    assert handler_name(result) == "pykern"


def test_zeros_are_zeros_in_used_memory():
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    np_calloc = caching_allocator._library.function("pk_calloc", pointer, pointer, size, size)
    free = caching_allocator._library.function("pk_free", None, pointer, pointer, size)
    for count in (100, 2 * MIB):
        for _ in range(2):
            place = np_calloc(None, count, 8)
            words = np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(place))
            assert not words.any()
            words[:] = -1
            free(None, place, 8 * count)


def test_empty_takes_it_too():
    x = pk.empty((1000, 1000), pk.f32)
    assert handler_name(x) == "pykern" and x.shape == (1000, 1000) and x.dtype == np.float32
    place = x.ctypes.data
    del x
    y = pk.empty_like(np.zeros((500, 2000), np.float32))
    assert y.ctypes.data == place and y.shape == (500, 2000)
    assert handler_name(pk.empty(10)) == "default_allocator"
    assert pk.empty(np.int64(3)).shape == (3,)
    columns = pk.empty_like(np.zeros((1000, 1000), order="F"))
    assert columns.flags.f_contiguous  # NumPy's keeps the order


def test_a_handler_of_the_user_is_used():
    """NumPy's own functions under another name: whatever a program makes is told by it."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    own = ctypes.cast(runtime.default_handler(), ctypes.py_object).value
    own = runtime._Handler.from_address(pointer(own, b"mem_handler"))
    other = runtime._Handler()
    ctypes.memmove(ctypes.addressof(other), ctypes.addressof(own), ctypes.sizeof(other))
    other.name = b"other"
    name = ctypes.create_string_buffer(b"mem_handler")
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    capsule = make(ctypes.addressof(other), ctypes.addressof(name), None)
    a = random(MIB)
    warm(twice, a)
    before = caching_allocator._set_handler(capsule)
    try:
        named = [handler_name(x) for x in (twice(a), twice(a, device="cpu"), pk.empty(MIB))]
    finally:
        caching_allocator._set_handler(before)  # the arrays are gone: nothing needs what was made here
    assert named == ["other"] * 3
    assert handler_name(np.empty(MIB)) == "default_allocator"


def test_no_memory():
    """NumPy's error, and NumPy's memory for what NumPy makes after it."""
    with pytest.raises(MemoryError):
        pk.empty(1 << 44)
    assert handler_name(np.empty(MIB)) == "default_allocator"
    assert not caching_allocator._library.function("pk_take", ctypes.c_void_p, ctypes.c_int64)(1 << 45)
    assert caching_allocator.stats().live == caching_allocator.stats().allocated == 0


# -- scratch ---------------------------------------------------------------------------------------


def test_scratch_comes_back():
    a, b = random(600 * 600).reshape(600, 600), random(600 * 600, 1).reshape(600, 600)
    warm(chain, a, b)
    before = caching_allocator.stats()
    found = chain(a, b)
    after = caching_allocator.stats()
    assert after.allocations >= before.allocations + 2 and after.live == before.live + 1
    np.testing.assert_allclose(found, a @ b @ b)
    assert after.reserved == before.reserved


@pk.kernel
def copy_small(y, x):
    i, j = pk.index()
    assert x[i, j] < 600.0
    y[i, j] = x[i, j]


@pk.jit
def guarded(a, b):
    c = pk.empty_like(a)
    copy_small(c, a @ b, ndrange=a.shape)
    return c @ b


def test_scratch_comes_back_after_errors():
    a = random(400 * 400).reshape(400, 400)
    for n in range(4):
        before = caching_allocator.stats()
        with pytest.raises(pk.AssertionFailed) if n % 2 else contextlib.nullcontext():
            guarded(100 * a if n % 2 else a, a)
        gc.collect()
        assert caching_allocator.stats().live == before.live
    assert caching_allocator.stats().allocations > before.allocations
    np.testing.assert_allclose(guarded(a, a), a @ a @ a)


def test_copies_of_arguments():
    a = random(MIB)[::2]
    np.testing.assert_array_equal(twice(a), a * 2 + 1)
    before = caching_allocator.stats()
    np.testing.assert_array_equal(twice(a), a * 2 + 1)
    after = caching_allocator.stats()
    assert after.reused - before.reused == 2 and after.reserved == before.reserved


@pk.kernel(fastmath=True)  # sums in their order go along several rows, without memory for them
def softmax(y, x):
    i = pk.index()
    n = x.shape[1]
    most = x[i, 0]
    for k in range(n):
        most = max(most, x[i, k])
    total = 0.0
    for k in range(n):
        y[i, k] = pk.exp(x[i, k] - most)
        total += y[i, k]
    for k in range(n):
        y[i, k] = y[i, k] / total


@pytest.mark.parametrize("columns", [9_000, 131_071, 131_072, 400_001])
@pytest.mark.parametrize("loaded", [False, True])
def test_rows_of_kernels(columns, loaded):
    """malloc's below 1 MiB, and where kept memory is not loaded; both in one process. Arrays that fit the cache need
    no memory for rows."""
    rows = cache_bytes() // (8 * columns) + 1  # of two such arrays
    x = random(rows * columns).reshape(rows, columns)
    y = np.full_like(x, np.nan)
    cell, before = TABLE_INDEX["pk_take"], caching_allocator.stats()
    take = table()[cell]
    if not loaded:
        table()[cell] = 0
    try:
        softmax(y, x, ndrange=rows)
    finally:
        table()[cell] = take
    after = caching_allocator.stats()
    taken = after.allocations - before.allocations
    assert after.live == before.live
    assert (taken > 0) == (loaded and 8 * columns >= KEPT_LEAST)  # each thread has its own
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-12)


def test_code_that_asks_for_memory_is_known():
    assert SCRATCH in softmax.lower(*2 * [random(10).reshape(2, 5)], ndrange=2).compile().resources
    assert SCRATCH not in twice.lower(random(5)).compile().resources


# -- bounds ----------------------------------------------------------------------------------------


def blocks(*sizes):
    """Made all, then let go in this order."""
    for made in [[pk.empty(size, np.uint8)] for size in sizes]:
        made.clear()


def test_the_bound_holds_and_the_oldest_goes():
    rule("limit", 10 * MIB)
    blocks(2 * MIB, 3 * MIB, 4 * MIB)
    assert state("blocks") == 3
    blocks(5 * MIB)
    assert state("blocks") == 2 and state("kept") <= 10 * MIB
    reused = caching_allocator.stats().reused
    blocks(4 * MIB, 5 * MIB)
    assert caching_allocator.stats().reused == reused + 2
    blocks(11 * MIB)  # by itself over the bound
    assert state("blocks") == 2
    stats = caching_allocator.stats()
    assert stats.reserved == state("kept") and stats.allocated == 0


def test_blocks_are_counted():
    held = [pk.empty(MIB, np.uint8) for _ in range(KEPT_BLOCKS + 40)]
    places = [x.ctypes.data for x in held]
    rule("limit", 1 << 40)
    while held:
        held.pop(0)
    assert state("blocks") == KEPT_BLOCKS
    again = [pk.empty(MIB, np.uint8) for _ in range(KEPT_BLOCKS)]
    assert {x.ctypes.data for x in again} == set(places[40:])


def test_what_nobody_takes_goes():
    blocks(2 * MIB, 3 * MIB)
    rule("milliseconds", 0)
    x = pk.empty(5 * MIB, np.uint8)  # a new block: the moment to look
    assert state("blocks") == 0
    assert caching_allocator.stats().reserved == caching_allocator.stats().allocated
    del x


def test_the_setting(monkeypatch):
    monkeypatch.setattr(runtime, "settings", lambda: read_settings({"PYKERN_KEPT_MEMORY": "1.5G"}))
    assert runtime.limit() == 3 << 29
    monkeypatch.setattr(runtime, "settings", lambda: read_settings({}))
    assert 0 < runtime.limit() * runtime.SHARE <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_statistics_and_emptying():
    a = random(MIB)
    warm(twice, a)
    kept = twice(a)
    expected = kept.copy()
    del a
    blocks(2 * MIB)
    stats, mine = pk.memory_stats("cpu"), caching_allocator.stats()
    assert stats.reserved >= mine.reserved > mine.allocated > 0 and stats.live >= mine.live > 0
    pk.empty_cache("cpu")
    assert caching_allocator.stats().reserved == caching_allocator.stats().allocated
    np.testing.assert_array_equal(kept, expected)


# -- threads, processes ----------------------------------------------------------------------------


def test_threads():
    a = random(MIB // 4)
    warm(twice, a)
    before = caching_allocator.stats().live
    wrong = []

    def work(seed):
        generator = np.random.default_rng(seed)
        held = []
        for n in range(60):
            size = MIB // 8 + 5000 * int(generator.integers(3))
            held.append((seed + n, twice(np.full(size, float(seed + n)))))
            if len(held) > 4:
                held.pop(int(generator.integers(0, len(held))))
            wrong.extend(number for number, x in held if not (x == 2.0 * number + 1).all())

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert caching_allocator.stats().live == before


FORK = """
import os, threading, numpy as np, pykern as pk
from pykern.obtain.memory_code import memory_code
from pykern.runtime.caching_allocator import caching_allocator
assert memory_code.obtain(1)
shared = pk.empty(3 << 17); shared[:] = 7
pk.empty(2 << 20, np.uint8); pk.empty(5 << 20, np.uint8)
assert caching_allocator.stats().reserved > caching_allocator.stats().allocated
stop = False
def churn():
    while not stop:
        pk.empty(3 << 20, np.uint8)
threads = [threading.Thread(target=churn) for _ in range(2)]
for turn in range(12):
    if turn == 2:
        [t.start() for t in threads]
    child = os.fork()
    if child == 0:
        stats = caching_allocator.stats()
        good = stats.reserved == stats.allocated or turn >= 2
        mine = [pk.empty(n << 20, np.uint8) for n in (2, 3, 5)]
        for n, x in enumerate(mine):
            x[:] = n
        good = good and all((x == n).all() for n, x in enumerate(mine)) and (shared == 7).all()
        del mine
        shared[:] = 8
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, (turn, status)
    assert (shared == 7).all()
stop = True
[t.join() for t in threads]
print("fine")
"""

EXIT = """
import threading, time, atexit, numpy as np, pykern as pk
from pykern.obtain.memory_code import memory_code
assert memory_code.obtain(1)
class Late:
    def __init__(self): self.array = pk.empty(1 << 20)
    def __del__(self): self.array = None; pk_empty(1 << 20)
pk_empty = pk.empty
late = Late(); cycle = [pk.empty(1 << 20)]; cycle.append(cycle)
atexit.register(lambda: pk.empty(1 << 20))
def churn():
    while True: pk.empty(1 << 20)[0] = 1
threading.Thread(target=churn, daemon=True).start()
time.sleep(0.05)
print("fine")
"""

NONE = """
import pykern as pk
from pykern.obtain.memory_code import memory_code
from pykern.runtime.numpy_api import handler_name
x = pk.empty(1 << 20)
assert memory_code.obtain(1) == 0 and handler_name(pk.empty(1 << 20)) == "default_allocator"
print("fine")
"""


@pytest.mark.parametrize(
    ("script", "more"),
    [(FORK, {}), (EXIT, {}), (NONE, {"PYKERN_KEPT_MEMORY": "0"})],
    ids=["fork", "exit", "none"],
)
def test_processes(script, more):
    here = {"PYKERN_COMPILER": "inprocess"}  # where it is not in the cache
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **here, **more},
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)


def test_numpys_functions_are_where_they_are_looked_for():
    assert all(map(numpy_api.address, (numpy_api.SCALAR, numpy_api.NEW_FROM_DESCR, numpy_api.SET_HANDLER)))
    capsule = ctypes.cast(runtime.default_handler(), ctypes.py_object).value
    assert type(capsule).__name__ == "PyCapsule"
