"""What tuning found, on disk: one file a program or kernel and kind of call, with the time of every configuration.

Comes in: a `ProgramSource`, or a `KernelSource` and the name of a device. Goes out: seconds by configuration, and the
best. `pykern.storage` keeps them: a damaged file, or a disk that cannot be used, counts as nothing known.
A configuration of a program is the schedules of its contractions, in order, joined with semicolons; that of a kernel
is the workgroup, ``8x32``. "" is the cost model's.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Union

from pykern.compiler.versions import host_cpu
from pykern.data.program_source import ProgramSource
from pykern.data.schedule import parse
from pykern.data.source import KernelSource, digest
from pykern.data.target import CPU
from pykern.storage.store import TUNED, shared_store

GAIN = 0.98
"""What the best has to take at most of the cost model's time: less is noise."""
_VERSION = 1
_GROUP = re.compile(r"\d+(x\d+)*")
Tunable = Union[ProgramSource, KernelSource]


def key_of(source: Tunable, device: str = "") -> str:
    """The code, the kind of call, and the processor or device; not pykern's version: timings outlive an update."""
    plain: Tunable
    if isinstance(source, ProgramSource):
        plain = replace(source, schedules=())
    else:
        plain = replace(source, launch=replace(source.launch, workgroup=()))
    return digest(f"{device or host_cpu()}\n", plain, plain.function.name)


def path_of(source: Tunable, device: str = "") -> str:
    """Where the file of a source lies."""
    return shared_store().path(TUNED, key_of(source, device))


def timings(source: Tunable, device: str = "") -> dict[str, float]:
    """Seconds by configuration; empty where nothing is known."""
    data = shared_store().read(TUNED, key_of(source, device))
    return _parsed(data) if data is not None else {}


def remember(source: Tunable, found: dict[str, float], device: str = "") -> bool:
    """Add timings to what is known; False where they could not be written."""
    known = {**timings(source, device), **found}
    text = json.dumps(
        {"version": _VERSION, "program": source.function.name, "timings": known}, indent=1, sort_keys=True
    )
    return shared_store().write(TUNED, key_of(source, device), text.encode()) is not None


def best(source: Tunable, device: str = "") -> str:
    """The fastest configuration; "" where it is the cost model's, or nothing is known."""
    known = timings(source, device)
    name = min(known, key=lambda each: known[each], default="")
    return name if name and known[name] <= known.get("", math.inf) * GAIN else ""


def tuned(source: ProgramSource) -> ProgramSource:
    """The source with the best schedules that tuning found on this machine."""
    if source.target != CPU or source.schedules:
        return source
    found = best(source)
    return (
        replace(source, schedules=tuple(found.split(";")))
        if found and not _GROUP.fullmatch(found)
        else source
    )


def with_tuned_group(source: KernelSource, device: str) -> KernelSource:
    """The source with the best workgroup that tuning found on a device, where the launch leaves it open."""
    found = "" if source.launch.workgroup else best(source, device)
    if not _GROUP.fullmatch(found):
        return source
    group = tuple(map(int, found.split("x")))
    if len(group) != source.launch.rank:  # the file is damaged
        return source
    return replace(source, launch=replace(source.launch, workgroup=group))


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
    if _GROUP.fullmatch(name):
        return True
    try:
        return all(not each or parse(each) for each in name.split(";"))
    except ValueError:
        return False
