"""A file of the user's that a command names, imported as a module.

Comes in: the path of a Python file. Goes out: the module, or a `LaunchError` at the line of the file that failed;
`UnreadableFile` where there is no such file. Read next: `pykern.tools.compile_command` (kernels in it),
`pykern.benchmarking.suite` (benchmarks in it).
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import stat
import sys
import traceback
import types

from pykern.data.locations import SourceSpan
from pykern.data.synthetic_frame import is_users
from pykern.errors import CALLED_FROM, KernelError, LaunchError

MOST_CALLS = 10
"""That are told: a recursion without end has a thousand."""
ONLY_AS_SCRIPT = 'what is to run only as a script goes under `if __name__ == "__main__":`'


class UsageError(LaunchError):
    """A command cannot do what it is told to: its own help says more than the page of a code."""

    code = ""


class UnreadableFile(UsageError):
    """A command names a file that cannot be read, or written: that is a matter of usage."""


def contents(file: str) -> bytes:
    """The bytes of a file that a command reads, or of a pipe that somebody writes to. Raises OSError for others, and
    ValueError for a path that no system has."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as opened:
        kind = os.fstat(handle).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
        if stat.S_ISREG(kind):
            return opened.read()
        if not stat.S_ISFIFO(kind):
            raise OSError(errno.EINVAL, "it is a device, no file", file)
        return _of_pipe(file, handle) + opened.read()


def _of_pipe(file: str, handle: int) -> bytes:
    """The first byte of a pipe that does not wait, if it is there; others are waited for."""
    try:
        first = os.read(handle, 1)
    except BlockingIOError:
        first = None
    if first == b"":
        raise OSError(errno.EPIPE, "it is a pipe, and nobody writes to it", file)
    os.set_blocking(handle, True)
    return first or b""


def imported(file: str, hint: str | None = None) -> types.ModuleType:
    """The file as a module. What it prints goes to standard error: it is no part of a command's output."""
    if os.path.isdir(file):
        raise UnreadableFile(f"`{file}` is a folder, and a Python file is expected", hint=hint)
    if not os.path.isfile(file):
        raise UnreadableFile(f"there is no file `{file}`", hint=_meant(file) or hint)
    name = os.path.basename(file).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, file) if file.endswith(".py") else None
    if spec is None or spec.loader is None:
        raise UnreadableFile(f"`{file}` is no Python file: the name of one ends in `.py`")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except KernelError:
        raise
    except SystemExit as ended:
        raise _failed(
            file, f"ends the process while it is imported (exit status {ended.code})", ended
        ) from None
    except PermissionError as error:
        if error.filename != file:
            raise _failed(file, _raises(error), error) from None
        raise UnreadableFile(f"`{file}` cannot be read: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - whatever the user's file raises, its line is told
        raise _failed(file, _raises(error), error) from None
    return module


def _meant(file: str) -> str | None:
    """``heat``, ``heat.heat`` and ``heat.py:heat`` for ``heat.py::heat``."""
    for separator in (".py:", ":", "."):
        stem, found, name = file.partition(separator)
        if found and os.path.isfile(f"{stem}.py"):
            return f"did you mean {stem}.py::{name}?"
    return f"did you mean {file}.py?" if os.path.isfile(f"{file}.py") else None


def raised_by_user(error: Exception, what: str) -> LaunchError | None:
    """An exception of the user's own code as an error at its line; None where none of that code was on the way."""
    if not _frames(error):
        return None
    return _failed(what, f"raises {type(error).__name__}: {error}", error)


def _raises(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"is no Python: {error.msg}"
    if isinstance(error, ValueError) and not _frames(error):  # NUL characters
        return f"is no Python: {error}"
    said = str(error)
    return f"raises {type(error).__name__}{': ' + said if said else ''} while it is imported"


def _failed(file: str, what: str, error: BaseException) -> LaunchError:
    """The error at the innermost line of the user's; the calls that led there are notes."""
    hint = ONLY_AS_SCRIPT if isinstance(error, SystemExit) else None
    if isinstance(error, SyntaxError) and error.lineno:
        column = max((error.offset or 1) - 1, 0)
        text = (error.text or "").rstrip("\n")
        place = SourceSpan(error.filename or file, error.lineno, column, column + 1, text=text)
        return LaunchError(f"`{file}` {what}", place, hint)
    inner, *outer = [*reversed(_frames(error))] or [None]
    notes = tuple((CALLED_FROM + "here", place) for place in [*dict.fromkeys(outer)][:MOST_CALLS])
    return LaunchError(f"`{file}` {what}", inner, hint, notes)


def _frames(error: BaseException) -> list[SourceSpan]:
    """Lines of the user's code that the error went through, the outermost first."""
    found = []
    for frame in traceback.extract_tb(error.__traceback__):
        if is_users(frame.filename) and not frame.filename.startswith("<"):
            line = frame.line or ""
            function = "" if frame.name == "<module>" else frame.name
            found.append(SourceSpan(frame.filename, frame.lineno or 0, 0, len(line), function, line))
    return found
