"""Names that passes had before still work, on the command line and in pipelines as text."""

from __future__ import annotations

import pytest

from pykern.passes.old_names import OLD_NAMES
from pykern.passes.registry import known, parse_pipeline, pass_by_name
from pykern.tools import opt


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_gives_the_pass(old):
    now = OLD_NAMES[old]
    assert old not in known()
    assert pass_by_name(old) == pass_by_name(now)
    assert str(parse_pipeline(f"builtin.module({old},canonicalize)")) == f"builtin.module({now},canonicalize)"


def test_help_names_deprecated_passes():
    help_text = opt.command_line().format_help()
    assert all(f"--{old} is now --{now}" in help_text for old, now in OLD_NAMES.items())
