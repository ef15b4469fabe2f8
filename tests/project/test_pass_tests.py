"""Every pass has a lit test of its own, which bears its name and runs it, and is run by a pipeline."""

from __future__ import annotations

import ast
import re

from tests.project.tree import ROOT, nodes, source_files

SUITE = ROOT / "lit_tests"
OF_PYKERN_OPT_ALONE = {"Forward", "Reverse"}
"""They wrap the functions `forward` and `reverse`, which the compiler calls itself."""


def test_every_pass_has_a_lit_test_of_its_name():
    import pykern.tools.opt  # noqa: F401  targets register their passes
    from pykern.passes.registry import known

    missing = [name for name in sorted(known()) if not runs_in_its_own_test(name)]
    assert not missing, "write lit_tests/<folder>/<pass-name>.mlir, without `kern-`"


def test_every_pass_is_made_by_a_pipeline():
    """A pass that nothing but `pykern-opt` runs is dead code."""
    import pykern.tools.opt  # noqa: F401  targets register their passes
    from pykern.passes.registry import known

    made = {
        node.func.id
        for path in source_files()
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert {kind.__name__ for kind in known().values()} - made == OF_PYKERN_OPT_ALONE


def runs_in_its_own_test(name: str) -> bool:
    """Whether ``<folder>/<pass-name>.mlir`` or ``<pass-name>/*.mlir`` has a RUN line with the pass."""
    stem = name.removeprefix("kern-")
    runs = re.compile(rf"RUN:.*(--|[(,]){re.escape(name)}(?![\w-])")
    files = [*SUITE.glob(f"*/{stem}.mlir"), *SUITE.glob(f"{stem}/*.mlir")]
    return any(runs.search(path.read_text()) for path in files)
