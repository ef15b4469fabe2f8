"""The explorer in the terminal, from the same data as the page.

Comes in: an `Exploration` and what to show. Goes out: lines of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pykern.explorer.data import Exploration, Pin, lineage_of
from pykern.lineage import OPERATION


def overview(data: Exploration) -> Iterator[str]:
    """Every stage with its time, size, change and the share of its ops that know their line of Python."""
    yield f"{data.kernel}({data.signature}) for {data.target}"
    width = max(len(s.name) for s in data.stages)
    for number, stage in enumerate(data.stages):
        lineage = lineage_of(stage)
        mark = " " if not data.changed(number) else "●" if stage.kind == "mlir" else "◆"
        lines = len(stage.text.splitlines())
        yield (
            f"{number:3} {mark} {stage.name:{width}}  {stage.ms:9.2f} ms  {lines:6} lines"
            f"  {sum(lineage.ops.values()):6} ops  {100 * lineage.mapped():4.0f} % known"
        )
    for name, value in data.resources.items():
        yield f"{name}: {value}"
    for remark in data.remarks:
        yield f"line {remark.line}: {remark.text}" if remark.line else remark.text


def stage_with_lines(data: Exploration, name: str | int) -> Iterator[str]:
    """A stage, with the line of Python beside each of its lines."""
    number = data.number(name)
    yield from _rows(data, number, range(1, len(data.stages[number].text.splitlines()) + 1))


def lines_of(data: Exploration, line: int, stage: str | int | None = None) -> Iterator[str]:
    """What a line of Python became, in every stage that changed something or in one."""
    source = next((s for s in data.sources if s.first <= line < s.first + len(s.lines)), None)
    if source is None:
        known = ", ".join(f"{s.first} to {s.first + len(s.lines) - 1} ({s.name})" for s in data.sources)
        raise KeyError(f"no line {line}; there are {known}")
    yield f"{source.file}:{line}"
    yield f"    {source.lines[line - source.first].strip()}"
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
