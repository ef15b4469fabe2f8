"""Room for recursion: the compiler follows a program, in Python and in MLIR, as deeply as it is nested.

Comes in: what a process of our own does. Goes out: the same, in a thread whose stack is large. The limit of Python's
recursion is the whole process's: the user's own keeps it, and there what is nested too deeply is an error.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable

DEPTH = 400_000
"""Calls of Python within each other: those of C between them take about a kilobyte of stack each."""
STACKS = (512 << 20, 128 << 20, 32 << 20)
"""Bytes; the first that the system gives. Only what is used is memory."""


def with_deep_stack(run: Callable[[], None]) -> None:
    """Call `run` in a thread with room for recursion, and wait for it. For processes that are ours alone."""
    for stack in STACKS:
        threading.stack_size(stack)
        thread = threading.Thread(target=run, name="pykern-compile")
        sys.setrecursionlimit(max(sys.getrecursionlimit(), DEPTH * stack // STACKS[0]))
        try:
            thread.start()
        except RuntimeError:  # a limit of the system's
            continue
        if hasattr(
            signal, "pthread_sigmask"
        ):  # what stops the process is told the thread at work: its stack is of interest
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGABRT})
        thread.join()
        return
    threading.stack_size(0)
    run()
