"""Ctrl-C in the midst of a launch: it ends whatever runs, loses nothing, and changes nothing where handlers go on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import textwrap

import pytest

from pykern.runtime.team import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="no team of threads on this system")

HEAD = """
import ctypes, os, signal, sys, threading, time
import numpy as np
import pykern as pk
from pykern.runtime.team import FACTS, team

@pk.kernel
def sines(y, x, n):
    i = pk.index()
    total = 0.0
    for k in range(n):
        total += pk.sin(x[i] + k)
    y[i] = total

def stopped(call, after=0.3):
    \"\"\"Whether Ctrl-C ends a call that would take for ever.\"\"\"
    try:
        threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        call()
    except KeyboardInterrupt:
        return True
    return False

def right(n=1001, steps=30):
    y, x = np.full(n, np.nan), np.random.default_rng(n).random(n)
    sines(y, x, steps, ndrange=n)
    return np.allclose(y, sum(np.sin(x + k) for k in range(steps)))

assert right()
"""
SCRIPTS = {
    "loops of few and many work-items": """
        @pk.kernel
        def nested(y, x, n):
            i = pk.index()
            total = 0.0
            for k in range(n):
                for j in range(n):
                    total += x[i] * k - j
            y[i] = total

        @pk.kernel
        def overflows(y, x, n):
            i = pk.index()
            total = 0.0
            for k in range(n):
                for j in range(n):
                    for l in range(n):
                        total += x[i] * k - j * l
            y[i] = total

        @pk.kernel
        def gammas(y, x, n):  # a function of libm, where the signal finds the thread more often than not
            i = pk.index()
            total = 0.0
            for k in range(n):
                total += pk.lgamma(x[i] + k)
            y[i] = total

        @pk.kernel
        def integers(y, n):
            i = pk.index()
            a = i + 1
            for k in range(n):
                a = (a * 1103515245 + 12345) % 2147483648
            y[i] = a

        @pk.kernel
        def halved(y, x):
            i = pk.index()
            v = x[i]
            while v > 1.0:
                v = v * 0.5
            y[i] = v

        @pk.kernel
        def as_told(y, counts):
            i = pk.index()
            total = 0.0
            for k in range(counts[i]):
                total += pk.sin(total + k)
            y[i] = total

        for threads in (1, 2):
            pk.set_num_threads(threads)
            for n in (1, 10, 1000):
                y, x, integer = np.zeros(n), np.ones(n), np.zeros(n, np.int64)
                last = np.ones(n)
                last[-1] = np.inf
                long = np.full(n, 3)
                long[-1] = 1 << 60
                assert stopped(lambda: nested(y, x, 10**7, ndrange=n))
                assert stopped(lambda: overflows(y, x, 1 << 22, ndrange=n))
                assert stopped(lambda: sines(y, x, 10**12, ndrange=n))
                assert stopped(lambda: gammas(y, x, 10**11, ndrange=n))
                assert stopped(lambda: integers(integer, 10**12, ndrange=n))
                assert stopped(lambda: halved(y, last, ndrange=n))
                assert stopped(lambda: as_told(y, long, ndrange=n))
                assert right(n)
    """,
    "programs": """
        @pk.kernel
        def stepped(y, x):
            i = pk.index()
            v = x[i]
            while v > 1.0:
                v = v * 0.5
            y[i] = v

        @pk.jit
        def calls(x):
            y = pk.zeros_like(x)
            stepped(y, x, ndrange=x.shape)
            return y + 1.0

        @pk.jit
        def over_time(x, n: int):
            for k in range(n):
                x = 0.5 * x + pk.sin(x)
            return x

        @pk.jit
        def until(x, limit: float):
            total = 0.0
            while total < limit:
                x = 0.5 * x + 1.0
                total += 1.0
            return x

        @pk.jit
        def product(a, n: int):
            b = a
            for k in range(n):
                b = pk.tanh(a @ b)
            return b

        for threads in (1, 2):
            pk.set_num_threads(threads)
            for n in (3, 100_001):
                x = np.linspace(0.0, 1.0, n)
                assert stopped(lambda: calls(np.full(n, np.inf)))
                assert stopped(lambda: over_time(x, 1 << 40))
                assert stopped(lambda: until(x, 1e30))
                np.testing.assert_array_equal(calls(np.full(n, 12.0)), np.full(n, 1.75))
                np.testing.assert_allclose(over_time(x, 1), 0.5 * x + np.sin(x))
                np.testing.assert_allclose(until(x, 2.0), 0.25 * x + 1.5)
            a = np.random.default_rng(0).random((300, 300)) / 300
            assert stopped(lambda: product(a, 1 << 40))
            np.testing.assert_allclose(product(a, 1), np.tanh(a @ a))
    """,
    "a handler that goes on": """
        heard = []
        signal.signal(signal.SIGINT, lambda *_: heard.append(right(50)))  # it launches, in the midst of a launch
        signal.signal(signal.SIGALRM, lambda *_: heard.append(right(50_000)))
        for threads in (1, 2):
            pk.set_num_threads(threads)
            before = len(heard)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            n = 20_011
            y, x = np.full(n, np.nan), np.linspace(0.0, 1.0, n)
            steps = 40_000 if threads == 1 else 60_000
            angles = (steps - 1) / 2
            wanted = np.sin(steps / 2) / np.sin(0.5) * np.sin(x + angles)  # of a sum of sines
            begun = time.monotonic()
            while len(heard) < before + 2 and time.monotonic() < begun + 60:
                sines(y, x, steps, ndrange=n)
                np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=1e-6)
            assert heard[before:] == [True, True], heard
    """,
    "very many interruptions": """
        team._facts[FACTS["period"]] = 1_000_000  # ns
        heard = []
        signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

        @pk.kernel
        def halves(y, x, low):
            i = pk.index()
            v = x[i]
            k = 0
            while v > low:
                v = v * 0.999
                k += 1
            y[i] = k

        @pk.jit
        def program(a):
            return pk.tanh(a @ a).sum(axis=0)

        rng = np.random.default_rng(0)
        a = rng.random((260, 260)) / 100
        x = rng.random(3001) * 50 + 1
        steps, v = np.zeros(3001), x.copy()
        while (v > 0.5).any():
            steps += v > 0.5
            v = np.where(v > 0.5, v * 0.999, v)
        wanted = np.tanh(a @ a).sum(axis=0)
        began, before = time.monotonic(), team.answers
        while time.monotonic() < began + 12:
            for threads in (1, 2, 3):
                pk.set_num_threads(threads)
                y = np.full(3001, np.nan)
                halves(y, x, 0.5, ndrange=3001)
                assert (y == steps).all()
                np.testing.assert_allclose(program(a), wanted, rtol=1e-12)
                assert right(3001, 40)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert len(heard) > 100 and team.answers > before + 20, (len(heard), team.answers)
    """,
    "launches of other threads": """
        done = []
        def launches():
            n = 4000
            y, x = np.full(n, np.nan), np.linspace(0.0, 1.0, n)
            sines(y, x, 60_000, ndrange=n)
            wanted = np.sin(30_000) / np.sin(0.5) * np.sin(x + 59_999 / 2)
            done.append(np.allclose(y, wanted, atol=1e-6))
        threads = [threading.Thread(target=launches) for _ in range(2)]
        for each in threads:
            each.start()
        assert stopped(lambda: time.sleep(60))
        assert stopped(lambda: sines(np.zeros(5), np.zeros(5), 1 << 50, ndrange=5))
        for each in threads:
            each.join()
        assert done == [True, True]
    """,
    "forks while launches run": """
        ending = []
        def launches():
            while not ending:
                assert right(3001)
        thread = threading.Thread(target=launches)
        thread.start()
        for threads in (1, 2) * 3:
            pk.set_num_threads(threads)
            assert stopped(lambda: sines(np.zeros(5), np.zeros(5), 1 << 50, ndrange=5), 0.1)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                good = right() and stopped(lambda: sines(np.zeros(5), np.zeros(5), 1 << 50, ndrange=5))
                os._exit(0 if good and right(2003) else 1)
            assert os.waitpid(child, 0)[1] == 0
        ending.append(True)
        thread.join()
    """,
    "Python within a launch": """
        @pk.kernel
        def prints(y, x, n):
            i = pk.index()
            pk.print("at", i)
            total = 0.0
            for k in range(n):
                total += pk.sin(x[i] + k)
            y[i] = total

        class Launches:
            \"\"\"What is printed first is written while launches, short and long, run within the launch.\"\"\"
            told, made, ends = [], [], False
            def write(self, text):
                if not self.made:
                    self.made.append(right(20) and right(30_000, 200))
                    if self.ends and threading.current_thread() is threading.main_thread():
                        time.sleep(60)
                self.told.append(text)
            def flush(self):
                pass
        team._facts[FACTS["period"]] = 1_000_000  # ns
        for threads in (1, 2):
            pk.set_num_threads(threads)
            out, sys.stdout = sys.stdout, Launches()
            Launches.made, Launches.told, Launches.ends = [], [], False
            y, x = np.full(500, np.nan), np.linspace(0.0, 1.0, 500)
            prints(y, x, 100, ndrange=500)
            assert all(Launches.made) and len("".join(Launches.told).split()) == 1000
            np.testing.assert_allclose(y, sum(np.sin(x + k) for k in range(100)), atol=1e-9)
            Launches.made, Launches.ends = [], True
            assert stopped(lambda: prints(y, x, 1 << 50, ndrange=500))
            Launches.made, Launches.ends = [], False
            assert stopped(lambda: prints(y, x, 1 << 50, ndrange=500))
            sys.stdout = out
            assert right()
    """,
    "memory": """
        team._facts[FACTS["period"]] = 1_000_000  # ns

        @pk.kernel
        def private(o, n):
            i = pk.index()
            t = pk.private(1 << 22, pk.f64)
            for k in range(n):
                t[(k * 1000 + i) % (1 << 22)] = i
            o[i] = t[i]

        @pk.kernel
        def power(y, x, n):
            i = pk.index()
            p = x[i]
            for k in range(n):
                if p < 3.0:
                    p = p * x[i] + 0.25 * pk.sin(p)
            y[i] = p

        backwards = pk.autodiff(power)

        def used():
            with open("/proc/self/status") as lines:
                return next(int(line.split()[1]) for line in lines if line.startswith("VmSize")) >> 10

        o, x = np.zeros(64), np.full(64, 0.5)
        def both():
            for each in range(1 << 40):
                private(o, 1 << 20, ndrange=64)
                y, dy, dx = np.zeros(64), np.ones(64), np.zeros(64)
                backwards(pk.Dup(y, dy), pk.Dup(x, dx), 100_000, ndrange=64)

        def alone():
            private(o, 1 << 60, ndrange=64)

        pk.set_num_threads(2)
        for count, call in ((10, both), (10, alone)):
            for n in range(count):
                assert stopped(call, 0.05)
        before = used()
        for n in range(100):
            assert stopped(both, 0.01 + 0.0007 * n)
            assert stopped(alone, 0.03)
        assert used() < before + 1000, (before, used())  # a piece is 32 MiB
        assert right()
    """,
    "an end while the watcher sleeps, and while it does not": """
        assert stopped(lambda: sines(np.zeros(5), np.zeros(5), 1 << 50, ndrange=5))
        if os.fork() == 0:
            assert right()
            sys.exit()
        assert os.wait()[1] == 0
        time.sleep(0.5)
        assert right(20_000, 2000)
    """,
    "the signal is somebody else's": """
        assert stopped(lambda: sines(np.zeros(5), np.zeros(5), 1 << 50, ndrange=5))
        heard = []
        for number in range(40, 60):
            signal.signal(number, lambda *_: heard.append(1))
        pk.set_num_threads(1)
        for n in range(3):
            assert stopped(lambda: sines(np.zeros(5), np.zeros(5), 1 << 50, ndrange=5))
        signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))
        n = 3000
        y, x = np.zeros(n), np.linspace(0.0, 1.0, n)
        sines(y, x, 20_000, ndrange=n)
        np.testing.assert_allclose(y, np.sin(10_000) / np.sin(0.5) * np.sin(x + 19_999 / 2), atol=1e-6)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, range(34, 65))
        assert heard == [] and right()
    """,
}
MODES = """
        c_library = ctypes.CDLL("libm.so.6")
        def modes(flush=None):
            found = (ctypes.c_uint32 * 8)()
            c_library.fegetenv(found)
            if flush is not None:
                found[7] |= 0x8040  # FTZ and DAZ of SSE
                found[0] ^= 0x400  # rounding of x87
                c_library.fesetenv(found)
            return found[0] & 0xF00, found[7] & 0xFFC0
        plain = modes()
        modes(flush=True)
        flushed = modes()
        assert flushed != plain
        for threads in (1, 2):
            pk.set_num_threads(threads)
            for n in (1, 1000):
                assert stopped(lambda: sines(np.zeros(n), np.zeros(n), 1 << 50, ndrange=n))
                assert modes() == flushed
"""
if platform.machine() == "x86_64":
    SCRIPTS["modes of floating point"] = MODES


@pytest.mark.parametrize("what", SCRIPTS)
def test_stops(what, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HEAD + textwrap.dedent(SCRIPTS[what]) + '\nprint("fine", flush=True)\n')
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", script],
        capture_output=True, text=True, timeout=280, env=os.environ | {"PYKERN_QUIET": "1"},
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)
