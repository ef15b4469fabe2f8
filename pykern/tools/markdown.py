"""A page of Markdown for a terminal: bold headings, wrapped prose, code as it stands, coloured where rich is there.

Comes in: Markdown as `docs/errors` has it (headings, paragraphs, fenced code, links). Goes out: text to print.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import textwrap
from collections.abc import Iterator

from pykern.benchmarking.terminal import Style

WIDEST = 100
"""Columns that prose is wrapped to at most: longer lines are hard to read."""
_BLOCK = re.compile(r"^```.*?^```$|[^\n]+(?:\n(?!\n|```)[^\n]+)*", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`([^`]+)`")


def rendered(page: str, style: Style, width: int = 0) -> str:
    """The page, prose in lines of `width` columns, by default those of the terminal; without colours plain text."""
    width = width or min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
    return "\n\n".join(_blocks(page, style, width)) + "\n"


def _blocks(page: str, style: Style, width: int) -> Iterator[str]:
    """The blocks of the page. Code is indented by four columns and never wrapped: carets point into it."""
    for block in _BLOCK.findall(page):
        if block.startswith("```"):
            first, *lines = block.splitlines()
            text = "\n".join(lines[:-1]).strip("\n")
            if style.colours and first == "```python":
                text = _highlighted(text)
            yield textwrap.indent(text, "    ")
        elif block.startswith("#"):
            mark, _, heading = block.partition(" ")
            rule = "=" if mark == "#" else "-"
            yield style.strong(heading) if style.colours else f"{heading}\n{rule * len(heading)}"
        else:
            text = textwrap.fill(" ".join(_LINK.sub(r"\1", block).split()), width, break_on_hyphens=False)
            yield _CODE.sub(lambda found: style.strong(found[1]), text) if style.colours else text


def _highlighted(code: str) -> str:
    """Python in colours, by rich; as it is where that is not installed."""
    if importlib.util.find_spec("rich") is None:
        return code
    from rich.console import Console
    from rich.syntax import Syntax

    console = Console(force_terminal=True, color_system="standard")
    text = Syntax(code, "python", theme="ansi_dark", background_color="default").highlight(code)
    with console.capture() as shown:
        console.print(text, soft_wrap=True, end="")
    return shown.get().rstrip("\n")
