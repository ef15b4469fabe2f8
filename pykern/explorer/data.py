"""What the explorer shows, as plain data: Python sources, stages with lineage, times, resources, remarks.

Comes in: a `Lowered` and the same compilation with lineage. Goes out: `Exploration`, which is JSON by
`as_json` and answers `lit`: which lines light up. The page computes the same from the same data.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pykern import __version__
from pykern.artifact import Artifact, Stage
from pykern.explorer.remarks import Remark, remarks
from pykern.lineage import OPERATION, PLUMBING, Lineage, lines_of_place, relatives
from pykern.lowered import Lowered
from pykern.source import CapturedCustom, CapturedKernel, FunctionSource

VERSION = 1
_VALUE = re.compile(r"%[\w#]+")


@dataclass(frozen=True)
class SourceText:
    """The text of a kernel, or of a function it calls: `lines` start at line `first` of `file`."""

    name: str
    file: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Pin:
    """A line that was picked: of a stage, or of the Python file `file` where `stage` is -1."""

    stage: int
    line: int
    file: str = ""


@dataclass(frozen=True)
class Exploration:
    """A kernel to look into; `stages` all have a lineage."""

    kernel: str
    target: str
    signature: str
    sources: tuple[SourceText, ...]
    stages: tuple[Stage, ...]
    resources: dict[str, object] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def number(self, name: str | int) -> int:
        """The number of a stage, by number, by name, or by a part of the name. Raises `KeyError`."""
        names = [s.name for s in self.stages]
        if isinstance(name, int) or name.lstrip("-").isdigit():
            if not -len(names) <= int(name) < len(names):
                raise KeyError(f"no stage {name}; there are {len(names)}")
            return int(name) % len(names)
        exact = [n for n, given in enumerate(names) if given == name]
        found = exact[-1:] or [n for n, given in enumerate(names) if name in given]
        if not found:
            raise KeyError(f"no stage {name!r}; there are {', '.join(names)}")
        return found[0]

    def lit(self, pin: Pin, plumbing: bool = False) -> tuple[tuple[int, ...], ...]:
        """The lines of each stage that light up for a picked line.

        A line of Python lights what comes from it; a line of a stage what it comes from and what it becomes.
        """
        lineages = [lineage_of(s) for s in self.stages]
        if pin.stage < 0:
            return tuple(lines_of_place(x, pin.file, pin.line, plumbing) for x in lineages)
        related = relatives(lineages, pin.stage, pin.line)
        return tuple(
            tuple(
                sorted(
                    n
                    for n in lines
                    if (number, n) == (pin.stage, pin.line) or _shown(lineages[number].kinds[n - 1], plumbing)
                )
            )
            for number, lines in enumerate(related)
        )

    def python_of(self, pin: Pin) -> tuple[str, int] | None:
        """The file and line of Python that a picked line comes from."""
        if pin.stage < 0:
            return pin.file, pin.line
        lineage = lineage_of(self.stages[pin.stage])
        place = lineage.places[pin.line - 1]
        return None if place is None else (lineage.files[place.file], place.line)

    def diff(self, a: str | int, b: str | int) -> Iterator[str]:
        """What changed from stage `a` to stage `b`, as lines of a unified diff."""
        before, after = self.stages[self.number(a)], self.stages[self.number(b)]
        return difflib.unified_diff(
            before.text.splitlines(), after.text.splitlines(), before.name, after.name, lineterm=""
        )

    def changed(self, number: int) -> bool:
        """True where a stage is not the text of the one before."""
        return number == 0 or self.stages[number].text != self.stages[number - 1].text

    def as_json(self) -> dict[str, Any]:
        """All of it, for the page and for other programs. Unchanged text is given once: `lines` is null."""
        files = _files(self)
        return {
            "v": VERSION,
            "kernel": {
                "name": self.kernel,
                "target": self.target,
                "signature": self.signature,
                "pykern": __version__,
            },
            "files": list(files),
            "source": [
                {"name": s.name, "file": files[s.file], "first": s.first, "lines": list(s.lines)}
                for s in self.sources
            ],
            "stages": [self._stage_as_json(n, files) for n in range(len(self.stages))],
            "resources": self.resources,
            "remarks": [
                {"file": files.get(r.file, -1), "line": r.line, "text": r.text} for r in self.remarks
            ],
        }

    def _stage_as_json(self, number: int, files: dict[str, int]) -> dict[str, Any]:
        stage = self.stages[number]
        lineage = lineage_of(stage)
        lines = stage.text.splitlines()
        before = self.stages[number - 1].text.splitlines() if number else []
        return {
            "name": stage.name,
            "kind": stage.kind,
            "ms": round(stage.ms, 3),
            "changed": self.changed(number),
            "added": _more(lines, before),
            "removed": _more(before, lines),
            "ops": lineage.ops,
            "lines": lines if self.changed(number) else None,
            "kinds": lineage.kinds,
            "parents": [list(p) for p in lineage.parents],
            "src": [
                0 if p is None else [files[lineage.files[p.file]], p.line, p.column] for p in lineage.places
            ],
        }


def exploration(lowered: Lowered, traced: Artifact, said: tuple[Remark, ...] = ()) -> Exploration:
    """What there is to see of a compilation; `said` are remarks from elsewhere.

    Times are those of `lowered`, which was not followed.
    """
    times = {n: s.ms for n, s in enumerate(lowered.stages)} if _same_stages(lowered, traced) else {}
    stages = tuple(
        Stage(s.name, s.text, times.get(n, s.ms), s.kind, s.lineage)
        for n, s in enumerate(traced.stages)
        if s.lineage is not None
    )
    source = lowered.source
    functions = [source.function] if isinstance(source.function, FunctionSource) else []
    shown = tuple(
        SourceText(f.name, f.file, f.first_line, tuple(f.text.splitlines()))
        for f in dict.fromkeys(g for f in functions for g in _with_callees(f))
    )
    return Exploration(
        traced.kernel,
        traced.target,
        ", ".join(f"{p.name}: {described(p.spec)}" for p in source.parameters),
        shown,
        stages,
        {k: v for k, v in traced.resources.items() if isinstance(v, (int, float, str))},
        said + remarks(stages),
    )


def described(spec: Any) -> str:
    """An argument in the words of its annotation: ``f32[?, 4]``."""
    dtype = getattr(spec, "dtype", None)
    if dtype is None:
        return str(getattr(spec, "value", spec))
    shape = getattr(spec, "shape", None)
    return dtype if shape is None else f"{dtype}[{', '.join('?' if n is None else str(n) for n in shape)}]"


def lineage_of(stage: Stage) -> Lineage:
    """The lineage of a stage that has one."""
    assert stage.lineage is not None
    return stage.lineage


def _same_stages(lowered: Lowered, traced: Artifact) -> bool:
    return [s.name for s in lowered.stages] == [s.name for s in traced.stages]


def _with_callees(function: FunctionSource) -> Iterator[FunctionSource]:
    yield function
    for _, captured in function.captures:
        match captured:
            case FunctionSource():
                yield from _with_callees(captured)
            case CapturedKernel() | CapturedCustom():
                yield from _with_callees(captured.function)


def _files(data: Exploration) -> dict[str, int]:
    named = [s.file for s in data.sources] + [f for s in data.stages for f in lineage_of(s).files]
    return {file: number for number, file in enumerate(dict.fromkeys(named))}


def _shown(kind: str, plumbing: bool) -> bool:
    return kind == OPERATION or (plumbing and kind == PLUMBING)


def _more(lines: list[str], others: list[str]) -> int:
    """How many lines are not among `others`; a new number of a value is no change."""
    counted, taken = (Counter(_VALUE.sub("%", line) for line in text) for text in (lines, others))
    return sum((counted - taken).values())
