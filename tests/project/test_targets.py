"""Names of targets are taken apart in one place: `pykern.data.target.parse`."""

from __future__ import annotations

import ast

import pytest

from pykern.data.target import parse
from pykern.lowering.targets import names
from tests.project.tree import modules, nodes

BETWEEN = (":", "+")
FAMILIES = ("llvm:", "nvvm:", "rocdl:", "spirv:", "source:")
METHODS = ("split", "partition", "rpartition", "startswith", "removeprefix", "endswith")


def _takes_apart(node: ast.AST) -> bool:
    """``x.target.split(":")``, ``target.startswith("nvvm")``: a method of strings on what is called a target."""
    if not (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
    ):
        return False
    on = node.func.value
    named = on.attr if isinstance(on, ast.Attribute) else on.id if isinstance(on, ast.Name) else ""
    texts = [str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return any((text in BETWEEN and named == "target") or text.startswith(FAMILIES) for text in texts)


def test_no_other_module_takes_names_of_targets_apart():
    found = [
        f"{name}:{node.lineno}"
        for name, path in modules().items()
        if name != "pykern.data.target"
        for node in nodes(path)
        if _takes_apart(node)
    ]
    assert not found


@pytest.mark.parametrize(
    "name",
    [*names(), "nvvm:sm_80+ptx+aligned+small", "rocdl:gfx1100+cumode", "spirv:vulkan1.3+lavapipe+small"],
)
def test_a_target_is_its_name(name):
    assert str(parse(name)) == name


def test_facts_are_those_of_the_launch():
    target = parse("nvvm:sm_80+small+ptx+aligned")
    assert (target.family, target.chip, target.options) == ("nvvm", "sm_80", ("ptx",))
    assert target.aligned
    assert target.small
    assert str(target) == "nvvm:sm_80+ptx+aligned+small"
