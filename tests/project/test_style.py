"""What reviewers would otherwise say again: each file has one idea, says which, and catches what it names.

Line length, formatting, unused names and blind `except` are ruff's.
"""

from __future__ import annotations

import ast

import pytest

from tests.project.tree import LINKED, ROOT, module_name, modules, source_files

LONGEST = 500  # lines; at 400 ask what the second idea is

# Files that still hold two ideas, with their lines when they were listed: they may shrink, not grow.
TO_SPLIT: dict[str, int] = {}

TREES = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in source_files()}


def test_modules_say_what_they_are():
    """Begin with what comes in, what goes out, where to read next. An empty __init__.py says nothing."""
    silent = [name for name, tree in TREES.items() if tree.body and not ast.get_docstring(tree)]
    assert not silent


def test_one_idea_per_file():
    """A file of more lines than these has a second idea: which one?"""
    lines = {path: len(path.read_text().splitlines()) for path in source_files()}
    long = {
        str(path): count for path, count in lines.items() if count > TO_SPLIT.get(module_name(path), LONGEST)
    }
    assert not long


def test_list_of_long_files_is_current():
    short = [name for name in TO_SPLIT if len(modules()[name].read_text().splitlines()) <= LONGEST]
    assert not short, f"split already, take them off the list: {short}"


def _has_annotations(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) or (
        isinstance(node, ast.FunctionDef) and bool(node.returns or any(a.annotation for a in node.args.args))
    )


def test_annotations_are_not_evaluated():
    """`from __future__ import annotations` wherever there are annotations: Python 3.10 is the oldest."""
    evaluated = [
        name
        for name, tree in TREES.items()
        if any(map(_has_annotations, ast.walk(tree)))
        and not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    ]
    assert not evaluated


@pytest.mark.parametrize("folder", LINKED)
def test_linked_folders(folder):
    """pykern/dialect is a link to dialect, which refuses to be imported under its short name."""
    link = ROOT / "pykern" / folder
    if link.is_symlink():  # a wheel or sdist holds the files themselves
        assert link.readlink().as_posix() == f"../{folder}"
    assert f'"pykern.{folder}"' in (ROOT / folder / "__init__.py").read_text()


def test_every_folder_of_modules_is_a_package():
    """A folder without __init__.py is left out of the wheel."""
    missing = {path.parent for path in source_files() if not (path.parent / "__init__.py").exists()}
    assert not missing, sorted(str(folder.relative_to(ROOT)) for folder in missing)
