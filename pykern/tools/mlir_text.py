"""MLIR text that a user hands us: read, and refused where it is no text, or nested more deeply than can be followed.

Comes in: a path, or ``-`` for standard input. Goes out: the text, or an `InputError`.
"""

from __future__ import annotations

import re
import sys

from pykern.api.user_file import contents
from pykern.tools.guarded import USAGE, WRONG_INPUT

MAX_DEPTH = 5_000
"""Brackets within each other. The text of so deep a module has 50 MB, nearly all of it spaces."""
BYTECODE = b"ML\xefR"
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[<>]=|[(\[{<]|[)\]}>]')


class InputError(Exception):
    """The input is no MLIR text, or cannot be read (`status` is `USAGE` then); the message says where and why."""

    def __init__(self, message: str, status: int = WRONG_INPUT) -> None:
        super().__init__(message)
        self.status = status


def read_mlir(path: str) -> str:
    """The text of a file; without a byte order mark."""
    name = "standard input" if path == "-" else path
    try:
        data = _bytes(path)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        raise InputError(f"{name}: error: {getattr(error, 'strerror', None) or error}", USAGE) from None
    if data.startswith(BYTECODE):
        raise InputError(
            f"{name}: error: this is MLIR bytecode, and the tool reads text: `mlir-opt FILE` prints it as text"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise InputError(
            f"{name}:{line}:{column}: error: not UTF-8 text (byte {data[error.start]:#04x}): MLIR text is expected"
        ) from None
    if (place := text.find("\0")) >= 0:
        line, column = position(text, place)
        raise InputError(
            f"{name}:{line}:{column}: error: a NUL character: MLIR text is expected, this is binary"
        )
    return text


def too_deep(text: str) -> int | None:
    """Where the text is nested more deeply than `MAX_DEPTH`, or None."""
    if len(text) < MAX_DEPTH:
        return None
    depth = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "(" | "[" | "{" | "<":
                depth += 1
                if depth > MAX_DEPTH:
                    return token.start()
            case ")" | "]" | "}" | ">":
                depth -= depth > 0
    return None


def position(text: str, place: int) -> tuple[int, int]:
    """Line and column, from 1, of a place in a text."""
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)


def _bytes(path: str) -> bytes:
    if path != "-":
        return contents(path)
    if sys.stdin is None:
        raise InputError("standard input: error: it is closed: name a file, or pipe MLIR text in", USAGE)
    return sys.stdin.buffer.read()
