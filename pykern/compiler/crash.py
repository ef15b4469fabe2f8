"""What is said when the compiler process dies: how it ended, on which kernel, and its last words.

Comes in: a `KernelSource`, an exit status, lines of standard error. Goes out: a `CompilerCrash`.
Read next: `reproducer` (the file that shows it again).
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence

from pykern.data.artifact import Remark
from pykern.data.locations import SourceSpan
from pykern.data.runtime_source import Source
from pykern.environment.settings import Settings
from pykern.errors import CompilerCrash

_LINES = 12
_NOISE = re.compile(r"\s*(#\d+ 0x|PLEASE submit|Stack dump|Extension modules:|\S+\(\+0x|<truncated)")
_OUTERMOST = os.path.join("compiler", "worker.py")
"""Below this frame stands only how the process was started."""
_FROM_OUTSIDE = {"SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"}


def crash_error(
    source: Source, what: str, output: Sequence[str], settings: Settings, hint: str = ""
) -> CompilerCrash:
    """The error for the user, with a reproducer written where that is possible.

    `what` ends the sentence "the compiler process ...".
    """
    from pykern.compiler.reproducer import write_reproducer  # here: few programs ever need it

    words = last_words(output)
    path = write_reproducer(source, f"the compiler process {what}", words, settings)
    if path is None:
        advice = "no reproducer could be written: neither the cache directory nor a temporary one took it"
    else:
        command = shlex.join([sys.executable or "python", path])
        advice = f"the program goes on; to see it again, and to report it:  {command}"
    notes = (
        (("the last words of the compiler:\n" + "\n".join(f"    {w}" for w in words), None),) if words else ()
    )
    error = CompilerCrash(
        f"the compiler process {what} while compiling `{source.function.name}` for {source.target}",
        kernel_span(source),
        hint=f"{hint}; {advice}" if hint else advice,
        notes=notes,
    )
    error.reproducer = path
    return error


def crash_remark(error: CompilerCrash, what: str) -> Remark:
    """What is said of code that was made with fewer optimisations after `error`; `what` is that of `crash_error`."""
    place = error.span
    report = f"; to report it: {error.reproducer}" if error.reproducer else ""
    text = f"made with fewer optimisations, and may be slower: with all of them the compiler process {what}{report}"
    return Remark(text, place.file if place else "", place.line if place else 0)


def not_started(source: Source, output: Sequence[str]) -> CompilerCrash:
    """The error where there was no process at all: the kernel has nothing to do with it."""
    why = " ".join(output).strip()
    return CompilerCrash(
        f"the compiler process did not start, to compile `{source.function.name}` for {source.target}: {why}",
        kernel_span(source),
        hint="look at the limits of this process (`ulimit -a`): open files, processes, memory",
    )


def describe_end(status: int | None) -> str:
    """An exit status in words: "died of SIGSEGV (Segmentation fault)"."""
    if status is None:
        return "did not start"
    if status >= 0:
        return f"ended with exit status {status if status < 256 else hex(status)}"
    name = signal_name(status)
    return f"died of {name} ({signal.strsignal(-status) or 'unknown signal'})"


def signal_name(status: int) -> str:
    """The name of the signal in an exit status below 0."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def from_outside(status: int | None) -> bool:
    """True where somebody ended the process: the same kernel may well compile the next time."""
    return status is not None and status < 0 and signal_name(status) in _FROM_OUTSIDE


def last_words(output: Sequence[str]) -> list[str]:
    """The telling lines at the end: assertions and messages, then the innermost Python frames."""
    lines = [line.rstrip() for line in output]
    fatal = next((i for i, line in enumerate(lines) if line.startswith("Fatal Python error")), len(lines))
    messages = [line for line in lines[:fatal] if line and not _NOISE.match(line)]
    frames: list[str] = []
    current = next((i for i, line in enumerate(lines) if line.startswith("Current thread")), len(lines))
    for line in lines[current + 1 :]:
        if not line.startswith("  File ") or _OUTERMOST in line or len(frames) == _LINES // 2:
            break
        frames.append(line.strip())
    return messages[-_LINES // 2 :] + (["in (innermost first):", *frames] if frames else [])


def kernel_span(source: Source) -> SourceSpan:
    """The line of the kernel's ``def``."""
    function = source.function
    lines = function.text.splitlines() or [""]
    heads = re.compile(rf"\s*(async\s+)?def\s+{re.escape(function.name)}\b")  # after its decorators
    number = next((i for i, line in enumerate(lines) if heads.match(line)), 0)
    line = lines[number]
    column = len(line) - len(line.lstrip())
    return SourceSpan(
        function.file, function.first_line + number, column, len(line.rstrip()), function.name, line
    )
