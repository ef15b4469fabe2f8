"""Every error: its code, what it is, and the page of the code where there is one."""

from __future__ import annotations

import inspect
from pathlib import Path

from extensions.markdown import docstring, table

FOLDER = Path(__file__).resolve().parents[1] / "errors"


def page() -> str:
    from pykern import errors

    classes = [
        c
        for c in vars(errors).values()
        if inspect.isclass(c) and issubclass(c, errors.KernelError) and c.code != "PK000"
    ]
    codes = {path.stem: path for path in sorted(FOLDER.glob("PK*.md"))}
    rows = []
    for error in sorted(classes, key=lambda c: c.code):
        rows.append((_linked(error.code, codes), f"`{error.__name__}`", docstring(error).split("\n\n")[0]))
    known = {error.code for error in classes}
    rows += [(_linked(code, codes), "", _title(path)) for code, path in codes.items() if code not in known]
    parts = [table(("code", "class", "what it says"), sorted(rows))]
    if codes:
        listed = "\n".join(f"../errors/{code}" for code in codes)
        parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```")
    return "\n\n".join(parts)


def _linked(code: str, pages: dict[str, Path]) -> str:
    return f"[{code}](../errors/{code}.md)" if code in pages else code


def _title(path: Path) -> str:
    first = path.read_text().lstrip().splitlines()[0]
    return first.lstrip("# ").partition(":")[2].strip() or first.lstrip("# ")
