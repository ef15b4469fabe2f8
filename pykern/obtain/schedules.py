"""What tuning found, on disk: one file a program and kind of call, with the time of every configuration tried.

Comes in: a `ProgramSource`. Goes out: seconds by configuration, and the best. `pykern.storage` keeps them: a damaged
file, or a disk that cannot be used, counts as nothing known.
A configuration is the schedules of a program's contractions, in order, joined with semicolons; "" is the cost model's.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

from pykern.compiler.versions import host_cpu
from pykern.data.program_source import ProgramSource
from pykern.data.schedule import parse
from pykern.data.source import digest
from pykern.data.target import CPU
from pykern.storage.store import TUNED, shared_store

_VERSION = 1


def key_of(source: ProgramSource) -> str:
    """The program, the kind of call and the processor; not pykern's version: timings outlive an update."""
    plain = replace(source, schedules=())
    return digest(f"{host_cpu()}\n", plain, plain.function.name)


def path_of(source: ProgramSource) -> str:
    """Where the file of a source lies."""
    return shared_store().path(TUNED, key_of(source))


def timings(source: ProgramSource) -> dict[str, float]:
    """Seconds by configuration; empty where nothing is known."""
    data = shared_store().read(TUNED, key_of(source))
    return _parsed(data) if data is not None else {}


def remember(source: ProgramSource, found: dict[str, float]) -> bool:
    """Add timings to what is known; False where they could not be written."""
    known = {**timings(source), **found}
    text = json.dumps(
        {"version": _VERSION, "program": source.function.name, "timings": known}, indent=1, sort_keys=True
    )
    return shared_store().write(TUNED, key_of(source), text.encode()) is not None


def best(source: ProgramSource) -> tuple[str, ...]:
    """The schedules of the fastest configuration; () where it is the cost model's, or nothing is known."""
    known = timings(source)
    if not known:
        return ()
    name = min(known, key=lambda each: known[each])
    return tuple(name.split(";")) if name else ()


def tuned(source: ProgramSource) -> ProgramSource:
    """The source with the best schedules that tuning found on this machine."""
    if source.target != CPU or source.schedules:
        return source
    found = best(source)
    return replace(source, schedules=found) if found else source


def _parsed(data: bytes) -> dict[str, float]:
    """Timings from their text; empty where another version wrote it."""
    try:
        found = json.loads(data)
        entries = found["timings"] if found["version"] == _VERSION else {}
        return {
            str(name): float(seconds)
            for name, seconds in entries.items()
            if math.isfinite(float(seconds)) and float(seconds) > 0 and _is_configuration(str(name))
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def _is_configuration(name: str) -> bool:
    try:
        return all(not each or parse(each) for each in name.split(";"))
    except ValueError:
        return False
