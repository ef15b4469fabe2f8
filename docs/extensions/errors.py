"""Every error: its code, what it says, its class, and the page of the code where there is one."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from extensions.markdown import docstring, table

FOLDER = Path(__file__).resolve().parents[1] / "errors"


def page() -> str:
    pages = {path.stem: path.read_text() for path in sorted(FOLDER.glob("PK*.md"))}
    rows = {code: (code, text, f"`{name}`") for code, (name, text) in _classes().items()}
    for code, text in pages.items():
        name = re.search(r"^Class: `(?:pykern\.)?(\w+)`", text, re.MULTILINE)
        rows[code] = (f"[{code}](../errors/{code}.md)", _title(text), f"`{name[1]}`" if name else "")
    parts = [table(("code", "what is wrong", "class"), (rows[code] for code in sorted(rows)))]
    if pages:
        listed = "\n".join(f"../errors/{code}" for code in pages)
        parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```")
    return "\n\n".join(parts)


def _classes() -> dict[str, tuple[str, str]]:
    """Code to class and its first sentence."""
    from pykern import errors

    found = {}
    for error in vars(errors).values():
        if inspect.isclass(error) and issubclass(error, errors.KernelError) and error.code != "PK000":
            found[error.code] = (error.__name__, docstring(error).split("\n\n")[0])
    return found


def _title(text: str) -> str:
    """``# PK015: a name is not defined`` -> ``a name is not defined``."""
    first = text.lstrip().splitlines()[0].lstrip("# ")
    return first.partition(":")[2].strip() or first
