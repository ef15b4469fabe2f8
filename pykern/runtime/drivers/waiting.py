"""Waiting for a device in a way that Ctrl-C ends.

Python runs signal handlers in the main thread, between two of its own instructions, and a wait in the driver is one
instruction. So the main thread asks whether the work is done, first at once and then less and less often, and lets
another thread wait in the driver for what takes long. The work that was waited for goes on after an interrupt: drivers
cannot take it back. Other threads wait in the driver themselves.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

AT_FIRST = 5e-5
"""Seconds for which the main thread asks without a pause: about what the shortest pause of the system takes."""
LONG = 2e-3
"""Seconds after which another thread waits: to wake it, and to be woken by it, is little beside them."""
PART = 1 / 8
"""The length of a pause, as a part of the time that has been waited."""
AT_ONCE = 4
"""Waits that may go on at a time: those that were interrupted do."""


def wait(finished: Callable[[], bool], blocking: Callable[[], object]) -> None:
    """Until `finished`; then, or at once in other threads, `blocking`, which raises where the work has failed."""
    if threading.current_thread() is threading.main_thread():
        begin = time.perf_counter()
        while not finished():
            waited = time.perf_counter() - begin
            if waited > LONG:
                _elsewhere(os.getpid()).submit(blocking).result()
                return
            time.sleep(waited * PART if waited > AT_FIRST else 0)
    blocking()


@functools.cache
def _elsewhere(process: int) -> ThreadPoolExecutor:
    """Threads of this process that wait: those of a process that forked are not there."""
    return ThreadPoolExecutor(AT_ONCE, "pykern-wait")
