"""Processes that measure, each bound to its threads and with the environment that says so.

Comes in: a command and a job as plain data. Goes out: the messages of the process, one after another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pykern.benchmarking import threads as binding

CHILD = ("-m", "pykern.benchmarking.child")


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
    try:
        process.stdin.write(json.dumps(job))
        process.stdin.close()
        for line in process.stdout:
            yield from json.loads(line).items()
        status = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
    if status:
        raise ChildFailed(status)
