"""Work that may end the process, in a child of it: MLIR ends the process on some input that a verifier lets through.

Comes in: a function that gives an exit status. Goes out: its status; where the child dies, a message, and `CRASHED`.
Read next: `pykern.compiler.deep_stack` (the room for recursion that the child has).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable

from pykern.compiler.deep_stack import with_deep_stack

WRONG_INPUT, USAGE, CRASHED = 1, 2, 4
"""Exit statuses, as of ``pykern``: 4 where the compiler itself failed."""
INTERRUPTED = 130


def guarded(tool: str, run: Callable[[], int], entry_point: str, arguments: list[str]) -> int:
    """The exit status of `run`, called in a process of its own.

    Where the system has no `fork`, a new process calls the function ``module:name`` that `entry_point` names with
    `arguments`: it is to do what `run` does.
    """
    if not hasattr(os, "fork"):
        return _spawned(tool, entry_point, arguments)
    for stream in (sys.stdout, sys.stderr):
        if stream:
            stream.flush()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _end_with(parent)
        _finish(tool, run)
    try:
        _, ended = os.waitpid(child, 0)
    except KeyboardInterrupt:  # the child is in the same group, and was told as well
        os.kill(child, signal.SIGKILL)
        return INTERRUPTED
    return _told(tool, os.waitstatus_to_exitcode(ended))


def _spawned(tool: str, entry_point: str, arguments: list[str]) -> int:
    module, _, name = entry_point.partition(":")
    program = (
        f"import sys; from pykern.tools.guarded import _finish; from {module} import {name}; "
        f"_finish({tool!r}, lambda: {name}(sys.argv[1:]))"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program, *arguments], check=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    return _told(tool, done.returncode)


def _told(tool: str, status: int) -> int:
    """The exit status, after a message where the process died: of a signal, or of an exception of Windows."""
    if 0 <= status < _EXCEPTIONS:
        return status
    reason = _died(-status) if status < 0 else _DIED.format(f"exception {status:#x}")
    print(f"{tool}: error: {reason}", file=sys.stderr)
    return CRASHED


_EXCEPTIONS = 0x80000000
"""Statuses of Windows from here on are exceptions that nobody handled."""
_DIED = (
    "the compiler died of {}. This is a fault of MLIR or of pykern: "
    "please report it with the input. --mlir-print-ir-after-all shows how far it came"
)


def _died(number: int) -> str:
    if number == signal.SIGKILL:
        return "the compiler was killed from outside (SIGKILL): is there memory enough?"
    return _DIED.format(signal.strsignal(number) or f"signal {number}")


def fault_of(what: str, error: Exception) -> str:
    """What is said where our own code, or a user's pass, fails in Python: it is wrong, not what it was given."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{what} failed with {type(error).__name__}: {error} ({os.path.basename(last.filename)}:{last.lineno}). "
        f"This is a fault of {what}: please report it with the input"
    )


def _finish(tool: str, run: Callable[[], int]) -> None:
    """Call `run` with room for recursion, and end the process with its status."""
    status = [CRASHED]

    def call() -> None:
        try:
            status[0] = run()
            if sys.stdout:
                sys.stdout.flush()
        except BrokenPipeError:  # `pykern-opt ... | head`: the reader has seen enough
            status[0] = 0
        except (OSError, UnicodeEncodeError) as error:
            print(f"{tool}: error: the output cannot be written: {error}", file=sys.stderr)
            status[0] = WRONG_INPUT
        except MemoryError:
            print(f"{tool}: error: there is not enough memory", file=sys.stderr)
        except Exception as error:  # noqa: BLE001 - the end of the process: the user hears of it
            print(f"{tool}: error: {fault_of('the tool', error)}", file=sys.stderr)

    with_deep_stack(call)
    if sys.stderr:
        sys.stderr.flush()
    os._exit(status[0])  # what is kept of MLIR needs no orderly end


def _end_with(parent: int) -> None:
    """Ask Linux to end us with `parent`: a tool that is stopped leaves nothing behind."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended already
        os._exit(CRASHED)
