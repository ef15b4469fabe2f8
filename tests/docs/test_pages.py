"""The code of every page of the documentation runs as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykern.pytest_plugin import need_package
from tests.docs.pages import Runner, blocks, expect
from tests.project.tree import ROOT

PAGES = sorted((ROOT / "docs" / "guides").glob("*.md"))
LONG = ("getting-started", "testing")
"""Pages with many commands, each a process of its own."""
NEEDED = {"pytorch": "torch", "jax": "jax"}
"""Packages that a page's code imports, and not everybody has."""


def parameter(page: Path):
    marks = [pytest.mark.slow] if page.stem in LONG else []
    if NEEDED.get(page.stem) == "torch":  # PyTorch warns of its own age
        marks.append(pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"))
    return pytest.param(page, id=page.stem, marks=marks)


@pytest.mark.parametrize("page", [parameter(page) for page in PAGES])
def test_page(page: Path, tmp_path, monkeypatch, capfd):
    if page.stem in NEEDED:
        need_package(NEEDED[page.stem])
    monkeypatch.chdir(tmp_path)
    assert Runner(page, tmp_path, capfd).run() > 0


def test_a_wrong_page_fails(tmp_path, capfd):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n<!-- output -->\n```text\n2\n```\n")
    with pytest.raises(AssertionError, match="'2' is not in"):
        Runner(page, tmp_path, capfd).run()


def test_blocks_that_raise_nothing_fail(tmp_path, capfd):
    page = tmp_path / "page.md"
    page.write_text("<!-- error -->\n```python\nx = 1\n```\n")
    with pytest.raises(AssertionError, match="raises nothing"):
        Runner(page, tmp_path, capfd).run()


def test_lines_are_in_order():
    expect("a\n…\nc", "a\nb\nc", "here")
    with pytest.raises(AssertionError):
        expect("c\na", "a\nb\nc", "here")


def test_comments_and_languages_are_read(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- shown -->\n```python\na\n```\ntext\n```console\n$ b\n```\n")
    assert [(b.comment, b.language, b.text) for b in blocks(page)] == [
        ("shown", "python", "a\n"),
        ("", "console", "$ b\n"),
    ]
