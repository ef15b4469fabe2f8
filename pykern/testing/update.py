"""Write or refresh the CHECK lines of lit tests from what they print now.

Comes in: tests. Goes out: their files, changed, and an `Update` for each prefix looked for. Lines written by hand
are kept: a prefix with such lines and no generated block is left alone.
Read next: `pykern.testing.generated_checks`, `pykern.testing.recorder`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from pykern.testing.generated_checks import check_lines, has_block, has_written_by_hand, with_block
from pykern.testing.lit import RECORD
from pykern.testing.lit_run import Found, run
from pykern.testing.recorder import Record, records

WRITTEN, SAME, BY_HAND, AMBIGUOUS, NO_OUTPUT, NO_TEXT = (
    "written",
    "up to date",
    "written by hand, kept",
    "not written: two RUN lines print different things, give each a --check-prefix",
    "not written: nothing was printed",
    "not written: the test is not UTF-8 text",
)


@dataclass(frozen=True)
class Update:
    """What was done about the lines of one prefix of one test."""

    test: Path
    prefix: str
    what: str


def update(found: Found, params: Mapping[str, str] | None = None, filter: str = "") -> list[Update]:
    """Refresh the tests in `found`. Raises `LitError` where lit does not run."""
    with tempfile.TemporaryDirectory(prefix="pykern-update-") as folder:
        run(found, {**(params or {}), RECORD: folder}, filter)
        noted = records(Path(folder))
    return [
        _refresh(Path(test), prefix, list(outputs))
        for (test, prefix), outputs in groupby(noted, lambda record: (record.test, record.prefix))
    ]


def _refresh(test: Path, prefix: str, noted: list[Record]) -> Update:
    try:
        text = test.read_text("utf-8")
    except UnicodeDecodeError:
        return Update(test, prefix, NO_TEXT)
    if has_written_by_hand(text, prefix) and not has_block(text, prefix):
        return Update(test, prefix, BY_HAND)
    if len({record.output for record in noted}) > 1:
        return Update(test, prefix, AMBIGUOUS)
    output = noted[0].output
    if not output.strip():
        return Update(test, prefix, NO_OUTPUT)
    new = with_block(text, prefix, check_lines(output, prefix), "#" if test.suffix == ".py" else "//")
    if new == text:
        return Update(test, prefix, SAME)
    test.write_text(new, "utf-8")
    return Update(test, prefix, WRITTEN)
