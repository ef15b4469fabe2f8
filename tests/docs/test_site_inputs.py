"""What the site is made of: pages are made again where their inputs changed, words of the search lead somewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from extensions import api, inputs, search_words


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a package, a lit test, and a page that was made of them."""
    for name, text in {
        "pykern/a.py": "a = 1",
        "lit_tests/t.mlir": "// RUN",
        "docs/_generated/passes.md": "made",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(inputs, "ROOT", tmp_path)
    monkeypatch.setattr(inputs, "FOLDER", tmp_path / "docs" / "_generated")
    monkeypatch.setattr(inputs, "RECORD", tmp_path / "docs" / "_generated" / "inputs.json")
    inputs._digest.cache_clear()
    inputs.Record().remember("passes.md")
    yield tmp_path
    inputs._digest.cache_clear()


def is_current(*made: Path) -> bool:
    inputs._digest.cache_clear()
    return inputs.Record().is_current("passes.md", made)


def test_nothing_changed(tree: Path):
    assert is_current()
    (tree / "docs" / "guides").mkdir()
    (tree / "docs" / "guides" / "kernels.md").write_text("an edited page")
    (tree / "lit_tests" / "Output").mkdir()
    (tree / "lit_tests" / "Output" / "t.mlir.tmp.txt").write_text("left by a run")
    assert is_current()


@pytest.mark.parametrize("name", ["pykern/a.py", "pykern/b.py", "lit_tests/t.mlir"])
def test_an_input_changed(tree: Path, name: str):
    (tree / name).write_text("other")
    assert not is_current()


def test_an_input_is_renamed_or_gone(tree: Path):
    (tree / "pykern" / "a.py").rename(tree / "pykern" / "c.py")
    assert not is_current()


def test_a_page_or_a_file_beside_it_is_gone(tree: Path):
    assert not is_current(tree / "docs" / "_generated" / "heat.html")
    (tree / "docs" / "_generated" / "passes.md").unlink()
    assert not is_current()


def test_words_of_the_search_belong_to_what_is_there():
    assert not [name for name in search_words.WORDS if name not in api.public()]
    assert not [
        name for name in search_words.GUIDES if not (ROOT / "docs" / "guides" / f"{name}.md").exists()
    ]
    page = api.page()
    for word in (
        "shared memory",
        "thread id",
        "grid",
        "block",
        "warp",
        "program_id",
        "barrier",
        "syncthreads",
        "atomics",
    ):
        assert f"! single: {word}\n" in page


def test_the_entries_of_a_name_stand_before_it():
    page = api.page()
    entry = page[page.index("! single: shared memory") :]
    assert (
        entry.index(":name: about-shared") < entry.index("autofunction:: pykern.shared") < entry.index("```")
    )
