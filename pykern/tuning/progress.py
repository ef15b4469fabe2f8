"""The progress line of tuning, on standard error.

``tuning product  37/120  best packed 6x2, depth 512 -> 1.83 ms  eta 14 s``: one line, written over on a terminal,
a line every 10 seconds elsewhere, nothing with ``PYKERN_QUIET=1``.
"""

from __future__ import annotations

import sys
import time

from pykern.compiler.progress import write_stderr
from pykern.environment.settings import settings

EVERY = 10.0


class TuningProgress:
    """Tells how far tuning is. Used in a ``with`` statement."""

    def __init__(self, name: str, total: int, deadline: float) -> None:
        self._name, self._total, self._deadline = name, total, deadline
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last = time.monotonic()
        self._width = 0

    def __enter__(self) -> TuningProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            write_stderr("\n")

    def step(self, done: int, best: str, seconds: float) -> None:
        """`done` configurations are tried."""
        now = time.monotonic()
        if settings().quiet or (not self._terminal and now - self._last < EVERY):
            return
        self._last = now
        left = max(self._deadline - now, 0.0)
        line = (
            f"tuning {self._name}  {done}/{self._total}  best {best or 'the cost model'} -> "
            f"{seconds * 1e3:.3g} ms  at most {left:.0f} s more"
        )
        if self._terminal:
            write_stderr("\r" + line.ljust(self._width))
            self._width = max(self._width, len(line))
        else:
            write_stderr(line + "\n")
