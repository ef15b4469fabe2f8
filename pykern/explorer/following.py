"""Compiling a kernel with every line followed, also where it fails.

Comes in: what was lowered, or the error of a compilation. Goes out: an `Exploration`. The compiler writes
each stage to a file as soon as it is there: a pass that fails, or a process that dies, leaves those before it.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from typing import Any

from pykern.api.lowered import Lowered
from pykern.compiler.service import service
from pykern.compiler.versions import versions
from pykern.data.artifact import Artifact, Remark, Stage
from pykern.data.lineage import Follow
from pykern.data.program_source import ProgramSource
from pykern.data.source import KernelSource
from pykern.data.target import LINALG
from pykern.environment.memory_file import MemoryFile
from pykern.errors import KernelError
from pykern.explorer.data import Exploration, exploration, failed


def follow(lowered: Lowered) -> Exploration:
    """What there is to see of a kernel that compiles."""
    source = lowered.source
    traced = _traced(source, lowered.passes)
    if isinstance(traced, Exploration):
        return traced
    found = exploration(lowered, traced, _raising(source))
    return replace(found, facts={**_facts(source), **found.facts})


def follow_failed(error: KernelError) -> Exploration | None:
    """What there is to see of a kernel that does not; None where no stage was reached."""
    source = error.source
    if not isinstance(source, KernelSource | ProgramSource):
        return None
    traced = _traced(source, error.passes)
    if not isinstance(traced, Exploration):  # it did this time: its process was ended from outside
        return exploration(Lowered(source, traced), traced)
    return traced if len(traced.stages) > 1 else None


def _traced(source: KernelSource | ProgramSource, passes: tuple[Any, ...]) -> Artifact | Exploration:
    with MemoryFile() as partial:
        try:
            return service().compile(source, Follow(partial.shared_path), passes)
        except KernelError as error:
            return replace(failed(source, *_read(partial.read()), error), facts=_facts(source))


def _read(content: bytes) -> tuple[list[Stage], str]:
    """The stages in a file of our own, of which the last may be cut off, and the pass that failed."""
    found: list[Stage | str] = []
    file = io.BytesIO(content)
    while True:
        try:
            found.append(pickle.load(file))
        except (EOFError, pickle.UnpicklingError):
            break
    return [s for s in found if isinstance(s, Stage)], next((s for s in found if isinstance(s, str)), "")


def _facts(source: KernelSource | ProgramSource) -> dict[str, object]:
    """What decides the code, in words."""
    key = versions()
    found: dict[str, object] = {
        "debug": source.options.debug,
        "fastmath": source.options.fastmath,
        "cache key": source.key(key),
        "versions": key,
    }
    if isinstance(source, KernelSource):
        launch = source.launch
        lengths = launch.ndrange or (None,) * launch.rank
        found["ndrange"] = " x ".join("?" if n is None else str(n) for n in lengths)
        found["workgroup"] = (
            " x ".join(map(str, launch.workgroup)) if launch.workgroup else "chosen by the target"
        )
        if source.passes:
            found["passes"] = ", ".join(source.passes)
    if source.derivatives:
        found["derivative"] = repr(source.derivatives[-1])
    return found


def _raising(source: KernelSource | ProgramSource) -> tuple[Remark, ...]:
    """Whether the kernel is linalg on tensors as well, or the line that prevents it."""
    if not isinstance(source, KernelSource) or source.derivatives or source.target == LINALG:
        return ()
    plain = replace(source, target=LINALG, passes=(), options=replace(source.options, debug=False))
    try:
        service().compile(plain, keep_stages=True)
    except KernelError as error:
        place = ("", 0) if error.span is None else (error.span.file, error.span.line)
        return (Remark(f"not raised to linalg: {error.reason}", *place),)
    return (Remark("the kernel can be raised to linalg on tensors"),)
