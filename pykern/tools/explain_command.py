"""``pykern explain CODE``: what an error means, an example that raises it, and what to do.

The pages are those of the documentation, `docs/errors`: they come with the package as ``pykern/explanations``. In a
terminal they are shown with bold headings, in a pipe as plain text. Exit codes: 0 told, 2 there is no such code.
"""

from __future__ import annotations

import argparse
import re
import sys
from difflib import get_close_matches
from importlib.resources import files

from pykern.benchmarking.terminal import style_of
from pykern.errors import CODES
from pykern.tools.markdown import rendered

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)  # what the tests of the pages read


def run(chosen: argparse.Namespace) -> int:
    style = style_of(sys.stdout)
    if not chosen.code:
        for code, (name, meaning) in CODES.items():
            print(f"{style.strong(code)}  {name:17} {meaning}")
        return 0
    code = _code(chosen.code)
    if code not in CODES:
        print(
            f"pykern explain: no error has the code {chosen.code}; {_instead(chosen.code)}", file=sys.stderr
        )
        return 2
    print(rendered(explanation(code), style).rstrip("\n"))
    return 0


def _instead(text: str) -> str:
    """Codes that are like what was asked for: by their digits, by the name of their class, by words of their titles."""
    asked = text.upper()
    classes = [name.upper() for name, _ in CODES.values()]
    near = [*get_close_matches(_code(text), CODES, 3, 0.8), *get_close_matches(asked, classes, 1, 0.6)]
    found = [
        code
        for code, (name, meaning) in CODES.items()
        if code in near or name.upper() in near or (len(asked) > 2 and asked in meaning.upper())
    ]
    told = "; ".join(f"{code}: {CODES[code][1]}" for code in found[:4])
    return f"did you mean {told}?" if told else "`pykern explain` lists them"


def explanation(code: str) -> str:
    """The page of an error, as Markdown."""
    page = (files("pykern") / "explanations" / f"{code}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", page)


def _code(text: str) -> str:
    """``PK007`` of itself, of pk007 and of 7."""
    number = text.upper().removeprefix("PK")
    return f"PK{int(number):03}" if number.isdecimal() else text.upper()
