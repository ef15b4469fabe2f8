"""Each rule of differentiation has a lit test of its own, named after the op."""

from __future__ import annotations

import pytest

from pykern.passes.autodiff.rules.table import CUTS, RULES
from tests.project.tree import ROOT

FOLDER = ROOT / "lit_tests" / "autodiff-rules"


@pytest.mark.parametrize("op", sorted({*RULES, *CUTS}))
def test_a_rule_has_its_file(op):
    """It uses the op in the function it differentiates, and says the rule."""
    text = (FOLDER / f"{op}.mlir").read_text()
    said, function = text.split("func.func @f(")
    assert f"= {op} " in function
    assert f"`{op}`" in said
    for partial in RULES.get(op, ()):
        if partial not in (None, "0", "1") and op != "arith.select":
            assert partial in " ".join(line.removeprefix("//").strip() for line in said.splitlines())


def test_no_file_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.mlir")} == {*RULES, *CUTS}
