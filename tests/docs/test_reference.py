"""The reference is whole: every public name has a place and a docstring, every table is made from what is there."""

from __future__ import annotations

import inspect
import sys

import pytest

import pykern as pk
from pykern.environment import settings
from tests.project.tree import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from extensions import api, dialect, environment, language, markdown, passes, promotion, targets

PLACED = [name for names in api.GROUPS.values() for name in names]
TABLES = {*api.DTYPES, *api.CONSTANTS, *api.mathematics()}


def test_no_name_stands_twice():
    assert sorted(PLACED) == sorted(set(PLACED))


def test_every_public_name_is_on_the_page():
    """Names that nobody has put into a group stand under "More"."""
    page = api.page()
    assert not [name for name in api.public() if name not in TABLES and f":: pykern.{name}" not in page]
    assert not [name for name in TABLES if f"`pk.{name}`" not in page + language.mathematics()]


def test_dir_names_what_is_public():
    assert {name for name in dir(pk) if not name.startswith("__")} == api.public() | set(api.MODULES)


def test_groups_name_what_is_there():
    assert not [name for name in PLACED if not hasattr(pk, name)]


@pytest.mark.parametrize("name", sorted(api.public() - TABLES))
def test_docstring(name):
    text = inspect.getdoc(getattr(pk, name)) or ""
    assert len(text) >= 10
    assert text.split("\n\n")[0].rstrip().endswith((".", ":", "``")), "the first paragraph is a sentence"


def test_every_variable_of_the_environment_is_there():
    page = environment.page()
    assert all(f"`{variable.name}`" in page for variable in settings.variables())


def test_every_op_has_a_sentence_and_an_example():
    from pykern.dialect import base, kern  # noqa: F401

    page = dialect.page()
    for op in base.OP_CLASSES:
        assert f"### {op.OPERATION_NAME}\n" in page
        assert inspect.getdoc(op), op
        assert op.OPERATION_NAME in (inspect.getdoc(op) or ""), f"{op.__name__}: show the op in its docstring"


def test_every_target_is_there():
    from pykern.lowering.nvvm.chips import CHIPS as NVIDIA
    from pykern.lowering.rocdl.chips import CHIPS as AMD

    page = targets.page()
    assert all(f"`nvvm:{chip}`" in page for chip in NVIDIA)
    assert all(f"`rocdl:{chip}`" in page for chip in AMD)


def test_tables_have_cells_for_all_columns():
    for page in (
        environment.page(),
        promotion.page(),
        language.supported(),
        language.refused(),
        targets.page(),
    ):
        for table in page.split("\n\n"):
            rows = [line.replace("\\|", "") for line in table.splitlines() if line.startswith("|")]
            assert len({row.count("|") for row in rows}) <= 1


def test_promotion_says_what_numpy_does():
    import numpy as np

    page = promotion.page()
    row = next(line for line in page.splitlines() if line.startswith("| **i32**"))
    head = page.splitlines()[0]
    cell = [c.strip() for c in row.split("|")][[c.strip() for c in head.split("|")].index("f32")]
    assert getattr(pk, cell).numpy == np.result_type(np.int32, np.float32)


def test_docstrings_become_markdown():
    assert markdown.prose("``a`` is one.\n\nIn:  x.\nOut: y.") == "`a` is one.\n\n- **In:** x.\n- **Out:** y."
    assert markdown.table(["a|b"], [["c\nd"]]) == "| a\\|b |\n|---|\n| c d |"


def test_passes_are_shown_with_what_they_change():
    shown = passes.example("kern-shift-divisions")
    assert shown is not None
    assert (
        "floordivsi" in shown.before and "shrsi" in shown.after and "floordivsi %arg1, %c8" not in shown.after
    )
