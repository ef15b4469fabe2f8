"""The team of threads is there for the first long launch, and short ones know nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pykern.runtime.team import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="no team of threads on this system")

HEAD = """
import os, signal, sys, threading
import numpy as np
import pykern as pk
from pykern.runtime.awaited_team import is_awaited
from pykern.runtime.team import team

@pk.kernel
def axpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]

@pk.jit
def twice(a):
    return a * 2.0 + 1.0

pk.set_num_threads(2)

def kernel(n):
    x, y, z = np.arange(float(n)), np.ones(n), np.empty(n)
    axpy(z, x, y, 3.0, ndrange=n)
    return np.array_equal(z, 3.0 * x + 1.0)

def program(n):
    a = np.arange(float(n))
    return np.array_equal(twice(a), a * 2.0 + 1.0)
"""
SCRIPTS = {
    "short launches, then long ones": """
        for _ in range(3):
            assert kernel(1000) and program(1000)
        assert is_awaited() and not team.loaded and team.forks == 0
        assert kernel(1_000_003)
        assert team.loaded and not is_awaited() and team.forks == 1
        assert kernel(1_000_003) and program(1_000_003) and kernel(10) and program(10)
        assert team.forks >= 3
    """,
    "a long launch by the entry": """
        assert kernel(1000) and kernel(1000) and not team.loaded
        assert kernel(1_000_003) and team.forks == 1
    """,
    "a long program first": """
        assert program(1_000_003) and team.loaded and team.forks >= 1
    """,
    "a long program by the entry": """
        assert program(7) and not team.loaded
        assert program(1_000_003) and team.loaded
        assert program(1_000_003)
    """,
    "threads that launch something long at once": """
        assert kernel(10) and program(10)
        start = threading.Barrier(8)
        good = []
        def launch(n):
            start.wait()
            good.append((kernel if n % 2 else program)(400_001 + n))
        threads = [threading.Thread(target=launch, args=(n,)) for n in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert good == [True] * 8 and team.loaded
    """,
    "children of forks before it is there": """
        assert kernel(10) and not team.loaded
        for _ in range(3):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if kernel(10) and not team.loaded and kernel(1_000_003) and team.forks == 1 else 1)
            assert os.waitpid(child, 0)[1] == 0
        assert not team.loaded and kernel(1_000_003) and team.forks == 1
    """,
}


def run(folder: Path, body: str, **variables: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(HEAD + textwrap.dedent(body) + '\nprint("fine", flush=True)\n')
    environment = os.environ | {"PYKERN_QUIET": "1"} | variables
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=150, env=environment
    )


def fine(done: subprocess.CompletedProcess[str]) -> bool:
    return (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of scripts, with a cache that has all that they launch, so that no compiler runs."""
    folder = tmp_path_factory.mktemp("cache")
    body = "assert kernel(10) and kernel(1_000_003)\nfor n in (7, 10, 1000, 1_000_003): assert program(n)\n"
    body += "for n in range(8): assert program(400_001 + n)\n"
    done = run(folder, body, PYKERN_CACHE_DIR=str(folder / "cache"))
    assert fine(done), done.stderr
    return folder


@pytest.mark.parametrize("loader", ["", "dlopen"])
@pytest.mark.parametrize("what", SCRIPTS)
def test_it_comes_from_the_cache(what, loader, known):
    variables = {"PYKERN_LOADER": loader} if loader else {}
    done = run(known, SCRIPTS[what], PYKERN_CACHE_DIR=str(known / "cache"), **variables)
    assert fine(done), done.stderr


@pytest.mark.parametrize("compiler", ["", "inprocess"])
@pytest.mark.parametrize("kept", ["kept", "not kept", "unwritable"])
def test_it_comes_from_the_compiler(kept, compiler, tmp_path):
    variables = {"PYKERN_CACHE_DIR": str(tmp_path / "cache")}
    if kept == "not kept":
        variables["PYKERN_CACHE"] = "0"
    elif kept == "unwritable":
        (tmp_path / "file").write_text("")
        variables["PYKERN_CACHE_DIR"] = str(tmp_path / "file" / "cache")
    if compiler:
        variables["PYKERN_COMPILER"] = compiler
    body = "assert kernel(10) and kernel(1_000_003) and team.forks == 1 and kernel(1_000_003)"
    done = run(tmp_path, body, **variables)
    assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr


def test_processes_that_make_it_at_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HEAD + "assert kernel(10) and kernel(1_000_003) and team.forks == 1\n")
    environment = os.environ | {"PYKERN_QUIET": "1", "PYKERN_CACHE_DIR": str(tmp_path / "cache")}
    started = [subprocess.Popen([sys.executable, script], env=environment) for _ in range(3)]
    assert [each.wait(timeout=150) for each in started] == [0, 0, 0]
    done = run(tmp_path, "assert kernel(1_000_003)", PYKERN_CACHE_DIR=str(tmp_path / "cache"))
    assert fine(done), done.stderr


def test_a_program_that_ends_while_it_is_made_says_nothing(tmp_path):
    body = """
    from pykern.obtain.team_code import team_code
    assert kernel(10)
    thread = team_code._thread
    assert thread is not None  # it is being made, or has been
    """
    done = run(tmp_path, body, PYKERN_CACHE_DIR=str(tmp_path / "cache"))
    assert fine(done), done.stderr
    assert not (tmp_path / "cache" / "crashes").exists()
