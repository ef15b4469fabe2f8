"""The process in which a driver's compiler runs, seen from the user's process.

Comes in: requests for `worker`, which is the other side. Goes out: its answers, or how it ended. One process serves
all builds, one after another; where it dies, hangs or is interrupted the next build has a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import tempfile
import threading
from dataclasses import dataclass
from typing import IO, Any

from pykern.environment.bootstrap import start, worker_command

WORKER = "pykern.runtime.drivers.opencl.worker"
_LINES = 6
_FROM_OUTSIDE = {"SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"}


class CompilerProcess:
    """The process, and its pipes."""

    def __init__(self) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = start(worker_command(WORKER), self._said)
        self._killed = False
        self.stopped = False
        """Whether it took too long."""
        self.owner = os.getpid()

    @property
    def alive(self) -> bool:
        return not self._killed and self.owner == os.getpid() and self._process.poll() is None

    def ask(self, request: bytes, seconds: float) -> tuple[dict[str, Any], bytes] | None:
        """The answer; None where the process has ended, or was stopped because it took longer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        clock = threading.Timer(seconds, self._stop)
        clock.daemon = True
        clock.start()
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            if not line.endswith(b"\n"):
                return None
            answer = json.loads(line)
            binary = self._process.stdout.read(answer["size"])
            return (answer, binary) if len(binary) == answer["size"] else None
        except BrokenPipeError:
            return None
        except BaseException:
            # Ctrl-C, most of all: the answer would be taken for that of the next request, or the end for a crash.
            self.kill()
            raise
        finally:
            clock.cancel()

    def kill(self) -> None:
        """End it now: nobody asks it anything again, also not while the system still ends it."""
        self._killed = True
        self._process.kill()

    def _stop(self) -> None:
        self.stopped = True
        self.kill()

    def end(self) -> tuple[int, list[str]]:
        """How it ended, and its last words."""
        status = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").splitlines()
        self.close()
        words = [line.strip() for line in lines if line.strip() and not line.startswith(" #")]
        return status, words[-_LINES:]

    def close(self, wait: bool = True) -> None:
        """Let it end, with its input. After a fork it is the other process's: then only the pipes go."""
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if wait and self.owner == os.getpid():
            self._process.wait()
        else:
            self._process.returncode = 0


def _from_outside(status: int) -> bool:
    """Whether somebody ended the process: the same program may well compile the next time."""
    return any(s.name in _FROM_OUTSIDE for s in signal.Signals if s == -status)


def _described(status: int) -> str:
    """An exit status in words."""
    known = [s for s in signal.Signals if s == -status]
    return f"died of {known[0].name}" if known else f"ended with status {status}"


_current: list[CompilerProcess] = []


def running() -> CompilerProcess:
    """The process that runs, or a new one."""
    if _current and not _current[0].alive:
        end_worker()
    if not _current:
        _current.append(CompilerProcess())
    return _current[0]


@dataclass(frozen=True)
class Ended:
    """A process that gave no answer: `how` ends the sentence "the compiler ...", `words` are its last ones."""

    how: str
    words: list[str]


def ask(request: bytes, seconds: float) -> tuple[dict[str, Any], bytes] | Ended:
    """The answer of the process that runs, which has so long for it. One that somebody ended is replaced, once."""
    for again in (False, True):
        process = running()
        answer = process.ask(request, seconds)
        if answer is not None:
            return answer
        status, words = process.end()
        if process.stopped:
            return Ended(f"was stopped after {seconds:g} s", words)
        if again or not _from_outside(status):
            break
    return Ended(_described(status), words)


def end_worker() -> None:
    """Let the process end, where there is one."""
    while _current:
        _current.pop().close()


@atexit.register
def _leave() -> None:
    while _current:
        _current.pop().close(wait=False)  # it goes once it notices, and holds nobody up
