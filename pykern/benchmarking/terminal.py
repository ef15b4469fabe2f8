"""Tables and bars for terminals.

Comes in: rows of text. Goes out: text. Colours are for terminals, and obey
``NO_COLOR``, ``FORCE_COLOR`` and ``TERM=dumb``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

EIGHTHS = " ▏▎▍▌▋▊▉"
ESCAPES = re.compile("\033\\[[0-9;]*m")


@dataclass(frozen=True)
class Style:
    """Whether to colour."""

    colours: bool = False

    def good(self, text: str) -> str:
        return self._in("32", text)

    def bad(self, text: str) -> str:
        return self._in("31", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def strong(self, text: str) -> str:
        return self._in("1", text)

    def _in(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.colours else text


def style_of(stream: IO[str]) -> Style:
    """The style that fits a stream and the user's wishes."""
    if os.environ.get("NO_COLOR"):
        return Style()
    if os.environ.get("FORCE_COLOR"):
        return Style(True)
    return Style(stream.isatty() and os.environ.get("TERM") != "dumb")


def bar(share: float, width: int) -> str:
    """A bar of `share` of `width` characters, to an eighth of one."""
    eighths = max(1, round(min(max(share, 0.0), 1.0) * width * 8)) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side: the first to the left, the others to the right, bars as they are."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(_width(line[n]) for line in lines) for n in range(len(header))]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) if n == 0 else " " * (width - _width(cell)) + cell
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _width(text: str) -> int:
    return len(ESCAPES.sub("", text))
