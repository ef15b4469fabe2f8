"""The explorer in the terminal, from the same data as the page.

Comes in: a `Comparison` and what to show. Goes out: lines of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pykern.data.lineage import OPERATION
from pykern.explorer.comparison import Comparison
from pykern.explorer.data import FAILED, Exploration, Pin, difference, lineage_of
from pykern.explorer.summary import summary

MARKS = {"mlir": "●", FAILED: "✕"}


def overview(data: Comparison) -> Iterator[str]:
    """Each kernel with its stages."""
    for number, subject in enumerate(data.subjects):
        if number:
            yield ""
        yield from _overview(subject)


def _overview(data: Exploration) -> Iterator[str]:
    """Every stage with its time, size, change and the share of its ops that know their line of Python."""
    yield f"{data.title}({data.signature}) for {data.target}"
    for sentence in summary(data):
        yield f"  {sentence}"
    width = min(60, max(len(s.name) for s in data.stages))
    for number, stage in enumerate(data.stages):
        lineage = lineage_of(stage)
        mark = MARKS.get(stage.kind, "◆") if data.changed(number) else " "
        lines = len(stage.text.splitlines())
        if stage.kind == FAILED:
            yield f"{number:3} {mark} {stage.name}"
            yield from (f"      {row}" for row in stage.text.splitlines())
            continue
        yield (
            f"{number:3} {mark} {_cut(stage.name, width):{width}}  {stage.ms:9.2f} ms  {lines:6} lines"
            f"  {sum(lineage.ops.values()):6} ops  {100 * lineage.mapped():4.0f} % known"
        )
    for name, value in data.resources.items():
        yield f"{name}: {value}"
    for remark in data.remarks:
        yield f"line {remark.line}: {remark.text}" if remark.line else remark.text


def stage_with_lines(data: Comparison, name: str | int) -> Iterator[str]:
    """A stage, with the line of Python beside each of its lines; of each kernel that has one of the name."""
    for subject, number in _having(data, name):
        if len(data.subjects) > 1:
            yield f"{subject.title} for {subject.target}"
        yield from _rows(subject, number, range(1, len(subject.stages[number].text.splitlines()) + 1))


def lines_of(data: Comparison, line: int, stage: str | int | None = None) -> Iterator[str]:
    """What a line of Python became, in every stage that changed something or in one."""
    for number, subject in enumerate(data.subjects):
        if number:
            yield ""
        if len(data.subjects) > 1:
            yield f"{subject.title} for {subject.target}"
        yield from _lines_of(subject, line, stage)


def diff(data: Comparison, a: str, b: str) -> Iterator[str]:
    """From stage `a` to stage `b` as a unified diff: of one kernel, or from the first kernel to the last."""
    first, last = data.subjects[0], data.subjects[-1]
    return difference(first.stages[first.number(a)], last.stages[last.number(b)])


def _having(data: Comparison, name: str | int) -> list[tuple[Exploration, int]]:
    found, missing = [], None
    for subject in data.subjects:
        try:
            found.append((subject, subject.number(name)))
        except KeyError as error:
            missing = error
    if missing is not None and not found:
        raise missing
    return found


def _lines_of(data: Exploration, line: int, stage: str | int | None) -> Iterator[str]:
    source = next((s for s in data.sources if s.first <= line < s.first + len(s.lines)), None)
    if source is None:
        known = ", ".join(f"{s.first} to {s.first + len(s.lines) - 1} ({s.name})" for s in data.sources)
        raise KeyError(f"no line {line}; there are {known}")
    yield f"{source.file}:{line}"
    yield f"    {source.lines[line - source.first].strip()}"
    for remark in data.remarks:
        if (remark.file, remark.line) == (source.file, line):
            yield f"    # {remark.text}"
    lit = data.lit(Pin(-1, line, source.file))
    wanted = None if stage is None else data.number(stage)
    for number, rows in enumerate(lit):
        if number == wanted or (wanted is None and rows and data.changed(number)):
            yield f"{number} {data.stages[number].name}"
            yield from _rows(data, number, rows)


def _rows(data: Exploration, number: int, rows: Iterable[int]) -> Iterator[str]:
    lineage, lines = lineage_of(data.stages[number]), data.stages[number].text.splitlines()
    for row in rows:
        place = lineage.places[row - 1]
        said = place.line if place is not None and lineage.kinds[row - 1] == OPERATION else ""
        yield f"{said:>5} {row:5} | {lines[row - 1]}"


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
