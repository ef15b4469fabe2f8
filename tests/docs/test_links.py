"""Links between the files of the project lead somewhere: what readers of the repository click on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.tree import ROOT

FOLDERS = ("docs", "examples", "notebooks", "benchmarks")
WRITTEN = ("_build", "_generated", "gallery")
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def pages() -> list[Path]:
    found = [*ROOT.glob("*.md"), *(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.md"))]
    return [
        p
        for p in sorted(found)
        if not set(WRITTEN) & set(p.relative_to(ROOT / "docs").parts if "docs" in p.parts else ())
    ]


def links(text: str) -> list[str]:
    """Relative links, outside of code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    found = [a or b for a, b in LINK.findall(text)]
    return [link for link in found if not re.match(r"[a-z]+:|#", link)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    wrong = [link for link in links(page.read_text()) if not (page.parent / link.partition("#")[0]).exists()]
    assert not [link for link in wrong if "_static/" not in link or page.name == "README.md"]


def test_links_are_found() -> None:
    assert links('[a](b.md#c) `[x](y)` <img src="d.png"> [e](https://f) [g](#h)') == ["b.md#c", "d.png"]
