"""The FileCheck runs of a lit test, read from its RUN lines.

Comes in: the lines of a test. Goes out: a `FileCheckRun` for each call of FileCheck that reads its
directives from the test itself (``FileCheck %s``). Read next: `pykern.testing.filecheck`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

RUN = re.compile(r"\bRUN:[ \t]*(?P<command>.*)")
_BETWEEN_CALLS = re.compile(r"\|\|?|&&|;")


@dataclass(frozen=True)
class FileCheckRun:
    """A call of FileCheck: the line it begins on, the prefixes it looks for, those it reads as comments."""

    line: int
    prefixes: tuple[str, ...]
    comment_prefixes: tuple[str, ...]


def filecheck_runs(lines: list[str]) -> list[FileCheckRun]:
    """Every call of FileCheck in the RUN lines; one that reads another file's directives is left out."""
    runs = []
    for number, command in _commands(lines):
        for call in _BETWEEN_CALLS.split(command):
            words = _words(call)
            if "%s" in words and any(word.endswith("FileCheck") for word in words):
                prefixes = option_values(words, "check-prefix", "check-prefixes") or ("CHECK",)
                runs.append(FileCheckRun(number, prefixes, option_values(words, "comment-prefixes")))
    return runs


def _commands(lines: list[str]) -> list[tuple[int, str]]:
    """The commands with the lines they begin on; a backslash at the end goes on in the next RUN line."""
    commands: list[tuple[int, str]] = []
    goes_on = False
    for number, line in enumerate(lines, 1):
        if match := RUN.search(line):
            text = match["command"].rstrip()
            start, before = commands.pop() if goes_on else (number, "")
            goes_on = text.endswith("\\")
            commands.append((start, before + text.removesuffix("\\")))
    return commands


def _words(call: str) -> list[str]:
    try:
        return shlex.split(call)
    except ValueError:  # `call` was cut at a `|` inside quotes
        return call.split()


def option_values(words: list[str], *names: str) -> tuple[str, ...]:
    """Values of ``--name=a,b`` and ``--name a,b``, in order."""
    values: list[str] = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name in names:
            values += (value if equals else following).split(",")
    return tuple(filter(None, values))
