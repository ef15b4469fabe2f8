"""What the explorer shows, as plain data: Python sources, stages with lineage, times, resources, remarks.

Comes in: a `Lowered` and the same compilation with lineage; or an error and the stages before it. Goes out:
`Exploration`, which answers `lit`: which lines light up. The page computes the same from the same data.
Read next: `comparison` (several in one page), `packing` (as JSON), `summary` (in sentences).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pykern.api.lowered import Lowered
from pykern.data.artifact import Artifact, Remark, Stage, no_stage
from pykern.data.costs import Costs
from pykern.data.lineage import OPERATION, OTHER, PLUMBING, Lineage, lines_of_place, relatives
from pykern.data.program_source import ProgramSource
from pykern.data.source import KernelSource
from pykern.errors import KernelError
from pykern.explorer.remarks import remarks
from pykern.explorer.roof import Roof, Run
from pykern.explorer.sources import SourceText, signature, texts, title

FAILED = "failed"
"""The kind of a last stage that was not reached: its text is the error."""


@dataclass(frozen=True)
class Pin:
    """A line that was picked: of a stage, or of the Python file `file` where `stage` is -1."""

    stage: int
    line: int
    file: str = ""


@dataclass(frozen=True)
class Exploration:
    """A kernel to look into; `stages` all have a lineage. `error` is there where it did not compile."""

    kernel: str
    title: str
    """``heat``, or ``gradient of heat``."""
    target: str
    signature: str
    sources: tuple[SourceText, ...]
    stages: tuple[Stage, ...]
    resources: dict[str, object] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    costs: Costs | None = None
    facts: dict[str, object] = field(default_factory=dict)
    """What decides the code: options, group, lengths of the launch, versions, the key in the cache."""
    error: str = ""
    roof: Roof | None = None
    runs: tuple[Run, ...] = ()

    def __repr__(self) -> str:
        failed = ", which did not compile" if self.error else ""
        return f"<pykern.Exploration {self.kernel} for {self.target}, {len(self.stages)} stages{failed}>"

    def number(self, name: str | int) -> int:
        """The number of a stage, by number, by name, or by a part of the name. Raises `KeyError`."""
        names = [s.name for s in self.stages]
        if isinstance(name, int) or re.fullmatch(r"-?[0-9]{1,9}", name):
            if not -len(names) <= int(name) < len(names):
                raise KeyError(f"no stage {name}; there are {len(names)}")
            return int(name) % len(names)
        exact = [n for n, given in enumerate(names) if given == name]
        found = exact[-1:] or [n for n, given in enumerate(names) if name and name in given]
        if not found:
            raise KeyError(no_stage(name, names))
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
        return difference(before, after)

    def changed(self, number: int) -> bool:
        """True where a stage is not the text of the one before."""
        return number == 0 or self.stages[number].text != self.stages[number - 1].text

    @property
    def reached(self) -> Stage:
        """The last stage that there is: machine code, or what stands before an error."""
        return [s for s in self.stages if s.kind != FAILED][-1]


def difference(before: Stage, after: Stage) -> Iterator[str]:
    """Lines of a unified diff."""
    rows = before.text.splitlines(), after.text.splitlines()
    return difflib.unified_diff(*rows, before.name, after.name, lineterm="")


def exploration(lowered: Lowered, traced: Artifact, said: tuple[Remark, ...] = ()) -> Exploration:
    """What there is to see of a compilation; `said` are remarks from elsewhere.

    Times are those of `lowered`, which was not followed.
    """
    same = [s.name for s in lowered.stages] == [s.name for s in traced.stages]
    times = {n: s.ms for n, s in enumerate(lowered.stages)} if same else {}
    stages = tuple(
        replace(s, ms=times.get(n, s.ms)) for n, s in enumerate(traced.stages) if s.lineage is not None
    )
    return Exploration(
        traced.kernel,
        title(lowered.source),
        traced.target,
        signature(lowered.source),
        texts(lowered.source),
        stages,
        {k: v for k, v in traced.resources.items() if isinstance(v, int | float | str)},
        in_order((*said, *traced.remarks, *remarks(stages, traced.costs))),
        traced.costs,
        {"workgroup": traced.workgroup or None} if traced.workgroup else {},
    )


def failed(
    source: KernelSource | ProgramSource, stages: Sequence[Stage], during: str, error: KernelError
) -> Exploration:
    """What there is to see of a compilation that failed: the stages it reached, and the error as the last.

    `during` is the pass that failed, "" where nobody knows.
    """
    text = str(error)
    name = during or f"{type(error).__name__} [{error.code}]"
    count = len(text.splitlines())
    nothing = Lineage((), OTHER * count, ((),) * count, (None,) * count)
    span = error.span
    said = Remark(error.reason) if span is None else Remark(error.reason, span.file, span.line)
    return Exploration(
        source.function.name,
        title(source),
        str(source.target),
        signature(source),
        texts(source),
        (*stages, Stage(name, text, 0.0, FAILED, nothing)),
        remarks=in_order((said, *remarks(stages))),
        error=text,
    )


def in_order(said: Sequence[Remark]) -> tuple[Remark, ...]:
    """Remarks in the order of lines, each once."""
    return tuple(sorted(dict.fromkeys(said), key=lambda r: (r.file, r.line, r.text)))


def lineage_of(stage: Stage) -> Lineage:
    """The lineage of a stage that has one."""
    assert stage.lineage is not None
    return stage.lineage


def _shown(kind: str, plumbing: bool) -> bool:
    return kind == OPERATION or (plumbing and kind == PLUMBING)
