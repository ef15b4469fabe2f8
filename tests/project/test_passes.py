"""What passes share stands below them: the view of the IR, and over it what an op computes and costs."""

from __future__ import annotations

import ast

from tests.project.tree import imports, is_in, module_name, source_files

BASE = ("pykern.passes.kernels", "pykern.passes.ir.argument_uses")
"""Small questions about a kernel; they become part of the view of the IR."""
VIEW, ANALYSIS = "pykern.passes.ir", "pykern.passes.analysis"
NUMBERS = "pykern.passes.analysis.cost_model"
"""Constants alone, which import nothing."""
STRUCTURED = "pykern.passes.ir.structured"
BUILDER = "pykern.frontend.program.tensors"
ATTRIBUTES = {"indexing_maps", "iterator_types"}


def test_attributes_of_structured_ops_are_read_in_one_place():
    readers = {
        module_name(path)
        for path in source_files()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in ATTRIBUTES
    }
    assert readers == {STRUCTURED, BUILDER}, f"ask {STRUCTURED}"


def test_the_view_of_the_ir_stands_below_all_passes():
    wrong = [
        f"{found.module}:{found.line} imports {found.imported}"
        for found in imports()
        if is_in(found.module, VIEW) and is_in(found.imported, "pykern.passes")
        if not any(is_in(found.imported, below) for below in (VIEW, NUMBERS, *BASE))
    ]
    assert not wrong


def test_analysis_stands_on_the_view_alone():
    wrong = [
        f"{found.module}:{found.line} imports {found.imported}"
        for found in imports()
        if is_in(found.module, ANALYSIS) and is_in(found.imported, "pykern.passes")
        if not any(is_in(found.imported, below) for below in (ANALYSIS, VIEW, *BASE))
    ]
    assert not wrong
