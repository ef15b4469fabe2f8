"""Golden files: a text that a test made, against the text that is kept beside the test.

Comes in: a text and a name. Goes out: nothing, or an AssertionError with the difference. Under
``pytest --pykern-update`` the file is written instead. Nothing of pytest is needed to compare.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

FOLDER = "golden"
LONGEST = 80  # lines of a difference that are shown

_updating = False


def golden(text: str, name: str, *, folder: str | Path | None = None) -> None:
    """Compare `text` with the file ``golden/<name>`` beside the calling test (or in `folder`).

    The text's last line ends where it likes; all else counts. Raises AssertionError where they differ or the
    file is not there, ValueError for a name that leads out of the folder. ``pytest --pykern-update`` writes it.
    """
    __tracebackhide__ = True
    beside = Path(sys._getframe(1).f_code.co_filename).resolve().parent
    base = Path(folder).resolve() if folder is not None else beside / FOLDER
    path = (base / name).resolve()
    if not path.is_relative_to(base) or path == base:
        raise ValueError(f"{name!r} is no name of a file in {base}")
    text = text.rstrip("\n") + "\n"
    if _updating:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
        return
    if not path.is_file():
        raise AssertionError(f"there is no golden file {path}: pytest --pykern-update writes it")
    kept = path.read_text("utf-8")
    if kept != text:
        raise AssertionError(_difference(kept, text, path))


def set_updating(on: bool) -> None:
    """Whether `golden` writes files, as ``--pykern-update`` asks for."""
    global _updating
    _updating = on


def _difference(kept: str, text: str, path: Path) -> str:
    lines = [*difflib.unified_diff(kept.splitlines(), text.splitlines(), path.name, "now", lineterm="")]
    more = [f"... {len(lines) - LONGEST} lines more"] if len(lines) > LONGEST else []
    title = f"the text is not that of {path}; if it is right now: pytest --pykern-update"
    return "\n".join([title, *lines[:LONGEST], *more])
