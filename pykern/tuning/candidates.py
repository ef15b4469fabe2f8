"""Which schedules are worth a try: neighbours of the cost model's, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pykern.data.schedule import Schedule, parse
from pykern.environment.machine import host_cpu


def candidates(text: str) -> list[str]:
    """Schedules to try instead of `text`."""
    start = parse(text)
    found = dict.fromkeys(str(each) for each in _around(start) if _fits(each))
    found.pop(text, None)
    return list(found)


def _around(start: Schedule) -> Iterator[Schedule]:
    yield replace(start, unroll=2)
    yield replace(start, unroll=4)
    tiles = [(6, 2), (4, 3), (12, 1), (8, 1), (4, 2), (3, 4), (2, 6), (8, 3), (14, 2), (12, 2), (1, 4)]
    if start.form == "packed":
        for depth in (256, 384, 512, 768, 1024):
            yield replace(start, depth=depth)
        for block in (8, 16, 32, 64, 128):
            yield replace(start, block=block)
        yield Schedule("direct", start.rows, start.vectors)
    else:
        for rows, vectors in ((6, 2), (start.rows, min(start.vectors, 2))):
            for depth in (256, 512):
                yield Schedule("packed", rows, vectors, depth, 32)
    for rows, vectors in tiles:
        yield replace(start, rows=rows, vectors=vectors)
    yield replace(start, threads=not start.threads)


def _fits(schedule: Schedule) -> bool:
    """Whether sums, a line and an element have registers."""
    return schedule.rows * schedule.vectors + schedule.vectors + 1 <= host_cpu().registers
