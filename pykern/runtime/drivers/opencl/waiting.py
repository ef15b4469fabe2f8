"""Waiting for OpenCL in a way that Ctrl-C ends.

Python runs signal handlers in the main thread, between two of its own instructions, and a wait in the driver is one
instruction. So the main thread asks again and again whether the work is done, at first without a pause, then with
pauses of a twentieth of the time so far. The work that was waited for goes on after an interrupt: OpenCL cannot take
it back. Other threads wait in the driver.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SHORT = 2e-4
"""Seconds without a pause."""
SHARE, LONGEST = 0.05, 2e-3
"""A pause is this share of the time waited so far, and at most so many seconds."""


def wait(finished: Callable[[], bool], blocking: Callable[[], object]) -> None:
    """Until `finished`; then, or at once in other threads, `blocking`, which raises where the work has failed."""
    if threading.current_thread() is threading.main_thread():
        begin = time.perf_counter()
        while not finished():
            waited = time.perf_counter() - begin
            time.sleep(min(waited * SHARE, LONGEST) if waited > SHORT else 0)
    blocking()
