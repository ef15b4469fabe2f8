"""Lines of printed source know their lines of Python, as the explorer shows them."""

from __future__ import annotations

import re

import pytest

import pykern as pk
from pykern.data.artifact import Stage
from pykern.data.lineage import OPERATION
from pykern.explorer.explore import look
from tests.lowering.source_cases import CASES, diffused

LANGUAGES = ("wgsl", "msl", "c", "opencl-c")
_EMPTY = re.compile(r"[{}\s]*|\} else \{|loop \{|for \(;;\) \{|#pragma.*")
"""Lines of a body that only hold others, or tell a compiler something."""


def stage_of(lowered: pk.Lowered) -> Stage:
    """The text, with its lineage."""
    return look(lowered).subjects[0].stages[-1]


def body_of(stage: Stage, name: str) -> range:
    """The lines between the head of a kernel and its end, counted from 0."""
    rows = stage.text.splitlines()
    head = next(k for k, row in enumerate(rows) if re.search(rf"\b{name}\(", row))
    first = next(k for k in range(head, len(rows)) if rows[k].endswith(") {")) + 1
    return range(first, len(rows) - 1)


@pytest.mark.sweep("name", "language")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CASES)
def test_every_line_that_does_something_is_mapped(name: str, language: str) -> None:
    case = CASES[name]
    stage = stage_of(case.kernel.lower(*case.given(), ndrange=case.ndrange, target=language))
    lineage, rows = stage.lineage, stage.text.splitlines()
    assert lineage is not None and lineage.mapped() == 1, [
        row
        for row, kind, place in zip(rows, lineage.kinds, lineage.places, strict=True)
        if kind == OPERATION and place is None
    ]
    shared = re.compile(r"\s*(?:__local|__shared__|threadgroup) .*;")
    does_something = [
        k
        for k in body_of(stage, case.kernel.__name__)
        if not _EMPTY.fullmatch(rows[k].strip()) and not shared.fullmatch(rows[k])
    ]
    assert [rows[k] for k in does_something if lineage.kinds[k] != OPERATION] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_are_mapped_to_the_right_ones(language: str) -> None:
    spec = pk.spec((None, None), pk.f32)
    stage = stage_of(diffused.lower(spec, spec, 0.1, ndrange=(None, None), target=language))
    lineage = stage.lineage
    assert lineage is not None
    source = look(diffused.lower(spec, spec, 0.1, ndrange=(8, 8), target=language)).subjects[0].sources[0]
    found = {
        row.strip().split(" ", 1)[0]: source.lines[place.line - source.first].strip()
        for row, place in zip(stage.text.splitlines(), lineage.places, strict=True)
        if place is not None
    }
    store = next(text for start, text in found.items() if start.startswith(("out[", "out_1[")))
    assert store.startswith("out[i, j] = ")
    begins = found["for" if language == "c" else "if"]  # in C the guard became bounds of loops
    assert begins.startswith(("if 0 < i", "i, j = pk.index()", "def diffused", "@pk.kernel"))
