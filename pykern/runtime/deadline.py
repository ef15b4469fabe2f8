"""The time that a launch on the reference device may take.

Comes in: seconds. Goes out: `TimedOut` at the line of the kernel that runs when they are over. Python's own tracing
asks before each line; where a debugger traces, nothing ends the launch.
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pykern.errors import TIME_HINT, TimedOut
from pykern.runtime.reference_place import is_ours


class Deadline:
    """Of one launch; None never comes."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    @contextmanager
    def watched(self) -> Iterator[None]:
        """In this thread, until the block ends."""
        before = sys.gettrace()
        if self._end is None or before is not None:
            yield
            return
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def _trace(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if is_ours(frame.f_code):
            return None
        if event == "line" and self._end is not None and time.monotonic() > self._end:
            raise TimedOut(f"the launch took longer than its timeout= ({self._seconds:g} s)", hint=TIME_HINT)
        return self._trace
