"""Random accidents of processes: the compiler is killed or stopped, the program is, limits are low.

Each case is a program of its own that compiles and runs kernels and programs, compared with NumPy. Whatever happens,
a call gives the right result or an error of pykern's that says what happened: no wrong result, no traceback from
inside, no hang. Afterwards nothing lies around, and the next program works.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases.seeds import seeds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc are Linux's")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = '''
import os, random, resource, signal, subprocess, sys, threading, time

import numpy as np
import numpy.testing

import pykern as pk
from pykern.compiler.service import service
from pykern.errors import KernelError

chosen = random.Random(int(sys.argv[1]))
pk.kernel, pk.jit  # as `subprocess` and `numpy.testing`: modules are there before limits are
MESSAGES = []


def call(work):
    """Right, or an error of pykern's that is one sentence and more."""
    try:
        work()
    except MemoryError as error:
        if not isinstance(error, KernelError):  # Python's own, from wherever it has none left
            return False
        MESSAGES.append(str(error))
        return False
    except KernelError as error:
        text = str(error)
        MESSAGES.append(text)
        assert len(text.split()) > 3, text
        return False
    return True


def kernel(number):
    a = float(number)

    @pk.kernel
    def axpy(y, x):
        i = pk.index()
        y[i] = pk.sin(x[i]) * a + y[i]

    x, y = np.linspace(0, 3, 500), np.ones(500)
    axpy(y, x, ndrange=500)
    np.testing.assert_allclose(y, np.sin(x) * a + 1, rtol=1e-12)


def program(number):
    a = float(number)

    @pk.jit
    def total(x, y):
        return (x @ y).sum(axis=1) * a

    x = np.arange(40.0).reshape(8, 5) / 7
    expected = (x[:, None] * x[None]).sum(axis=(1, 2)) * a  # OpenBLAS ends a process that has no memory
    np.testing.assert_allclose(np.asarray(total(x, x.T.copy())), expected, rtol=1e-12)


def some(number):
    return call(lambda: chosen.choice((kernel, program))(number))


def finished():
    print("errors:", len(MESSAGES))
    for text in MESSAGES:
        print(text)
    print("finished")
'''

KILLS = """
stop = threading.Event()

def kill():
    while not stop.wait(chosen.choice((0.0, 0.02, 0.3, 0.8, 1.5))):
        running = service().worker_pid
        if running is None:
            continue
        try:
            if chosen.random() < 0.5:
                os.kill(running, signal.SIGSTOP)
                time.sleep(chosen.random() * 0.3)
                os.kill(running, signal.SIGCONT)
            else:
                os.kill(running, chosen.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)))
        except ProcessLookupError:
            pass

killer = threading.Thread(target=kill)
killer.start()
for number in range(3):
    some(number)
stop.set()
killer.join()
assert all(call(lambda: kernel(number)) for number in range(10, 12)), MESSAGES
finished()
"""

LIMITS = """
def used():
    return int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGESIZE")

def limit():
    what = chosen.choice(("memory", "files", "size"))
    if what == "memory":
        value = used() + chosen.choice((0, 1 << 20, 40 << 20, 200 << 20, 700 << 20, 2 << 30))
        number = resource.RLIMIT_AS
    elif what == "files":
        value = len(os.listdir("/proc/self/fd")) + chosen.randint(-1, 12)
        number = resource.RLIMIT_NOFILE
    else:
        value, number = chosen.choice((0, 1, 1000, 5000, 1 << 16)), resource.RLIMIT_FSIZE
    before = resource.getrlimit(number)
    resource.setrlimit(number, (value, before[1]))
    return what, number, before

early = chosen.random() < 0.5
if not early:
    assert some(50)
what, number, before = limit()
for n in range(2):
    some(n)
resource.setrlimit(number, before)
service().close()  # one that was started under the limit has it still
print(what, early)
assert all(call(lambda: kernel(n)) for n in range(10, 12)), MESSAGES
finished()
"""

ENDLESS = """
print("begun", flush=True)
for number in range(1000):
    some(number)
"""


def start(text: str, seed: int, folder: Path, **environment: str) -> subprocess.Popen[str]:
    path = folder / "program.py"
    path.write_text(PROGRAM + text)
    (folder / "tmp").mkdir(exist_ok=True)
    known = {n: v for n, v in os.environ.items() if not n.startswith("PYKERN_")}
    known["PYTHONDONTWRITEBYTECODE"] = "1"  # limits cut files of modules off
    known |= {"PYKERN_CACHE_DIR": str(folder / "cache"), "TMPDIR": str(folder / "tmp"), "PYKERN_QUIET": "1"}
    return subprocess.Popen(
        [sys.executable, str(path), str(seed)],
        env={**known, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def check(text: str, seed: int, folder: Path) -> str:
    process = start(text, seed, folder, PYKERN_COMPILE_TIMEOUT="60")
    said, errors = ended(process)
    assert process.returncode == 0 and said.endswith("finished\n"), f"seed {seed}:\n{said}\n{errors}"
    left = sorted(p.name for p in (folder / "tmp").iterdir() if p.name not in said)  # a report is told
    assert not left, f"seed {seed}: {left}\n{said}"
    return said


@pytest.mark.parametrize("seed", seeds(2))
def test_a_compiler_that_is_killed_and_stopped(seed: int, tmp_path: Path):
    said = check(KILLS, seed, tmp_path)
    for message in re.findall(r"^.*\[PK\d+\]$", said, re.MULTILINE):
        assert "[PK008]" in message and ("SIGKILL" in message or "SIGTERM" in message), (
            f"seed {seed}: {message}"
        )


@pytest.mark.parametrize("seed", seeds(4))
def test_low_limits(seed: int, tmp_path: Path):
    check(LIMITS, seed, tmp_path)


@pytest.mark.parametrize("seed", seeds(2))
def test_a_program_that_is_killed(seed: int, tmp_path: Path):
    process = start(ENDLESS, seed, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(random.Random(seed).choice((0.0, 0.3, 1.0, 2.0, 3.0)) * random.Random(seed + 1).random())
    process.send_signal(signal.SIGKILL)
    ended(process)
    assert not list((tmp_path / "tmp").iterdir()), f"seed {seed}"
    assert within(10, lambda: not compilers(tmp_path)), f"seed {seed}: {compilers(tmp_path)}"
    check("assert some(0), MESSAGES\nfinished()", seed, tmp_path)


def compilers(folder: Path) -> list[int]:
    """Processes that were started for a program there: they have its environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if str(folder / "cache").encode() in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
        except OSError:  # it has just ended
            continue
    return found


def within(seconds: float, holds: object) -> bool:
    deadline = time.monotonic() + seconds
    assert callable(holds)
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
