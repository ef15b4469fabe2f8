"""What a lowering tells while it goes: the stages it left, and when machine code is about to be made.

`Record` is what a lowering asks for; `Recorder` keeps it for the artifact.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mlir import ir

from pykern.data.artifact import Stage
from pykern.data.costs import Costs

PrintedLine = tuple[str, Sequence[ir.Location]]


class Record(Protocol):
    """Takes what each stage left."""

    texts: bool

    def __call__(self, stage: Stage) -> None: ...

    def add(self, name: str, text: str, started: float, kind: str = "mlir") -> None: ...

    def add_lines(self, name: str, lines: Sequence[PrintedLine], started: float, kind: str) -> None: ...

    def watch(self, module: ir.Module) -> None: ...

    def before_code(self, op: ir.Operation) -> None: ...


@dataclass
class Recorder:
    """Keeps what each stage left: times always, texts on demand."""

    texts: bool
    stages: list[Stage] = field(default_factory=list)
    costs: Costs | None = None

    def __call__(self, stage: Stage) -> None:
        self.stages.append(stage)

    def add(self, name: str, text: str, started: float, kind: str = "mlir") -> None:
        elapsed = (time.perf_counter() - started) * 1e3
        self.stages.append(Stage(name, text if self.texts else "", elapsed, kind))

    def add_lines(self, name: str, lines: Sequence[PrintedLine], started: float, kind: str) -> None:
        """Text whose lines know of which ops they were made."""
        self.add(name, "\n".join(text for text, _ in lines) + "\n" if self.texts else "", started, kind)

    def watch(self, module: ir.Module) -> None:
        """The module whose stages are going to be recorded."""

    def before_code(self, op: ir.Operation) -> None:
        """`op` is the last MLIR; its code is made next."""
