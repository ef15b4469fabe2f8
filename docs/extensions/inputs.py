"""What each generated page is made of: a page whose inputs have not changed is not made again.

Comes in: names of pages. Goes out: which of them are out of date. Fingerprints of the inputs are kept beside the pages,
in `docs/_generated/inputs.json`; removing that folder makes everything again.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "_generated"
RECORD = FOLDER / "inputs.json"
PACKAGE = ("pykern", "dialect", "passes", "lowering", "pyproject.toml", "docs/extensions")
"""Inputs of all pages: what is documented, the versions it needs, and what writes the pages."""
OTHERS = {
    "errors.md": ("docs/errors",),
    "language.md": ("tests/docs",),
    "not-in-kernels.md": ("tests/kernels/error_texts.txt",),
    "notebooks.md": ("notebooks",),
    "passes.md": ("lit_tests",),
}
SUFFIXES = {".py", ".irdl", ".mlir", ".md", ".txt", ".js", ".css", ".html", ".toml", ".h", ".c"}


class Record:
    """The fingerprints of the pages that are there."""

    def __init__(self) -> None:
        self._known: dict[str, str] = json.loads(RECORD.read_text()) if RECORD.exists() else {}

    def is_current(self, page: str, made: Iterable[Path]) -> bool:
        """Whether a page was made of the inputs as they are; `made` are other files that belong to it."""
        there = all(file.exists() for file in (FOLDER / page, *made))
        return there and self._known.get(page) == fingerprint(page)

    def remember(self, page: str) -> None:
        self._known[page] = fingerprint(page)
        RECORD.write_text(json.dumps(self._known, indent=1, sort_keys=True) + "\n")


def fingerprint(page: str) -> str:
    """Of the contents of all inputs of a page, and of their names."""
    return hashlib.sha256(
        " ".join(_digest(ROOT / f) for f in (*PACKAGE, *OTHERS.get(page, ()))).encode()
    ).hexdigest()


@functools.cache
def _digest(path: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    found = hashlib.sha256()
    for file in sorted(path.rglob("*")):  # links to folders are not followed: each file is read once
        if file.suffix in SUFFIXES and file.is_file() and "Output" not in file.parts:
            found.update(
                f"{file.relative_to(path)} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode()
            )
    return found.hexdigest()
