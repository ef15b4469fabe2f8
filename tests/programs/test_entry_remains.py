"""What the compiled entry of array programs leaves behind: references, memory, errors; and what other threads see."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.service import service
from pykern.obtain import entry_code as program_entry_code
from pykern.obtain.entry_code import EntryCode
from pykern.runtime.launchable import SUPPORTED
from tests.programs.entry_calls import error, random, through_python, warm

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="there are no compiled entries on this Python")
SCALE = 2.0


@pk.jit
def add(a, b):
    return a + b


@pk.jit
def scaled(a):
    return a * SCALE


@pk.jit
def forms(a, n):
    return {"twice": a * 2, "pair": (a + n, None)}, a.sum(), (a[0, 0] > 0.5, n + 1, 3), a


@pk.jit
def outer(a, b):
    return a[:, None] * b[None, :]


@pk.jit
def product(a, b):
    return (a @ b) @ b


def test_references():
    a, b, out = random(3, 4), random(3, 4), np.zeros((3, 4), np.float32)
    pair = (out, np.zeros((), np.float32))

    @pk.jit
    def both(a):
        return a + 1, a.sum()

    calls = [
        lambda: add(a, b),
        lambda: add(a, b, out=out),
        lambda: both(a),
        lambda: both(a, out=pair),
        lambda: forms(random(3, 3), 2),
        lambda: error(add, a, b, out=out.T),
    ]
    watched = [a, b, out, pair, *pair, a.dtype, np.float32, None, True, False, float, dict]
    for call in calls:
        for _ in range(4):
            call()
        before = _counts(watched)
        for _ in range(100):
            call()
        after = _counts(watched)
        assert all(abs(x - y) < 50 for x, y in zip(before, after, strict=True))


def _counts(objects):
    gc.collect()
    return [sys.getrefcount(x) for x in objects]


def _fails(program, *args):
    with pytest.raises(MemoryError):
        program(*args)


def test_results_are_not_kept():
    a, b = random(100, 100), random(100, 100)
    warm(product, a, b)
    gc.collect()
    tracemalloc.start()
    try:
        first, _ = tracemalloc.get_traced_memory()
        for _ in range(200):
            product(a, b)
        last, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert last - first < a.nbytes  # 200 results would be 200 times as much


def test_no_memory_is_an_error():
    a, b = np.ones(1 << 22), np.ones(1 << 24)  # half a petabyte
    counts = _counts([a, b, a.dtype])
    for _ in range(40):
        with pytest.raises(MemoryError):
            outer(a, b)
    assert not through_python(lambda: _fails(outer, a, b))
    after = _counts([a, b, a.dtype])
    assert all(abs(x - y) < 10 for x, y in zip(counts, after, strict=True))
    np.testing.assert_array_equal(warm(outer, a[:3], b[:2]), np.ones((3, 2)))


def test_programs_are_collected():
    program = pk.jit(add.__wrapped__)
    a, b = random(3), random(3)
    warm(program, a, b)
    gone = weakref.ref(program)
    del program
    gc.collect()
    assert gone() is None


def test_threads():
    a = [random(24, 24) + n for n in range(8)]
    b = random(24, 24)
    expected = [(x @ b) @ b for x in a]
    wrong = []

    def work(n):
        x = a[n]
        for k in range(300):
            found = product(x, b) if k % 3 else product(x, b, out=np.empty_like(x))
            if not np.allclose(found, expected[n], rtol=1e-4):
                wrong.append(n)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for n in range(30):  # meanwhile other kinds are put in place
            product(random(3 + n % 10, 3 + n % 10), random(3 + n % 10, 3 + n % 10))
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@pk.kernel
def doubled(y, x):
    i = pk.index(0)
    y[i] = x[i] * 2


@pk.kernel
def summed(y, x):
    i = pk.index(0)
    for k in range(x.shape[0]):
        y[i] += x[k]


def test_names_that_change_while_others_call(monkeypatch):
    a, done = random(5), threading.Event()
    here = sys.modules[__name__]

    def call():
        while not done.is_set():
            scaled(a)

    threads = [threading.Thread(target=call) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for n in range(100):
            monkeypatch.setattr(here, "SCALE", float(2 + n % 2))
            for _ in range(3):
                np.testing.assert_array_equal(scaled(a), a * np.float32(2 + n % 2))
    finally:
        sys.setswitchinterval(interval)
        done.set()
        for thread in threads:
            thread.join()


def test_the_compiler_is_not_started_for_two_calls(monkeypatch):
    known = program_entry_code.shared_cache().get(EntryCode.source.key(program_entry_code.versions()))
    made = service().compile(EntryCode.source) if known is None else known.artifact

    class Elsewhere:
        in_place, worker_pid, asked = False, None, 0

        def compile(self, source):
            self.asked += 1
            return made

    class Empty:
        def get(self, key):
            return None

        def put(self, key, artifact):
            assert artifact is made

    elsewhere, cache = Elsewhere(), Empty()
    monkeypatch.setattr(program_entry_code, "service", lambda: elsewhere)
    monkeypatch.setattr(program_entry_code, "shared_cache", lambda: cache)
    code = program_entry_code.EntryCode()
    assert [code.obtain(n) for n in (2, 3, 31)] == [None] * 3 and not elsewhere.asked
    code.obtain(32)
    assert code._thread is not None
    code._thread.join()
    assert code.obtain(33) and elsewhere.asked == 1
    running = program_entry_code.EntryCode()
    elsewhere.worker_pid = 1
    assert running.obtain(2) and elsewhere.asked == 2


def test_what_takes_long():
    @pk.jit
    def loop(a, n):
        for _ in range(n):
            a = a * 0.5 + 1
        return a

    @pk.jit
    def until(a):
        while a.sum() > 1:
            a = a * 0.5
        return a

    @pk.jit
    def launched(x):
        y = np.zeros_like(x)
        doubled(y, x, ndrange=x.shape)
        return y

    @pk.jit
    def with_loops(x):
        y = np.zeros_like(x)
        summed(y, x, ndrange=x.shape)
        return y

    def is_long(program, *args):
        layout = program.lower(*args).artifact.program
        assert layout is not None
        return layout.long

    a = random(16)
    assert not is_long(add, a, a) and is_long(add, random(1 << 16), random(1 << 16))
    assert is_long(loop, a, 4) and is_long(until, a) and is_long(with_loops, a)  # nobody knows
    assert not is_long(launched, a) and is_long(launched, random(1 << 16))
    assert is_long(product, random(64, 64), random(64, 64))


def test_other_threads_run_during_long_programs():
    @pk.jit
    def long(a, n):
        for _ in range(n):
            a = a * 0.999 + 0.001
        return a

    @pk.jit
    def short(a):
        return a + 1

    a = random(1000)
    warm(long, a, 3)
    warm(short, a)
    assert long.lower(a, 3).artifact.program.long  # how often is not known
    assert not short.lower(a).artifact.program.long
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    during = 0
    try:
        for _ in range(20):  # the other thread may have to wait for a processor
            before = turns[0]
            long(a, 100_000)
            during = max(during, turns[0] - before)
            if during > 1000:
                break
    finally:
        done.set()
        thread.join()
    assert during > 1000
