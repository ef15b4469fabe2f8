"""Processes with a team of threads that fork, and that end: nobody waits for threads that are not there."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from pykern.runtime.team import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="no team of threads on this system")

HEAD = """
import os, signal, sys, threading, time
import numpy as np
import pykern as pk

@pk.kernel
def sines(y, x, n):
    i = pk.index()
    total = 0.0
    for k in range(n):
        total += pk.sin(x[i] + k)
    y[i] = total

pk.set_num_threads(3)
x = np.linspace(0.0, 1.0, 4001)
want = sum(np.sin(x + k) for k in range(50))

def launched():
    y = np.full_like(x, np.nan)
    sines(y, x, 50, ndrange=x.shape)
    return np.allclose(y, want)

assert launched()
"""
SCRIPTS = {
    "children while other threads launch": """
        done = []
        def launches():
            while not done:
                if not launched():
                    os._exit(3)
        threads = [threading.Thread(target=launches) for _ in range(4)]
        for each in threads:
            each.start()
        for n in range(60):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0 if launched() and launched() else 1)
            assert os.waitpid(child, 0)[1] == 0, n
        done.append(True)
        for each in threads:
            each.join()
        assert launched()
    """,
    "a child that a thread forks while others launch, and its children": """
        def forks():
            for n in range(20):
                child = os.fork()
                if child == 0:
                    signal.alarm(20)
                    good = launched()
                    grandchild = os.fork()
                    if grandchild == 0:
                        os._exit(0 if launched() else 1)
                    good = good and os.waitpid(grandchild, 0)[1] == 0
                    os._exit(0 if good else 1)
                failed.append(os.waitpid(child, 0)[1])
        failed = []
        thread = threading.Thread(target=forks)
        thread.start()
        while thread.is_alive():
            assert launched()
        assert failed == [0] * 20
    """,
    "an end while a daemon is in a kernel": """
        def launches():
            y = np.empty(1 << 20)
            sines(y, np.zeros(1 << 20), 1_000_000, ndrange=1 << 20)
        for _ in range(2):
            threading.Thread(target=launches, daemon=True).start()
        time.sleep(0.3)
    """,
    "an end while a daemon launches again and again": """
        def launches():
            while True:
                launched()
        for _ in range(3):
            threading.Thread(target=launches, daemon=True).start()
        time.sleep(0.3)
    """,
    "workers that sleep": """
        for _ in range(20):
            time.sleep(0.003)
            assert launched()
    """,
    "processors that are taken away": """
        first = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {first})
        for _ in range(20):
            assert launched()
    """,
}


@pytest.mark.parametrize("what", SCRIPTS)
def test_processes(what, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HEAD + textwrap.dedent(SCRIPTS[what]) + '\nprint("fine", flush=True)\n')
    quiet = os.environ | {"PYKERN_QUIET": "1"}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=150, env=quiet)
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)
