"""Waiting for a device in a way that Ctrl-C ends.

Python runs signal handlers in the main thread, between two of its own instructions, and a wait in the driver is one
instruction. So the main thread asks for a short time whether the work is done, and then lets another thread wait in the
driver. The work that was waited for goes on after an interrupt: drivers cannot take it back. Other threads wait in the
driver themselves.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

SHORT = 1e-4
"""Seconds for which the main thread asks: about what it takes to wake another thread and to be woken by it."""
AT_ONCE = 4
"""Waits that may go on at a time: those that were interrupted do."""


def wait(finished: Callable[[], bool], blocking: Callable[[], object]) -> None:
    """Until `finished`; then, or at once in other threads, `blocking`, which raises where the work has failed."""
    if threading.current_thread() is threading.main_thread():
        end = time.perf_counter() + SHORT
        while not finished():
            if time.perf_counter() > end:
                _elsewhere(os.getpid()).submit(blocking).result()
                return
            time.sleep(0)
    blocking()


@functools.cache
def _elsewhere(process: int) -> ThreadPoolExecutor:
    """Threads of this process that wait: those of a process that forked are not there."""
    return ThreadPoolExecutor(AT_ONCE, "pykern-wait")
