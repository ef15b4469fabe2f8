"""What kernels are written in: rows from the tests, refusals from the golden texts of errors, functions of numbers."""

from __future__ import annotations

import html
import re
from pathlib import Path

from extensions.markdown import table

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ROOT / "tests" / "kernels" / "error_texts.txt"


def supported() -> str:
    """Each construct, a body that `tests/docs/test_language.py` runs, and the suite that goes on from there."""
    from tests.docs.constructs import CONSTRUCTS

    parts = []
    for group, constructs in CONSTRUCTS.items():
        rows = [(c.name, _code(c.body), _code(Path(c.more).name)) for c in constructs]
        parts += [f"### {group}", table(("construct", "for example", "tested by"), rows)]
    return "\n\n".join(parts)


def refused() -> str:
    """What is not available, and what to write instead: each row is a golden text of the tests."""
    rows = []
    for case in TEXTS.read_text().strip("\n").split("\n======\n"):
        body, _, text = case.partition("\n------\n")
        reason = text.splitlines()[0]
        found = re.match(r"KernelSyntaxError: (.*) \[PK001\]$", reason)
        hint = re.search(r"^  help: (.*)$", text, re.MULTILINE)
        if found is not None and hint is not None:
            rows.append((_code(body), _prose(found[1]), _prose(hint[1])))
    return table(("Python", "what is said", "write instead"), rows)


def mathematics() -> str:
    """Functions of numbers, with the name that Python or NumPy has for them."""
    from pykern.language import other_names
    from pykern.runtime.reference_mathematics import MATHEMATICS

    rows = []
    for name in sorted(MATHEMATICS):
        aliases = [f"`math.{name}`"] if name in other_names.MATH else []
        aliases += sorted(f"`numpy.{n}`" for n, ours in other_names.numpy_names().items() if ours == name)
        rows.append((f"`pk.{name}`", _prose(MATHEMATICS[name].replace("``", "`")), ", ".join(aliases)))
    return table(("function", "", "also"), rows)


_SPECIAL = {"|": "&#124;", "*": "&#42;", "_": "&#95;", "`": "&#96;", "[": "&#91;", "\\": "&#92;"}
"""Characters that mean something to Markdown, also between tags."""


def _code(text: str) -> str:
    """Code in a cell of a table: a block for each line, which wraps under its own indent."""
    lines = []
    for line in text.splitlines():
        bare = line.lstrip(" ")
        shown = "".join(_SPECIAL.get(c, c) for c in html.escape(bare)) or "&nbsp;"
        lines.append(f'<span style="--indent:{len(line) - len(bare)}">{shown}</span>')
    return f'<code class="lines">{"".join(lines)}</code>'


def _prose(text: str) -> str:
    """A sentence whose stars are none of Markdown's."""
    return re.sub(r"`[^`]*`|\*", lambda m: m[0] if m[0] != "*" else "\\*", text)
