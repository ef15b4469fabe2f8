"""What is computed together is decided in `passes/fusion`, as `docs/design/fusion.md` has it."""

from __future__ import annotations

import ast
import re
from functools import cache

from tests.project.tree import ROOT, is_in, module_name, modules, nodes, source_files

FUSION = "pykern.passes.fusion"
PAGE = ROOT / "docs" / "design" / "fusion.md"
PLANNER = f"{FUSION}.planner"
FINDERS = {"attention_calls", "groups", "starts_of", "pairs", "with_makers_last"}
"""Functions that give groups, or the order of what is left."""
UPSTREAM = "linalg-fuse-elementwise-ops"
PIPELINES = {"pykern.lowering.llvm.program.pipeline", "pykern.lowering.xp.target"}
"""Where upstream's fusion stands in a pipeline: that of all targets, and that of text over a library of arrays."""
SHARED = {"planner", "legality", "row_groups", "joined_op"}
"""Of no kind of group."""


@cache
def imported_names() -> tuple[tuple[str, str, str], ...]:
    """Of each import of a name: who imports, from which module, which name."""
    return tuple(
        (module, node.module, alias.name)
        for module, path in modules().items()
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    )


def test_legality_is_asked_by_fusion_alone():
    askers = [
        (who, name)
        for who, module, name in imported_names()
        if module == f"{FUSION}.legality" or (module, name) == ("pykern.passes.ir.memory", "may_alias")
    ]
    assert len(askers) > 5, "no questions are found: this test looks at nothing"
    assert not [(who, name) for who, name in askers if not is_in(who, FUSION)]


def test_one_planner_asks_those_who_find_groups():
    askers = {
        (who, name) for who, module, name in imported_names() if is_in(module, FUSION) and name in FINDERS
    }
    assert askers == {(PLANNER, name) for name in FINDERS}


def test_emitters_of_the_cpu_and_of_devices_ask_the_planner():
    askers = {who for who, module, name in imported_names() if (module, name) == (PLANNER, "FusionPlanner")}
    codegen = "pykern.passes.codegen"
    assert askers == {f"{codegen}.cpu.make_nests", f"{codegen}.device.make_kernels"}


def test_the_cpu_and_devices_share_no_emitter():
    wrong = [
        (who, module)
        for who, module, _ in imported_names()
        for one, other in (("cpu", "device"), ("device", "cpu"))
        if is_in(who, f"pykern.passes.codegen.{one}") and is_in(module, f"pykern.passes.codegen.{other}")
    ]
    assert not wrong, "what both need stands in passes/fusion or passes/analysis"


def test_upstream_fuses_in_pipelines_and_in_one_module():
    """All others call `fuse_elementwise`."""
    users = {
        module_name(path)
        for path in source_files()
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and UPSTREAM in node.value
    }
    assert users == {*PIPELINES, f"{FUSION}.fuse_long_chains"}


def test_each_module_of_fusion_is_in_the_table():
    table = PAGE.read_text().partition("## Who decides what")[2].partition("## ")[0]
    named = {
        name.rpartition("/")[2].removesuffix(".py") for name in re.findall(r"`([\w/]+(?:\.py)?)[`:]", table)
    }
    here = {path.stem for path in (ROOT / "passes" / "fusion").glob("*.py")} - {"__init__"}
    assert here - SHARED - {"remove_fusion_barriers"} <= named
    for path in re.findall(r"`((?:fusion|codegen|analysis)/[\w/.]+)[`:]", table):
        assert (ROOT / "passes" / path).exists(), path
