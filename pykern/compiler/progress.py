"""What a user is told on standard error while kernels compile: little, and only when it takes long.

Comes in: a kernel and the process that works on it. Goes out: lines such as
``pykern: compiling heat for nvvm:sm_90a ... 3.2 s``, the first time that something takes over a second.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from pykern.compiler.connection import WorkerProcess
from pykern.data.artifact import Artifact
from pykern.data.runtime_source import Source
from pykern.environment.settings import Settings, settings

_PATIENCE = 1.0


class Progress:
    """Waits for messages of a process on behalf of one request. Used in a ``with`` statement."""

    told = False
    """Once is enough in a process; ``PYKERN_LOG=compile`` tells of every kernel."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._what = f"{source.function.name} for {source.target}"
        self._settings = settings
        self._started = time.monotonic()
        self._open = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        elapsed = time.monotonic() - self._started
        if self._open:
            write_stderr(f" {elapsed:.1f} s\n")
        elif self._settings.logs("compile"):
            write_stderr(f"pykern: compiled {self._what} in {elapsed * 1e3:.0f} ms\n")

    def receive(self, worker: WorkerProcess, deadline: float) -> tuple[Any, ...] | None:
        """The next message, or None when the deadline (of `time.monotonic`) has passed."""
        patience = self._started + _PATIENCE
        if not Progress.told and not self._settings.quiet and patience < deadline:
            if (message := worker.receive(max(patience - time.monotonic(), 0.0))) is not None:
                return message
            Progress.told = self._open = True
            write_stderr(f"pykern: compiling {self._what} ...")
        return worker.receive(max(deadline - time.monotonic(), 0.0))


def write_stderr(text: str) -> None:
    """Write to standard error, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def with_remarks(artifact: Artifact) -> Artifact:
    """The artifact; what passes say of it is told where the user asked for it."""
    if settings().logs("remarks"):
        for remark in artifact.remarks:
            place = f"{remark.file}:{remark.line}: " if remark.line else ""
            write_stderr(f"{place}{artifact.kernel} for {artifact.target}: {remark.text}\n")
    return artifact
