"""The team of threads: every chunk runs once, whoever asks for whatever at whatever time."""

from __future__ import annotations

import ctypes
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pykern as pk
from pykern.data.abi import TABLE_INDEX
from pykern.runtime.cpu_table import table
from pykern.runtime.team import SUPPORTED, team

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="no team of threads on this system")
PART = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
FORK = ctypes.CFUNCTYPE(None, PART, ctypes.c_void_p, *[ctypes.c_int64] * 3)
SHARE = ctypes.CFUNCTYPE(None, PART, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALL = ctypes.PYFUNCTYPE(ctypes.c_int32, RUN, ctypes.c_void_p)


@pk.kernel
def sines(y, x, n):
    i = pk.index()
    total = 0.0
    for k in range(n):
        total += pk.sin(x[i] + k)
    y[i] = total


@pk.jit
def product(a, b):
    return pk.sin(a @ b)


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sines(np.zeros(4096), np.zeros(4096), 100, ndrange=4096)  # so long that it gets the team
    assert team.loaded


@pytest.fixture
def threads():
    before = pk.get_num_threads()
    yield pk.set_num_threads
    pk.set_num_threads(before)


def function(name, kind):
    return kind(table()[TABLE_INDEX[name]])


def chunks_of(extent: int, wanted: int, chunks: int) -> list[tuple[int, int]]:
    """What `pk_fork` calls its function for, sorted."""
    found: list[tuple[int, int]] = []
    function("pk_fork", FORK)(
        PART(lambda _, low, high: found.append((low, high))), None, extent, wanted, chunks
    )
    return sorted(found)


def assert_partition(found: list[tuple[int, int]], extent: int) -> None:
    """All of 0..extent, each once."""
    assert all(low < high for low, high in found)
    assert [low for low, _ in found] == [0, *(high for _, high in found)][: len(found)]
    assert (found[-1][1] if found else 0) == extent


def bounds(extent: int, chunks: int) -> list[tuple[int, int]]:
    chunks = max(1, min(chunks, extent, 60_000))
    edges = [extent * n // chunks for n in range(chunks + 1)]
    return list(itertools.pairwise(edges)) if extent > 0 else []


@pytest.mark.parametrize("seed", range(30))
def test_every_chunk_runs_once(seed):
    choose = random.Random(seed)
    extent = choose.choice([0, 1, 2, 3, choose.randrange(100), choose.randrange(1 << 40)])
    wanted, chunks = choose.randrange(1, 9), choose.choice([0, 1, choose.randrange(1, 300)])
    assert chunks_of(extent, wanted, chunks) == bounds(extent, chunks)


@pytest.mark.parametrize("wanted", [1, 2, 3])
@pytest.mark.parametrize("chunks", [9, 65, 1000, 60_000])
def test_very_many_chunks_run_each_once(chunks, wanted):
    assert chunks_of((1 << 40) + 7, wanted, chunks) == bounds((1 << 40) + 7, chunks)


UNENDING = """
import os, signal, sys, threading, time
import numpy as np
import pykern as pk

@pk.kernel
def settle(o, x):
    i = pk.index()
    k = 0
    v = x[i]
    while v > 1.0:
        v = v * 0.5
        k = k + 1
    o[i] = k

pk.set_num_threads(int(sys.argv[1]))
n = 1 << 20
o, x = np.zeros(n), np.full(n, 8.0)
settle(o, x, ndrange=n)
assert (o == 3).all()
x[3 * n // 4] = np.inf  # never settles, behind very many that are quick
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    settle(o, x, ndrange=n)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("count", ["1", "2"])
def test_ctrl_c_ends_one_work_item_among_many_quick_ones(count, tmp_path):
    (tmp_path / "unending.py").write_text(UNENDING)
    done = subprocess.run(
        [sys.executable, "unending.py", count], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_more_threads_and_chunks_than_there_can_be():
    before = team.workers
    assert chunks_of(100_000, 3, 1 << 40) == bounds(100_000, 60_000)
    assert before <= team.workers <= max(before, 2)


@pytest.mark.parametrize("seconds", [0, 1, 30_000, 10_000_000_000])
def test_parts_of_a_nest_follow_from_its_last_run(seconds):
    found: list[tuple[int, int]] = []
    seen = ctypes.c_int64(seconds)

    function("pk_share", SHARE)(PART(lambda _, low, high: found.append((low, high))), None, 1000, seen)
    found.sort()
    assert_partition(found, 1000)
    assert seen.value != seconds and seen.value > 0
    if seconds > 1_000_000_000:
        assert len(found) <= 4 * pk.get_num_threads()  # each repeats what is the same for all


def test_a_nest_that_repeats_something_has_a_chunk_a_thread(threads):
    threads(3)
    found: list[tuple[int, int]] = []
    function("pk_share", SHARE)(PART(lambda _, low, high: found.append((low, high))), None, 1000, None)
    assert sorted(found) == bounds(1000, 3)


def test_a_launch_within_a_chunk_runs_in_its_thread():
    fork = function("pk_fork", FORK)
    launched: list[list[tuple[int, int]]] = []
    strangers: list[int] = []

    def part(_, low, high):
        mine = threading.get_ident()
        found: list[tuple[int, int]] = []

        def within(_, low, high):
            found.append((low, high))
            if threading.get_ident() != mine:
                strangers.append(low)

        fork(PART(within), None, 10, 4, 5)
        launched.append(found)

    run = RUN(lambda _: fork(PART(part), None, 30, 3, 30))
    assert function("pk_call", CALL)(run, None) == 0
    assert launched == [bounds(10, 5)] * 30
    assert strangers == []


def test_a_launch_from_a_print_of_another_one(threads, capsys, monkeypatch):
    """Python runs in the midst of a launch, and may launch."""

    @pk.kernel
    def prints(y, x):
        i = pk.index()
        y[i] = x[i] + 1
        if i % 100 == 0:
            pk.print("at", i)

    threads(2)
    x = np.arange(100_000.0)
    inner: list[bool] = []

    class Launches:
        def write(self, text):
            y = np.empty(5000)
            sines(y, x[:5000].copy(), 30, ndrange=5000)
            inner.append(bool(np.allclose(y, sum(np.sin(x[:5000] + k) for k in range(30)))))

        def flush(self):
            pass

    y = np.zeros_like(x)
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", Launches())
        prints(y, x, ndrange=x.shape)
    assert inner == [True] * 1000
    np.testing.assert_array_equal(y, x + 1)


def test_many_threads_launch_at_once(threads):
    threads(4)
    rng = np.random.default_rng(0)
    x = rng.random(20_011)
    want = sum(np.sin(x + k) for k in range(20))
    a = rng.random((190, 190))
    wanted = np.sin(a @ a)
    wrong: list[str] = []

    def launches():
        y = np.empty_like(x)
        for _ in range(15):
            y[:] = np.nan
            sines(y, x, 20, ndrange=x.shape)
            if not np.allclose(y, want, rtol=1e-9):
                wrong.append("kernel")
            if not np.allclose(product(a, a), wanted):
                wrong.append("program")

    running = [threading.Thread(target=launches) for _ in range(20)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    assert wrong == []


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_results_are_the_same_with_any_number_of_threads(threads, count, rng):
    x = rng.standard_normal(30_001)
    want, found = np.empty_like(x), np.empty_like(x)
    threads(1)
    sines(want, x, 50, ndrange=x.shape)
    threads(count)
    sines(found, x, 50, ndrange=x.shape)
    assert (found == want).all()


FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)


def blocks(mask: int, number: int) -> int:
    return mask >> (number - 1) & 1


def blocked_signals() -> list[int]:
    """Of each thread of this process, other libraries' among them."""
    masks = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/status") as file:
            masks.append(next(int(line.split()[1], 16) for line in file if line.startswith("SigBlk")))
    return masks


def test_workers_take_no_signals_but_their_own_faults(threads):
    threads(2)
    chunks_of(8, 2, 8)
    assert team.workers >= 1
    until = time.monotonic() + 30
    while True:  # a new worker begins with all of them blocked
        own = [
            mask
            for mask in blocked_signals()
            if blocks(mask, signal.SIGUSR2)
            and blocks(mask, signal.SIGINT)
            and not any(blocks(mask, fault) for fault in FAULTS)
        ]
        if len(own) >= team.workers or time.monotonic() > until:
            break
        time.sleep(0.01)
    assert len(own) >= team.workers


def test_workers_run_where_the_process_may(threads):
    threads(2)
    x = np.ones(300_000)
    for _ in range(20):
        sines(np.empty_like(x), x, 3, ndrange=x.shape)
    allowed = os.sched_getaffinity(0)
    for task in os.listdir("/proc/self/task"):
        assert os.sched_getaffinity(int(task)) <= allowed


def test_work_that_is_not_shared_makes_no_team():
    before = team.forks
    for _ in range(10):
        sines(np.zeros(10), np.zeros(10), 1, ndrange=10)
    assert team.forks == before


def test_sums_of_all_parts_arrive(threads, rng):
    """Atomic additions: each part adds a sum of its own."""

    @pk.kernel
    def histogram(counts, total, x):
        i = pk.index()
        pk.atomic_add(counts, int(x[i] * 16), 1)
        pk.atomic_add(total, 0, x[i])

    x = rng.random(3_000_001)
    for count in (1, 2, 5):
        threads(count)
        counts, total = np.zeros(16, np.int64), np.zeros(1)
        histogram(counts, total, x, ndrange=x.shape)
        assert (counts == np.bincount((x * 16).astype(int), minlength=16)).all()
        np.testing.assert_allclose(total[0], x.sum(), rtol=1e-9)


def test_large_private_arrays_fit_the_workers_stacks(threads):
    """A mebibyte for each work-item, in whichever thread it runs."""

    @pk.kernel
    def reversed_rows(y, x):
        i = pk.index()
        row = pk.private((131072,), pk.f64)
        for j in range(131072):
            row[131071 - j] = x[i, j]
        for j in range(131072):
            y[i, j] = row[j]

    threads(3)
    x = np.random.default_rng(1).random((12, 131072))
    y = np.zeros_like(x)
    reversed_rows(y, x, ndrange=12)
    np.testing.assert_array_equal(y, x[:, ::-1])
