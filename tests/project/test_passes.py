"""What passes share stands below them: the view of the IR, and over it what an op computes and costs."""

from __future__ import annotations

import ast
import graphlib
import re

import pytest

from tests.project.tree import ROOT, imports, is_in, module_name, nodes, source_files

BASE = "pykern.passes.kernels"
"""Small questions about a kernel, which ask nothing of the view of the IR."""
VIEW, ANALYSIS = "pykern.passes.ir", "pykern.passes.analysis"
FOLDERS = (
    "ir", "analysis", "arithmetic", "vectorize", "kernel", "raise_to_linalg", "tensor", "fusion", "autodiff",
    "buffer", "codegen",
)  # fmt: skip
"""Each may import those before it; `docs/design/house.md` says why."""
STRUCTURED = "pykern.passes.ir.structured"
BUILDER = "pykern.frontend.program.tensors"
ATTRIBUTES = {"indexing_maps", "iterator_types"}


def test_attributes_of_structured_ops_are_read_in_one_place():
    readers = {
        module_name(path)
        for path in source_files()
        for node in nodes(path)
        if isinstance(node, ast.Constant) and node.value in ATTRIBUTES
    }
    assert readers == {STRUCTURED, BUILDER}, f"ask {STRUCTURED}"


def test_the_view_of_the_ir_stands_below_all_passes():
    wrong = [
        f"{found.module}:{found.line} imports {found.imported}"
        for found in imports()
        if is_in(found.module, VIEW) and is_in(found.imported, "pykern.passes")
        if not any(is_in(found.imported, below) for below in (VIEW, BASE))
    ]
    assert not wrong


def test_analysis_stands_on_the_view_alone():
    wrong = [
        f"{found.module}:{found.line} imports {found.imported}"
        for found in imports()
        if is_in(found.module, ANALYSIS) and is_in(found.imported, "pykern.passes")
        if not any(is_in(found.imported, below) for below in (ANALYSIS, VIEW, BASE))
    ]
    assert not wrong


def test_folders_import_those_before_them():
    wrong = [
        f"{found.module}:{found.line} imports {found.imported}"
        for found in imports()
        if (here := folder(found.module)) and (there := folder(found.imported))
        if FOLDERS.index(there) > FOLDERS.index(here)
    ]
    assert not wrong


def folder(module: str) -> str | None:
    """The folder of `passes/` that a module stands in."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["pykern", "passes"] and len(parts) > 2 and parts[2] in FOLDERS else None


def test_the_order_of_folders_is_written_down():
    there = {path.name for path in (ROOT / "passes").iterdir() if (path / "__init__.py").exists()}
    table = (ROOT / "docs" / "design" / "house.md").read_text().split("## passes/")[1].split("## ")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == FOLDERS
    assert there == set(FOLDERS)


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("side", ["pykern.passes", "pykern.lowering"])
def test_no_two_folders_import_each_other(side, depth):
    """Nor several in a circle; `depth` 4: folders within these folders, too. `CycleError` names the circle."""
    graph: dict[str, set[str]] = {}
    for found in imports():
        here, there = (".".join(name.split(".")[:depth]) for name in (found.module, found.imported))
        if is_in(here, side) and is_in(there, side) and here != there:
            graph.setdefault(here, set()).add(there)
    assert len(graph) > 5, "no folders are found: this test looks at nothing"
    tuple(graphlib.TopologicalSorter(graph).static_order())
