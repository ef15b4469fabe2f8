"""Threads of a team that find themselves on the processor of the one that woke them move away, and only they."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import pykern as pk
from pykern.abi import TABLE_INDEX
from pykern.machine import processors
from pykern.runtime.cpu_table import openmp_library, table

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or processors() < 2, reason="needs Linux and two processors"
)
GET_CPU = ctypes.CFUNCTYPE(ctypes.c_int)
SET_AFFINITY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64))
ROWS, COLUMNS = 1300, 1300
"""So much that a launch lets other Python threads run: what is put into the table below is Python's."""


@pk.kernel(fastmath=True)
def sums_of_rows(y, a):
    i = pk.index()
    total = 0.0
    for j in range(a.shape[1]):
        total += a[i, j]
    y[i] = total


@pk.jit
def scaled_sum(a):
    return (a * 2.0).sum(axis=1)


def launch_kernel(a):
    y = np.empty(ROWS)
    sums_of_rows(y, a, ndrange=ROWS)
    return y, a.sum(axis=1)


def run_program(a):
    return scaled_sum(a), 2.0 * a.sum(axis=1)


@pytest.fixture(params=[launch_kernel, run_program])
def computed(request) -> Iterator[Callable[..., None]]:
    """Launched once, so that all threads are there; called with the numbers of threads and of processors to feign."""
    if openmp_library() is None:
        pytest.skip("no OpenMP")
    a = np.random.default_rng(0).random((ROWS, COLUMNS))
    before, cells = pk.get_num_threads(), table()
    names = ("sched_getcpu", "sched_setaffinity")
    own = {name: cells[TABLE_INDEX[name]] for name in names}

    def run(threads, get_cpu, set_affinity=None):
        pk.set_num_threads(threads)
        request.param(a)
        kept = [GET_CPU(get_cpu), *([] if set_affinity is None else [SET_AFFINITY(set_affinity)])]
        for name, function in zip(names, kept, strict=False):
            cells[TABLE_INDEX[name]] = ctypes.cast(function, ctypes.c_void_p).value
        found, want = request.param(a)
        np.testing.assert_allclose(found, want, rtol=1e-12)

    yield run
    for name in names:
        cells[TABLE_INDEX[name]] = own[name]
    pk.set_num_threads(before)


class Masks(list):
    """Masks that threads ask for, as sets of processors."""

    def __call__(self, thread, size, words):
        assert thread == 0  # the calling one
        bits = (8 * n + b for n in range(size) for b in range(8))
        self.append({n for n in bits if words[n // 64] >> (n % 64) & 1})
        return 0


def test_a_thread_on_its_wakers_processor_forbids_itself_that_one_for_a_moment(computed):
    allowed, masks = os.sched_getaffinity(0), Masks()
    first = min(allowed)
    computed(2, lambda: first, masks)
    assert masks
    assert masks == [allowed - {first}, allowed] * (len(masks) // 2)


def test_threads_on_processors_of_their_own_stay(computed):
    main, masks = threading.get_ident(), Masks()
    computed(2, lambda: int(threading.get_ident() != main), masks)
    assert masks == []


def test_more_threads_than_processors_stay(computed):
    first, masks = min(os.sched_getaffinity(0)), Masks()
    computed(processors() + 1, lambda: first, masks)
    assert masks == []


def test_where_the_processor_is_not_known_nobody_moves(computed):
    masks = Masks()
    computed(2, lambda: -1, masks)
    assert masks == []


def test_threads_may_use_what_they_could_before(computed):
    allowed, before = os.sched_getaffinity(0), masks_of_tasks()  # others may have pinned some
    first = min(allowed)
    computed(2, lambda: first)  # with the system's own call
    after = masks_of_tasks()
    assert len(after) >= 2
    assert after == {task: before.get(task, allowed) for task in after}


def masks_of_tasks() -> dict[int, set[int]]:
    return {int(name): os.sched_getaffinity(int(name)) for name in os.listdir("/proc/self/task")}
