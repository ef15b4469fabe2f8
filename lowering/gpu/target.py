"""What a GPU-like target gives back, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from pykern.artifact import DeviceCode, Stage


class Record(Protocol):
    """Takes what each stage left."""

    texts: bool

    def __call__(self, stage: Stage) -> None: ...

    def add(self, name: str, text: str, started: float, kind: str = "mlir") -> None: ...


@dataclass(frozen=True)
class KernelBinary:
    """A kernel as its driver takes it: `symbol` is the entry point, `workgroup` has one size a dimension."""

    binary: bytes
    symbol: str
    workgroup: tuple[int, ...]
    device: DeviceCode
    resources: dict[str, object] = field(default_factory=dict)
