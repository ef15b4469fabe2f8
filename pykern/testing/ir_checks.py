"""`check_ir`: FileCheck over one stage of a kernel, in a test written in Python.

Comes in: what ``kernel.lower(...)`` gave (or IR as text) and directives. Goes out: nothing, or an AssertionError
that names the directive, and shows the IR where it was looked for. Read next: `pykern.testing.filecheck`.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from pykern.testing.filecheck import SUFFIX, misspelling
from pykern.testing.lit import llvm_tools

if TYPE_CHECKING:
    from pykern.api.lowered import Lowered

AROUND = 4  # lines of IR that are shown before and after the place

_DIAGNOSTIC = re.compile(
    r"^(?P<file><stdin>|.+?):(?P<line>\d+):(?P<column>\d+): (?P<kind>error|note): (?P<text>.*)$", re.M
)


def check_ir(lowered: Lowered | str, stage: str | int, checks: str, *, prefix: str = "CHECK") -> None:
    """Check a stage of a kernel with FileCheck's directives.

    ``check_ir(k.lower(x, ndrange=n), "kern", "CHECK: kern.global_id")``. `lowered` is what `Kernel.lower` or
    `Program.lower` gives; a text is checked as it is, and `stage` then is its name in messages. `stage` is a
    name, a part of it, or a number; `checks` holds one directive a line (``CHECK``, ``CHECK-NEXT``,
    ``CHECK-NOT``, ...), comment marks before them are allowed.

    Raises AssertionError where the IR does not match, KeyError for a stage that is not there, ValueError
    for text without a directive or with one that FileCheck would pass over (``CHCEK``), FileNotFoundError
    where FileCheck is not installed.
    """
    __tracebackhide__ = True
    if isinstance(lowered, str):
        title, ir = f"`{stage}`", lowered
    else:
        found = lowered.stage(stage)
        title, ir = f"stage `{found.name}` of `{lowered.artifact.kernel}`", found.text
    directives = _directives(checks, prefix)
    with tempfile.TemporaryDirectory(prefix="pykern-check-") as folder:
        file = Path(folder, "checks")
        file.write_text("\n".join(directives) + "\n", "utf-8")
        command = [llvm_tools() / "FileCheck", file, f"--check-prefix={prefix}", "--dump-input=never"]
        done = subprocess.run(
            [*command, "--allow-empty"], input=ir, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise AssertionError(_message(title, ir, directives, done.stderr))


def _directives(checks: str, prefix: str) -> list[str]:
    """The lines of `checks`. Raises ValueError for those that would check nothing."""
    lines = textwrap.dedent(checks).strip("\n").splitlines()
    for number, line in enumerate(lines, 1):
        comment = re.sub(r"^\s*(?://+|#+)?\s*", "", line)
        if wrong := misspelling(comment, {prefix}):
            raise ValueError(f"line {number} of the checks, {line.strip()!r}: {wrong}")
    if not any(re.search(rf"(?<![\w-]){re.escape(prefix)}{SUFFIX}:", line) for line in lines):
        raise ValueError(f"the checks hold no directive: write `{prefix}: ...`")
    return lines


def _message(title: str, ir: str, directives: list[str], told: str) -> str:
    """What FileCheck told, with the directive, and the IR around the place it speaks of."""
    parts = [f"{title} does not match"]
    place = 0
    for found in _DIAGNOSTIC.finditer(told):
        line, column = int(found["line"]), int(found["column"])
        if found["file"] != "<stdin>":
            parts.append(f"  line {line} of the checks: {found['text']}")
            if line <= len(directives):
                parts += [f"    {directives[line - 1]}", f"    {' ' * (column - 1)}^"]
        else:
            parts.append(f"  line {line} of the IR: {found['text']}")
            place = min(place or line, line)
    if len(parts) == 1:  # no diagnostic of the form above: a directive that is malformed
        return f"{title}: {told.strip()}"
    lines = ir.splitlines()
    first = max(0, place - 1 - AROUND)
    shown = [f"  {n:4} | {text}" for n, text in enumerate(lines, 1) if first < n <= first + 3 * AROUND]
    return "\n".join([*parts, *shown])
