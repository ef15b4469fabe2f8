"""Where work-items of a group meet: barriers, and what they compute together.

Comes in: the generators of a group. Each yields ``(place, what, kind, value, lane)`` where it meets the others
and is sent what it gets there. One that has returned is waited for no longer.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from pykern.interpreter.numbers import COMBINE

Items = "list[tuple[Any, Generator]]"


def run_group(items: list[tuple[Any, Generator]], subgroup_size: int) -> None:
    """Run all work-items to their ends, from barrier to barrier."""
    waiting: list[tuple[Any, Generator, Any]] = [(item, steps, None) for item, steps in items]
    while waiting:
        met = []
        for item, steps, sent in waiting:
            try:
                met.append((item, steps, steps.send(sent)))
            except StopIteration:
                continue
        waiting = [
            (item, steps, answer)
            for (item, steps, _), answer in zip(met, _answers(met, subgroup_size), strict=True)
        ]


def _answers(met: list[tuple[Any, Generator, Any]], subgroup_size: int) -> list[Any]:
    teams: dict[Any, list[int]] = {}
    for n, (item, _, (place, what, _, _, _)) in enumerate(met):
        team = 0 if what in ("barrier", "group_reduce") else item.number // subgroup_size
        teams.setdefault((place, team), []).append(n)
    found: list[Any] = [None] * len(met)
    for members in teams.values():
        _, what, kind, _, _ = met[members[0]][2]
        values = [met[n][2][3] for n in members]
        if what == "barrier":
            continue
        if what == "subgroup_shuffle":
            lanes = {met[n][0].lane_id: met[n][2][3] for n in members}
            for n in members:
                lane = int(met[n][2][4]) % subgroup_size
                found[n] = lanes.get(lane, met[n][2][3])
            continue
        running = _running(kind, values)
        for place, n in enumerate(members):
            if what == "subgroup_scan":
                found[n] = running[place]
            elif what == "subgroup_exclusive_scan":
                found[n] = running[place - 1] if place else _neutral(kind, values[0].dtype)
            else:
                found[n] = running[-1]
    return found


def _running(kind: str, values: list[Any]) -> list[Any]:
    found = [values[0]]
    for value in values[1:]:
        found.append(COMBINE[kind](found[-1], value))
    return found


def _neutral(kind: str, dtype: np.dtype) -> Any:
    """What changes nothing in a reduction."""
    if kind in ("add", "or", "xor", "umax"):
        return dtype.type(0)
    if kind == "mul":
        return dtype.type(1)
    if kind in ("and", "umin"):
        return dtype.type(-1) if dtype != np.bool_ else np.True_
    if dtype.kind in "fV":
        return dtype.type(np.inf if kind == "min" else -np.inf)
    if dtype == np.bool_:
        return np.bool_(kind == "min")
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if kind == "min" else limits.min)
