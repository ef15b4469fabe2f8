"""Array programs as files: in C a function that does all of it, else the kernels and what a host does with them.

Comes in: a program that was lowered to what a form takes. Goes out: contents by the ends of files' names, and the
manifest. Read next: `pykern.lowering.source.host`, which prints the function.
"""

from __future__ import annotations

import json
from typing import Any

from pykern.api.lowered import Lowered
from pykern.data.artifact import ProgramPlan
from pykern.data.program_source import ProgramSource
from pykern.exporter.c_header import c_header
from pykern.exporter.forms import Form
from pykern.exporter.manifest import refuse_helpers
from pykern.exporter.program_manifest import program_manifest
from pykern.exporter.program_object import program_object_files


def program_files(
    lowered: Lowered, name: str, form: Form, file: str
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of a form; `file` is the name of an object without its end, "" where it has none yet. Raises
    `LaunchError` for programs whose host does more than a manifest says, `TargetError` for a program that prints."""
    refuse_helpers(lowered)
    source, layout = lowered.source, lowered.artifact.program
    assert isinstance(source, ProgramSource) and layout is not None
    if name == "object":
        return program_object_files(lowered, file or source.exported_name), {}
    if name == "c":
        text = lowered.compile().source
        header = c_header(text, source.exported_name, layout.scratch_bytes)
        return {form.ending: text.encode(), "h": header.encode()}, {}
    texts = _texts(lowered.compile().binary, layout.plan, form.ending)
    told = program_manifest(lowered, name, form.ending, {k: ending for k, (ending, _) in texts.items()})
    files = dict(texts.values())
    return {**files, f"{form.ending}.json": (json.dumps(told, indent=2) + "\n").encode()}, told


def _texts(binary: bytes, plan: ProgramPlan | None, ending: str) -> dict[str, tuple[str, bytes]]:
    """The text or binary that each kernel stands in, and the end of its file's name: texts in one file, but those in
    WGSL and binaries each in its own."""
    assert plan is not None
    found: dict[str, tuple[str, bytes]] = {}
    for kernel in plan.kernels:
        apart = (kernel.begin, kernel.end) != (0, len(binary))
        name = f"{kernel.symbol}.{ending}" if apart and found else ending
        found[kernel.symbol] = name, binary[kernel.begin : kernel.end]
    return found
