"""Numbers that decide stand in one table: `passes/analysis/cost_model`, with unit and reason.

Elsewhere in `passes/` a number has a name only where it is a fact, not a decision; `FACTS` says why each is one.
"""

from __future__ import annotations

import ast
import itertools

from tests.project.tree import imports, is_in, modules

TABLE = "pykern.passes.analysis.cost_model"
COEFFICIENTS = "pykern.passes.arithmetic.vector_math"
FACTS = {
    ("pykern.passes.analysis.alignment", "BYTES"): "what the widest access takes",
    ("pykern.passes.autodiff.rules.digamma", "_SERIES"): "coefficients",
    ("pykern.passes.autodiff.rules.digamma", "_STEPS"): "belongs to the coefficients",
    ("pykern.passes.autodiff.tensor.bounds", "_SLT"): "numbers of predicates",
    ("pykern.passes.autodiff.tensor.cut", "NEVER"): "infinity",
    ("pykern.passes.autodiff.tensor.cut", "_SOURCE"): "numbers of nodes",
    ("pykern.passes.codegen.attention_calls", "FACTORS"): "counts of operands",
    ("pykern.passes.codegen.cpu.contraction.cost_model", "QUADS"): "layout: bytes in 32 bits",
    ("pykern.passes.codegen.cpu.contraction.edges", "ROW"): "bits of a mark",
    ("pykern.passes.codegen.cpu.contraction.narrow", "LIFT"): "the highest bit of a byte",
    ("pykern.passes.codegen.cpu.contraction.narrow_tile", "GROUP_BITS"): "layout: bits of a group",
    ("pykern.passes.codegen.device.factor_boxes", "LINES"): "beside numbers of groups",
    ("pykern.passes.codegen.device.word_layout", "CHUNK"): "layout: words of 16 bytes",
    ("pykern.passes.codegen.device.word_layout", "LINES"): "layout: lines of an instruction",
    ("pykern.passes.codegen.device.word_layout", "_LEAST_CHUNKS"): "layout: of a line without conflicts",
    ("pykern.passes.codegen.device.word_panel", "_BLOCKS"): "what words hold in both orders",
    ("pykern.passes.codegen.device.word_panel", "_SPREAD"): "layout: bytes that take all banks",
    ("pykern.passes.fusion.attention.mask", "_SLT"): "numbers of predicates",
    ("pykern.passes.ir.index_arithmetic", "LARGEST"): "beyond all indices",
    ("pykern.passes.kernel.check_nans", "MOST_VALUES"): "layout of a report",
    ("pykern.passes.kernel.constant_loops", "_FIT"): "what 32 bits hold",
    ("pykern.passes.kernel.launch_bounds.slopes", "UNKNOWN_FACTOR"): "beside known factors",
    ("pykern.passes.kernel.launch_bounds.slopes", "_ENDLESS"): "beside known factors",
    ("pykern.passes.kernel.privatise_reductions", "_INTEGERS"): "widths of types",
    ("pykern.passes.raise_to_linalg.conditions", "LARGEST"): "beyond all indices",
    ("pykern.passes.raise_to_linalg.views", "DYNAMIC"): "MLIR's mark of an unknown length",
    ("pykern.passes.registry", "LARGEST"): "what options can hold",
    ("pykern.passes.vectorize.accesses", "_INTEGERS"): "widths of types",
    ("pykern.passes.vectorize.lanes", "_FAR"): "beyond numbers of lanes",
    ("pykern.passes.vectorize.selection", "NO_POSITION"): "what 31 bits hold",
}


def _is_number(node: ast.expr) -> bool:
    """Numbers, and what is computed of numbers alone."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Tuple) and bool(node.elts) and all(map(_is_number, node.elts))


def _trees() -> dict[str, ast.Module]:
    return {
        name: ast.parse(path.read_text())
        for name, path in modules().items()
        if is_in(name, "pykern.passes") and not is_in(name, TABLE) and not is_in(name, COEFFICIENTS)
    }


def _first_name(target: ast.expr) -> str:
    return ast.unparse(target.elts[0] if isinstance(target, ast.Tuple) else target)


def test_named_numbers_stand_in_the_table():
    found = {
        (name, _first_name(node.targets[0]))
        for name, tree in _trees().items()
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_number(node.value)
    }
    assert found - FACTS.keys() == set(), f"numbers that decide stand in {TABLE}"
    assert FACTS.keys() - found == set(), "these are gone: take them off the list"


def test_options_of_passes_take_their_defaults_from_the_table():
    """0 and 1 are no thresholds."""
    wrong = [
        f"{name}:{node.lineno} {ast.unparse(node)}"
        for name, tree in _trees().items()
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
        for node in each.body
        if isinstance(node, ast.AnnAssign) and node.value is not None and _is_number(node.value)
        if ast.unparse(node.value) not in ("0", "1")
    ]
    assert not wrong


def test_the_table_imports_nothing_else():
    wrong = [i for i in imports() if is_in(i.module, TABLE) and not is_in(i.imported, TABLE)]
    assert [i for i in wrong if i.imported != "__future__"] == []


def test_each_number_says_why():
    """Every constant of the table is followed by its unit and reason."""
    silent = []
    for name, path in modules().items():
        body = ast.parse(path.read_text()).body if is_in(name, TABLE) else []
        for node, following in itertools.pairwise([*body, None]):
            if isinstance(node, ast.Assign) and not (
                isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            ):
                silent.append(f"{name}:{node.lineno}")
    assert not silent
