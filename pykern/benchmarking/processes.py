"""Processes that measure, each bound to its threads and with the environment that says so.

Comes in: a command and a job as plain data. Goes out: the messages of the process, one after another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from pykern.benchmarking import threads as binding

CHILD = ("-m", "pykern.benchmarking.child")
PATIENCE = 300.0
"""Seconds: a process that says nothing for as long is ended, so that one library that hangs does not lose the rest."""


class ChildFailed(RuntimeError):
    """The process ended with `status`; what it had to say is on standard error already."""

    def __init__(self, status: int) -> None:
        super().__init__(f"it ended with status {status}")
        self.status = status


def messages(
    job: dict[str, Any], threads: int | None, cache: str | None = None, command: Sequence[str] = CHILD
) -> Iterator[tuple[str, Any]]:
    """Run the job; gives each message with its kind. Raises `ChildFailed` after the last one."""
    environment = dict(os.environ) if threads is None else binding.environment(threads, os.environ)
    if cache:
        environment["PYKERN_CACHE_DIR"] = cache
    process = subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdin is not None and process.stdout is not None
    watch = _Watch(process, PATIENCE)
    try:
        process.stdin.write(json.dumps(job))
        process.stdin.close()
        for line in process.stdout:
            watch.stop()
            yield from json.loads(line).items()
            watch.start()
        status = process.wait()
    finally:
        watch.stop()
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
    if status:
        raise ChildFailed(status)


class _Watch:
    """Ends a process after so many seconds, unless it is stopped before."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self._process, self._seconds = process, seconds
        self._timer: threading.Timer | None = None
        self.start()

    def start(self) -> None:
        self._timer = threading.Timer(self._seconds, self._process.kill)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
