"""How far a long run is: one line that is rewritten on a terminal, else a line every ten seconds.

Comes in: texts. Goes out: standard error, silent under ``PYKERN_QUIET=1``.
"""

from __future__ import annotations

import shutil
import sys
import time

from pykern.environment.settings import settings

EVERY = 10.0


class Progress:
    """``progress.step("saxpy n=4096")`` counts one of `total`."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self._out = sys.stderr
        self._rewrites = self._out.isatty()
        self._quiet = settings().quiet
        self._started = self._told = time.monotonic()

    def step(self, text: str) -> None:
        """One more is done; `text` says which."""
        self.done += 1
        self.say(text)

    def say(self, text: str) -> None:
        """Show the line, where it is time to."""
        now = time.monotonic()
        if self._quiet or not (self._rewrites or now - self._told >= EVERY):
            return
        self._told = now
        line = f"{self.what}  {self.done}/{self.total}  {text}{self._left(now)}"
        if self._rewrites:
            print(
                "\r" + line[: shutil.get_terminal_size().columns - 1] + "\033[K",
                end="",
                file=self._out,
                flush=True,
            )
        else:
            print(line, file=self._out, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self._rewrites and not self._quiet:
            print("\r\033[K", end="", file=self._out, flush=True)

    def _left(self, now: float) -> str:
        if not self.done or self.done >= self.total:
            return ""
        return f"  eta {(now - self._started) / self.done * (self.total - self.done):.0f} s"
