"""Ctrl-C while something compiles: the traceback ends at the user's line, and the next launch works."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.connection import WorkerProcess

HEAD = """
import os, signal, threading, time
import numpy as np
import pykern as pk

def interrupt(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()

x = np.arange(5.0)
"""
CALLS = {
    "kernel": """
        @pk.kernel
        def twice(y, x):
            i = pk.index()
            y[i] = 2.0 * x[i]

        def call():
            y = np.zeros(5)
            twice(y, x, ndrange=5)
            return y
    """,
    "program": """
        @pk.jit
        def twice(x):
            return 2.0 * x

        def call():
            return twice(x)
    """,
    "derivative": """
        @pk.jit
        def square(x):
            return (x * x).sum()

        twice = pk.grad(square)

        def call():
            return twice(x)
    """,
    "kernel's derivative": """
        @pk.kernel
        def square(y, x):
            i = pk.index()
            y[i] = x[i] * x[i]

        backwards = pk.autodiff(square)

        def call():
            dx = np.zeros(5)
            backwards(pk.Dup(np.zeros(5), np.ones(5)), pk.Dup(x, dx), ndrange=5)
            return dx
    """,
    "lowering": """
        import pykern.api.lowered  # else the first call of lower does, on a slow machine until the signal

        @pk.jit
        def twice(x):
            return 2.0 * x

        def call():
            twice.lower(x)
            return twice(x)
    """,
}
TAIL = """
interrupt(0.15)
try:
    call()
except KeyboardInterrupt as error:
    import traceback
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    print("internal", sum("pykern" in file for file in files), "of", len(files))
print(call())
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of POSIX")
@pytest.mark.parametrize("what", CALLS)
def test_the_traceback_ends_at_the_call(what, tmp_path):
    """The compiler takes longer to start than until the signal; only the raising line is ours."""
    script = tmp_path / "script.py"
    script.write_text(HEAD + textwrap.dedent(CALLS[what]) + TAIL)
    environment = os.environ | {"PYKERN_CACHE": "0", "PYKERN_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.stderr == "" and done.returncode == 0
    *told, values = done.stdout.splitlines()
    assert told == ["internal 1 of 3"]
    assert values == str(2.0 * np.arange(5.0))


def test_a_process_that_was_never_begun_ends_at_once(monkeypatch):
    monkeypatch.setattr("pykern.compiler.connection._GRACE", 0.01)
    process = WorkerProcess(["true"])
    process.kill()
    assert process._process is None


def test_frames_of_a_users_kernel_stay():
    """On the reference device it is the user's function that is interrupted."""

    @pk.kernel
    def stops(y):
        y[pk.index()] = interrupted()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught, pk.device("python"):
        stops(np.zeros(3), ndrange=3)
    assert [entry.name for entry in caught.traceback][1:] == ["__call__", "stops", "interrupted"]
