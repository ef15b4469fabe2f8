"""New names use the words of `docs/inside/glossary.md`; the last table lists the words that they do not use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.project.tree import ROOT, module_name, nodes, source_files

GLOSSARY = ROOT / "docs" / "inside" / "glossary.md"
HEADING = "## Words that new names do not use"


def words() -> list[str]:
    """The first column of the last table: several words may stand in one cell."""
    rows = GLOSSARY.read_text().split(HEADING)[1].splitlines()
    return [
        word for row in rows if row.startswith("| `") for word in re.findall(r"`(\w+)`", row.split("|")[1])
    ]


def names() -> Iterator[tuple[str, str]]:
    """Every name that a source defines, with its place."""
    for path in source_files():
        place = str(path.relative_to(ROOT))
        yield path.stem, place
        if path.name == "__init__.py":
            yield module_name(path).rpartition(".")[2], place
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name, f"{place}:{node.lineno}"
            if isinstance(node, ast.arg):
                yield node.arg, f"{place}:{node.lineno}"
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr, f"{place}:{node.lineno}"
            elif isinstance(node, ast.Module | ast.ClassDef):
                yield from ((name.id, f"{place}:{name.lineno}") for name in _assigned(node))


def _assigned(node: ast.Module | ast.ClassDef) -> Iterator[ast.Name]:
    """Constants and fields: names that more than one function sees."""
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner


def parts(name: str) -> str:
    """``OwnSums`` and ``own_sums`` -> ``_own_sums_``."""
    return f"_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).lower().strip('_')}_"


def holders(word: str) -> list[str]:
    return [f"{name} in {place}" for name, place in NAMES if f"_{word}_" in parts(name)]


NAMES = list(names())


@pytest.mark.parametrize("word", words())
def test_names_use_the_glossary(word):
    assert not holders(word), f"see {GLOSSARY.name} for what to say instead"


def test_words_are_found_in_names():
    """A table that nothing is read from, or names that are not taken apart, would let everything pass."""
    assert len(words()) > 10
    assert "_own_sums_" in parts("OwnSums")
    assert any(name == "CachingAllocator" for name, _ in NAMES)
