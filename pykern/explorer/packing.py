"""An exploration as JSON: what the page holds and `pykern explore --json` prints.

Comes in: a `Comparison`. Goes out: plain lists and dicts, with unchanged texts once. Version 2.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from typing import Any

from pykern import __version__
from pykern.explorer.comparison import Comparison
from pykern.explorer.data import FAILED, Exploration, lineage_of
from pykern.explorer.hotspot import hotspot
from pykern.explorer.summary import intensity, summary

VERSION = 2
_VALUE = re.compile(r"%[\w#]+")
LONG = 2000
"""Characters from which a line may hold a constant that nobody reads."""
_CONSTANT = re.compile(r"(dense(?:_resource)?<\"?).{400,}?(\"?>)")
PHASES = (
    ("simplify", ""),
    ("derive", r"^gradient|reverse|forward-mode"),
    ("raise", r"kern-raise-to-linalg"),
    ("arrays", r"kern-prepare-signature"),
    ("buffers", r"one-shot-bufferize|kern-separate-yields"),
    ("work-items", r"kern-place-tapes|kern-expand-ndrange|kern-place-work-items"),
    ("loops", r"kern-lower-launches|kern-make-nests"),
    (
        "lower",
        r"kern-flatten-arguments|math-extend|expand-strided-metadata|kern-lower-to-pointers|convert-(?!elementwise)",
    ),
)
"""Phases in order, and what the first stage of each is called."""


def packed(data: Comparison) -> dict[str, Any]:
    """All of it."""
    count = len(data.subjects)
    return {
        "v": VERSION,
        "pykern": __version__,
        "title": data.title,
        "subjects": [subject(d) for d in data.subjects],
        "same": [_same(data, i, j) for i in range(count) for j in range(i + 1, count)],
    }


def subject(data: Exploration) -> dict[str, Any]:
    """One kernel. Unchanged text is given once: `lines` is null. A parent is its line, 0 for none, or a list;
    `src` counts in `places` from 1. `hot` is the line that the page opens with."""
    files = files_of(data)
    phases = phases_of(data)
    hot = hotspot(data)
    places: Places = {}
    stages = [_stage(data, n, files, places) | {"phase": phases[n]} for n in range(len(data.stages))]
    return {
        "kernel": {
            "name": data.kernel,
            "title": data.title,
            "target": data.target,
            "signature": data.signature,
        },
        "hot": None if hot is None else [files[hot[0]], hot[1]],
        "facts": data.facts,
        "files": list(files),
        "source": [
            {"name": s.name, "file": files[s.file], "first": s.first, "lines": list(s.lines)}
            for s in data.sources
        ],
        "stages": stages,
        "places": list(places),
        "resources": data.resources,
        "remarks": [{"file": files.get(r.file, -1), "line": r.line, "text": r.text} for r in data.remarks],
        "costs": None if data.costs is None else _costs(data, files),
        "roof": None
        if data.roof is None
        else {**asdict(data.roof), "gflop_per_s": dict(data.roof.gflop_per_s)},
        "runs": [asdict(run) for run in data.runs],
        "summary": list(summary(data)),
        "error": data.error,
    }


def phases_of(data: Exploration) -> list[str]:
    """What each stage is part of."""
    found, at = [], 0
    for number, stage in enumerate(data.stages):
        for later in range(at + 1, len(PHASES)):
            if re.search(PHASES[later][1], stage.name):
                at = later
        special = "frontend" if number == 0 else "failed" if stage.kind == FAILED else ""
        found.append(
            special or ("codegen" if stage.kind != "mlir" or "assemble" in stage.name else PHASES[at][0])
        )
    return found


def files_of(data: Exploration) -> dict[str, int]:
    """Files by number, those of the sources first."""
    named = [s.file for s in data.sources] + [f for s in data.stages for f in lineage_of(s).files]
    return {file: number for number, file in enumerate(dict.fromkeys(named))}


Places = dict[tuple[int, int, int], int]
"""File, line and column of Python, by number from 1: many ops have the same."""


def _stage(data: Exploration, number: int, files: dict[str, int], places: Places) -> dict[str, Any]:
    stage = data.stages[number]
    lineage = lineage_of(stage)
    lines = [_elided(line) for line in stage.text.splitlines()]
    before = [_elided(line) for line in data.stages[number - 1].text.splitlines()] if number else []
    return {
        "name": stage.name,
        "kind": stage.kind,
        "ms": round(stage.ms, 3),
        "changed": data.changed(number),
        "added": _more(lines, before),
        "removed": _more(before, lines),
        "ops": lineage.ops,
        "lines": lines if data.changed(number) else None,
        "kinds": lineage.kinds,
        "parts": lineage.parts,
        "parents": [p[0] if len(p) == 1 else list(p) or 0 for p in lineage.parents],
        "src": [
            0
            if p is None
            else places.setdefault((files[lineage.files[p.file]], p.line, p.column), len(places) + 1)
            for p in lineage.places
        ],
    }


def _costs(data: Exploration, files: dict[str, int]) -> dict[str, Any]:
    costs = data.costs
    assert costs is not None
    low, high = intensity(costs)
    return {
        "accesses": [_at(asdict(a), files) for a in costs.accesses],
        "work": [_at(asdict(w), files) for w in costs.work],
        "loops": list(costs.loops),
        "of": "a call" if costs.rank == 0 else "a work-item",
        "intensity": [low, high],
    }


def _at(row: dict[str, Any], files: dict[str, int]) -> dict[str, Any]:
    executions = row.pop("executions")
    return {
        **row,
        "file": files.get(row["file"], -1),
        "times": executions["times"],
        "loops": list(executions["loops"]),
    }


def _same(data: Comparison, one: int, other: int) -> list[list[int]]:
    files = files_of(data.subjects[one]), files_of(data.subjects[other])
    pairs = data.same(one, other).items()
    return [[files[0][a], line_a, files[1][b], line_b] for (a, line_a), (b, line_b) in pairs]


def _elided(line: str) -> str:
    """A line without the numbers of large constants."""
    return line if len(line) < LONG else _CONSTANT.sub(r"\1…\2", line)


def _more(lines: list[str], others: list[str]) -> int:
    """How many lines are not among `others`; a new number of a value is no change."""
    counted, taken = (Counter(_VALUE.sub("%", line) for line in text) for text in (lines, others))
    return sum((counted - taken).values())
