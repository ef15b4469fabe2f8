"""``pykern explain CODE``: what an error means, an example that raises it, and what to do.

The pages are those of the documentation, `docs/errors`: they come with the package as ``pykern/explanations``.
Exit codes: 0 told, 2 there is no such code.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib.resources import files

from pykern.errors import CODES

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)  # what the tests of the pages read


def run(chosen: argparse.Namespace) -> int:
    if not chosen.code:
        for code, (name, meaning) in CODES.items():
            print(f"{code}  {name:17} {meaning}")
        return 0
    code = _code(chosen.code)
    if code not in CODES:
        print(
            f"pykern explain: no error has the code {chosen.code}; `pykern explain` lists them",
            file=sys.stderr,
        )
        return 2
    print(explanation(code).rstrip("\n"))
    return 0


def explanation(code: str) -> str:
    """The page of an error, as Markdown."""
    page = (files("pykern") / "explanations" / f"{code}.md").read_text(encoding="utf-8")
    return _COMMENT.sub("", page)


def _code(text: str) -> str:
    """``PK007`` of itself, of pk007 and of 7."""
    number = text.upper().removeprefix("PK")
    return f"PK{int(number):03}" if number.isdecimal() else text.upper()
