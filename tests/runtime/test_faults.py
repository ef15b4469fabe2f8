"""A process that dies inside of a kernel says in which, and otherwise dies as it would have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from pykern.runtime.faults import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="no handler is made for this machine")

PROGRAM = """
import faulthandler, os, sys, threading
import numpy as np
import pykern as pk
{before}

@pk.kernel
def far(y, place):
    i = pk.index()
    y[place[i]] = 1.0

@pk.kernel
def right(y):
    y[pk.index()] = 2.0

y, place = np.zeros(4), np.zeros(4, np.int64)
far(y, place, ndrange=4)
right(y, ndrange=4)
{after}
place[:] = 1 << 40
{run}
print("not reached")
"""
LAUNCH = "far(y, place, ndrange=4)"
SAID = "pykern: `far` ("


@pytest.fixture
def died(tmp_path):
    """Runs the program. Gives its exit status, standard output and standard error."""

    def run_it(**parts: str) -> tuple[int, str, str]:
        return _died(tmp_path / "program.py", **parts)

    return run_it


def _died(
    path, before: str = "", after: str = "", run: str = LAUNCH, **environment: str
) -> tuple[int, str, str]:
    text = PROGRAM.format(before=before, after=after, run=run)
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYKERN_QUIET": "1", **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_it_is_told_and_dies_of_the_signal(died):
    status, out, said = died()
    assert status == -signal.SIGSEGV and not out
    assert said.count(SAID) == 1 and "PYKERN_DEBUG=1 finds the access" in said
    assert "right" not in said


def test_from_the_compiled_entry(died):
    status, _, said = died(after="for _ in range(5): far(y, place, ndrange=4)")
    assert status == -signal.SIGSEGV and said.count(SAID) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_faulthandler_speaks_too(died, when):
    status, _, said = died(**{when: "faulthandler.enable()"})
    assert status == -signal.SIGSEGV
    assert said.count(SAID) == 1
    assert "Fatal Python error: Segmentation fault" in said and "<module>" in said


def test_other_faults_and_signals_are_nobodys(died):
    for run in (
        "import ctypes; ctypes.string_at(8)",
        "os.kill(os.getpid(), 11)",
        "threading.Thread(target=lambda: os.kill(os.getpid(), 11)).start(); threading.Event().wait(30)",
    ):
        status, out, said = died(run=run)
        assert status == -signal.SIGSEGV and not out
        assert "pykern:" not in said, said


def test_a_handler_of_python_still_runs(died):
    handler = (
        "import signal; signal.signal(signal.SIGSEGV, lambda *_: (print('mine', flush=True), os._exit(3)))"
    )
    for when in ("before", "after"):
        status, out, _ = died(**{when: handler}, run="os.kill(os.getpid(), 11); __import__('time').sleep(5)")
        assert (status, out) == (3, "mine\n")


def test_a_bus_error(died):
    run = (
        "import mmap, tempfile; f = tempfile.TemporaryFile(); f.truncate(1 << 20); m = mmap.mmap(f.fileno(), 1 << 20)\n"
        "a = np.frombuffer(m, np.float64); f.truncate(0); far(a, np.arange(4) * 1000, ndrange=4)"
    )
    status, _, said = died(run=run)
    assert status == -signal.SIGBUS and said.count(SAID) == 1


def test_in_another_thread(died):
    run = f"t = threading.Thread(target=lambda: {LAUNCH}); t.start(); t.join()"
    status, _, said = died(run=run)
    assert status == -signal.SIGSEGV and said.count(SAID) == 1


def test_it_can_be_left_out(died):
    status, _, said = died(PYKERN_FAULT_HANDLER="0")
    assert status == -signal.SIGSEGV and "pykern:" not in said
