"""Lines of Python as comments above what they became.

Comes in: printed lines with the places of what they were made of, and the source of the kernel. Goes out: the same
lines with comments between them, each line of Python once in a row; the line that begins the kernel is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykern.data.source import KernelSource, reached
from pykern.dialect.diagnostics import span_of
from pykern.lowering.source.values import Line


def commented(lines: Sequence[Line], source: KernelSource) -> list[Line]:
    """The lines with a comment in front of each that begins another line of Python."""
    own = source.function.file, source.function.first_line
    texts = {each.file: (each.first_line, each.text.splitlines()) for each in reached(source.function)}
    found: list[Line] = []
    last = None
    for line in lines:
        spans = [span for location in line.locations if (span := span_of(location)) is not None]
        place = (spans[-1].file, spans[-1].line) if spans else None
        if place is not None and place not in (last, own) and (text := _text(texts, *place)):
            found.append(Line(f"// {text}", line.depth))
            last = place
        found.append(line)
    return found


def _text(texts: dict[str, tuple[int, list[str]]], file: str, number: int) -> str:
    first, lines = texts.get(file, (0, []))
    at = number - first
    return lines[at].strip() if 0 <= at < len(lines) else ""
