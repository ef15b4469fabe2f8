"""What reviewers would otherwise say again: each file has one idea, says which, and catches what it names.

Line length, formatting, unused names and blind `except` are ruff's.
"""

from __future__ import annotations

import ast

import pytest

from tests.project.tree import LINKED, ROOT, module_name, source_files, trees

LONGEST = 400
"""Lines from which a file is asked what its second idea is."""
ONE_IDEA = {
    "pykern.api.jit": "the class of an array program, most of it how a call is told from another",
    "pykern.compiler.service": "the one worker process: its start, its requests, its end",
    "pykern.data.source": "one record, `KernelSource`, and the records that it is made of",
    "pykern.frontend.arithmetic": "Python's operators on scalars, a table of a few lines each",
    "pykern.frontend.program.translator": "the translator's methods, a few lines for each node of Python's syntax",
    "pykern.lowering.xp.generics": "one operation as one expression; each form is a method",
    "pykern.mpi.grid": "one public class, a third of it documentation",
    "pykern.runtime.drivers.addresses": "the driver of CUDA and ROCm: one method for each thing that a driver does",
}
"""Longer files that have one idea all the same: which one."""

TREES = {str(path.relative_to(ROOT)): tree for path, tree in trees().items()}


def test_modules_say_what_they_are():
    """Begin with what comes in, what goes out, where to read next. An empty __init__.py says nothing."""
    silent = [name for name, tree in TREES.items() if tree.body and not ast.get_docstring(tree)]
    assert not silent


def test_one_idea_per_file():
    """A longer file has a second idea, or says in `ONE_IDEA` what its one idea is."""
    long = {module_name(path) for path in source_files() if len(path.read_text().splitlines()) > LONGEST}
    assert long - ONE_IDEA.keys() == set(), "which idea of it belongs in a file of its own?"
    assert ONE_IDEA.keys() - long == set(), "these are short by now: take them off the list"


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
