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

IDS = [str(path.relative_to(ROOT)) for path in source_files()]


@pytest.mark.parametrize("path", source_files(), ids=IDS)
def test_module_says_what_it_is(path):
    tree = ast.parse(path.read_text())
    if tree.body:  # an empty __init__.py says nothing and holds nothing
        assert ast.get_docstring(tree), "begin with what comes in, what goes out, where to read next"


@pytest.mark.parametrize("path", source_files(), ids=IDS)
def test_one_idea_per_file(path):
    lines = len(path.read_text().splitlines())
    assert lines <= TO_SPLIT.get(module_name(path), LONGEST), f"{lines} lines: what is the second idea?"


def test_list_of_long_files_is_current():
    short = [name for name in TO_SPLIT if len(modules()[name].read_text().splitlines()) <= LONGEST]
    assert not short, f"split already, take them off the list: {short}"


@pytest.mark.parametrize("path", source_files(), ids=IDS)
def test_annotations_are_not_evaluated(path):
    """`from __future__ import annotations` wherever there are annotations: Python 3.10 is the oldest."""
    tree = ast.parse(path.read_text())
    annotated = any(
        isinstance(node, ast.AnnAssign)
        or (isinstance(node, ast.FunctionDef) and (node.returns or any(a.annotation for a in node.args.args)))
        for node in ast.walk(tree)
    )
    future = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    assert future or not annotated


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
