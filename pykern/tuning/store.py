"""What tuning found, on disk: one file a program and kind of call, with the time of every configuration tried.

Comes in: a `ProgramSource`. Goes out: seconds by configuration, and the best. Files are written aside and renamed: a
reader finds the old or the new one; a damaged file, or a disk that cannot be used, counts as nothing known.
A configuration is the schedules of a program's contractions, in order, joined with semicolons; "" is the cost model's.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import replace

from pykern.compiler.private_files import (
    UnsafePath,
    make_below,
    make_private,
    read_private,
    write_whole,
)
from pykern.compiler.versions import host_cpu
from pykern.program_source import ProgramSource
from pykern.schedule import parse
from pykern.settings import settings

FOLDER = "tuned"
_VERSION = 1


def key_of(source: ProgramSource) -> str:
    """The program, the kind of call and the processor; not pykern's version: timings outlive an update."""
    plain = replace(source, schedules=())
    return hashlib.sha256(f"{host_cpu()}\n{plain!r}".encode()).hexdigest()[:40]


def path_of(source: ProgramSource) -> str:
    """Where the file of a source lies."""
    return os.path.join(settings().cache_dir, FOLDER, key_of(source) + ".json")


def timings(source: ProgramSource) -> dict[str, float]:
    """Seconds by configuration; empty where nothing is known."""
    if not settings().cache:
        return {}
    try:
        found = json.loads(read_private(path_of(source))[0])
        entries = found["timings"] if found["version"] == _VERSION else {}
        return {
            str(name): float(seconds)
            for name, seconds in entries.items()
            if math.isfinite(float(seconds)) and float(seconds) > 0 and _is_configuration(str(name))
        }
    except (OSError, UnsafePath, ValueError, TypeError, KeyError, AttributeError):
        return {}


def remember(source: ProgramSource, found: dict[str, float]) -> bool:
    """Add timings to what is known; False where they could not be written."""
    if not settings().cache:
        return False
    path = path_of(source)
    known = {**timings(source), **found}
    text = json.dumps(
        {"version": _VERSION, "program": source.function.name, "timings": known}, indent=1, sort_keys=True
    )
    try:
        make_private(settings().cache_dir)
        make_below(settings().cache_dir, path)
        write_whole(path, text.encode())
    except (OSError, UnsafePath):
        return False
    return True


def best(source: ProgramSource) -> tuple[str, ...]:
    """The schedules of the fastest configuration; () where it is the cost model's, or nothing is known."""
    known = timings(source)
    if not known:
        return ()
    name = min(known, key=lambda each: known[each])
    return tuple(name.split(";")) if name else ()


def tuned(source: ProgramSource) -> ProgramSource:
    """The source with the best schedules that tuning found on this machine."""
    if source.target != "llvm" or source.schedules:
        return source
    found = best(source)
    return replace(source, schedules=found) if found else source


def _is_configuration(name: str) -> bool:
    try:
        return all(not each or parse(each) for each in name.split(";"))
    except ValueError:
        return False
