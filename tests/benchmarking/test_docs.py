"""docs/benchmarking.md: its code runs, and its table of fields is the schema."""

from __future__ import annotations

import re

from pykern.benchmarking.records import FIELDS
from tests.project.tree import ROOT

TEXT = (ROOT / "docs" / "benchmarking.md").read_text()


def table() -> str:
    return "\n".join(
        f"| `{name}` | {field.meaning}{'' if field.needed else ' *'} |" for name, field in FIELDS.items()
    )


def test_the_table_of_fields_is_the_schema():
    assert table() in TEXT


def test_its_code_runs(tmp_path):
    """In a file, as pykern reads the sources of kernels."""
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "documented.py"
    path.write_text(
        "\n".join(blocks).replace("repeat=100", "repeat=3") + "\nassert len(saxpy_rate.measure(64)) == 2\n"
    )
    scope = {"__name__": "documented"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    assert scope["result"].checked
