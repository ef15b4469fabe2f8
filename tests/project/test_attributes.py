"""Attributes named `kern.*` are declared once, used by their constants, set by some module and read by another."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

import pytest
from mlir import ir

from pykern.dialect import base, kern  # noqa: F401  the second one registers every op
from pykern.dialect.attributes import ATTRIBUTES
from pykern.dialect.context import new_context
from pykern.errors import VerifyError
from pykern.passes.framework import Pass, Pipeline
from tests.project.tree import ROOT, modules, nodes

sys.path.insert(0, str(ROOT / "docs"))
from extensions.attributes import uses

NAME = re.compile(r"kern\.\w*")
NOT_READ = {"kern.raised"}
"""It is for those who look at the IR."""
NOT_SET = {"kern.cache_bytes"}
"""It is for MLIR that comes from outside."""
SYMBOLS = {"kern.huge_angle", "kern.unnamed"}
"""Names of functions."""
BEGINNINGS = {"kern.", "kern.atomic", "kern.atomic_"}
"""What names of several ops, symbols and locations begin with."""


def _literals() -> Iterator[tuple[str, str]]:
    """Strings outside of the dialect that are a name of `kern` and nothing else, and where they stand."""
    for module, path in modules().items():
        if module.startswith("pykern.dialect."):
            continue
        for node in nodes(path):
            if isinstance(node, ast.Constant) and NAME.fullmatch(text := str(node.value)):
                yield text, f"{module}:{node.lineno}"


def test_no_attribute_is_named_by_a_string():
    """`kern.NOALIAS`, of `pykern.dialect.attributes`, not its text."""
    bare = [where for text, where in _literals() if text in ATTRIBUTES]
    assert not bare


def test_all_other_names_are_those_of_ops():
    """A misspelt name would find nothing, and say nothing."""
    known = {op.OPERATION_NAME for op in base.OP_CLASSES} | SYMBOLS | BEGINNINGS
    unknown = [f"{where}: {text}" for text, where in _literals() if text not in known]
    assert not unknown


def test_each_is_declared_once():
    text = (ROOT / "dialect" / "attributes.py").read_text()
    assert text.count(" = _declared(") == len(ATTRIBUTES)


def test_no_attribute_but_ndrange_is_called_like_an_op():
    """An attribute on a kernel says what the op reads there; no other two things have one name."""
    assert {op.OPERATION_NAME for op in base.OP_CLASSES} & set(ATTRIBUTES) == {"kern.ndrange"}


def test_each_is_set_and_read():
    used = uses()
    assert {name for name in ATTRIBUTES if not used[name].set_by} == NOT_SET
    assert {name for name in ATTRIBUTES if not used[name].read_by} == NOT_READ


class Marks(Pass):
    """One of pykern's own passes, as its module says, which leaves an attribute."""

    name = "kern-marks"
    __module__ = "pykern.passes.marks"

    def __init__(self, attribute: str) -> None:
        object.__setattr__(self, "attribute", attribute)

    def run(self, module: ir.Module) -> None:
        function = module.body.operations[0].operation
        function.attributes[self.attribute] = ir.UnitAttr.get(module.context)


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [("kern.unheard_of", "there is no"), ("kern.rank", "is an integer"), ("kern.items", "marks a loop")],
)
def test_what_a_pass_leaves_is_verified_at_the_op(attribute, reason):
    with new_context(), ir.Location.file("kernel.py", 3, 1):
        module = ir.Module.parse('func.func @f() { return } loc("kernel.py":3:1)')
        with pytest.raises(VerifyError, match=reason) as caught:
            Pipeline((Marks(attribute),)).run(module)
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == ("kernel.py", 3)
    assert "kern-marks" in str(caught.value)
