"""Tables and blocks of Markdown, for the pages that are written from the sources."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; bars inside cells are escaped."""
    head = list(head)
    lines = [_row(head), "|" + "---|" * len(head), *map(_row, rows)]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def fence(text: str, language: str = "") -> str:
    """A block of code, whatever back quotes it holds."""
    marks = "````" if "```" in text else "```"
    return f"{marks}{language}\n{text.strip(chr(10))}\n{marks}"


def docstring(of: object) -> str:
    """A docstring as Markdown: double back quotes become single ones, indented parts become code."""
    return prose(inspect.getdoc(of) or "")


def prose(text: str) -> str:
    """Text written for docstrings as Markdown. ``In:`` and ``Out:`` of passes become items."""
    paragraphs = []
    text = re.sub(r"^(In: .*?\.) +(Out:)", r"\1\n\2", text, flags=re.MULTILINE)
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("    "):
            paragraphs.append(fence(textwrap.dedent(paragraph), "python"))
        elif paragraph.startswith("``") and paragraph.rstrip().endswith("``") and paragraph.count("``") == 2:
            paragraphs.append(fence(textwrap.dedent(paragraph.strip().strip("`")), "mlir"))
        else:
            paragraphs.append(_items(paragraph).replace("``", "`"))
    return "\n\n".join(paragraphs)


def _items(paragraph: str) -> str:
    lines = []
    for line in paragraph.splitlines():
        word = line.split(":")[0]
        if word in ("In", "Out"):
            before = [""] if lines and not lines[-1].startswith(("- ", "  ")) else []
            lines += [*before, f"- **{word}:** {line[len(word) + 1 :].strip()}"]
        else:
            lines.append(line if not line.startswith(" ") else f"  {line.strip()}")
    return "\n".join(lines)
