"""The compile that a compiler process makes before it is asked for one."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from pykern.compiler import frames
from pykern.compiler.driver import compile_source
from pykern.compiler.warm_up import warm_up
from pykern.errors import PassError

STUB = """
import sys, time
from pykern.compiler.worker import serve

def load():
    if sys.argv[1] == "later":
        return lambda source, keep_stages: source
    time.sleep(0.5)  # a request comes meanwhile
    return lambda source, keep_stages: source

serve(load, prepare=[lambda compile: print("prepared", compile("it", keep_stages=False), file=sys.stderr)])
"""


def test_it_compiles():
    made = []
    warm_up(lambda source: made.append(compile_source(source)))
    assert made[0].binary


def test_what_fails_is_left_to_the_users_own():
    def fails(source):
        raise PassError("no")

    def breaks(source):
        raise ZeroDivisionError

    warm_up(fails)
    with pytest.raises(ZeroDivisionError):
        warm_up(breaks)


@pytest.mark.parametrize("when", ["later", "at once"])
def test_only_where_nobody_waits(when):
    with subprocess.Popen(
        [sys.executable, "-c", STUB, when],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as worker:
        assert worker.stdin is not None and worker.stdout is not None and worker.stderr is not None
        request = frames.encode(("compile", 1, pickle.dumps("source"), False, False))
        if when == "at once":
            frames.write(worker.stdin.fileno(), request)
        assert frames.read(worker.stdout.fileno())[0] == "ready"
        if when == "later":
            assert worker.stderr.readline() == b"prepared it\n"
            frames.write(worker.stdin.fileno(), request)
        assert frames.read(worker.stdout.fileno()) == ("begun", 1)
        assert frames.read(worker.stdout.fileno()) == ("done", 1, "source")
        _, errors = worker.communicate()
        assert b"prepared" not in errors
