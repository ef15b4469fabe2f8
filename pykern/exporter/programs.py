"""Array programs as files: in C a function that does all of it.

Comes in: a program that was lowered to what a form takes. Goes out: contents by the ends of files' names, and the
manifest. Read next: `pykern.lowering.source.host`, which prints the function.
"""

from __future__ import annotations

from typing import Any

from pykern.api.lowered import Lowered
from pykern.data.program_source import ProgramSource
from pykern.errors import LaunchError
from pykern.exporter.c_header import c_header
from pykern.exporter.forms import Form
from pykern.exporter.manifest import refuse_helpers

FORMS = ("c",)
"""What programs are exported as."""


def program_files(lowered: Lowered, name: str, form: Form) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of a form. Raises `LaunchError` for forms that programs have not, `TargetError` for a
    program that prints."""
    if name not in FORMS:
        raise LaunchError(
            f"`{lowered.artifact.kernel}` is an array program, and programs are not exported as {name}",
            hint=f"there are {', '.join(FORMS)}; a kernel is exported as {name}",
        )
    refuse_helpers(lowered)
    source, layout = lowered.source, lowered.artifact.program
    assert isinstance(source, ProgramSource) and layout is not None
    text = lowered.compile().source
    header = c_header(text, source.exported_name, layout.scratch_bytes)
    return {form.ending: text.encode(), "h": header.encode()}, {}
