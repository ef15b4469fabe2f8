"""What a lowering tells while it goes: the stages it left, and when machine code is about to be made."""

from __future__ import annotations

from typing import Protocol

from mlir import ir

from pykern.data.artifact import Stage


class Record(Protocol):
    """Takes what each stage left."""

    texts: bool

    def __call__(self, stage: Stage) -> None: ...

    def add(self, name: str, text: str, started: float, kind: str = "mlir") -> None: ...

    def watch(self, module: ir.Module) -> None: ...

    def before_code(self, op: ir.Operation) -> None: ...
