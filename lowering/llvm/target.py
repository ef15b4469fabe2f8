"""The CPU target: a kern module to a shared object.

Comes in: a module on the kern stage. Goes out: `CpuCode`. Read next: `pipeline`, `codegen`, `entry`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from mlir import ir
from pykern.artifact import ArgumentUse, Stage
from pykern.lowering.llvm.arguments import FlattenArguments
from pykern.lowering.llvm.atomics import LowerAtomics
from pykern.lowering.llvm.codegen import generate, translate
from pykern.lowering.llvm.pipeline import cpu_pipeline
from pykern.lowering.llvm.reports import LowerReports
from pykern.passes import kernels
from pykern.passes.registry import register
from pykern.source import KernelSource

register(FlattenArguments, LowerAtomics, LowerReports)


class Record(Protocol):
    """Takes what each stage left."""

    texts: bool

    def __call__(self, stage: Stage) -> None: ...

    def add(self, name: str, text: str, started: float, kind: str = "mlir") -> None: ...


@dataclass(frozen=True)
class CpuCode:
    """A shared object, the group size it was made for (() without groups), and what it takes."""

    binary: bytes
    workgroup: tuple[int, ...]
    resources: dict[str, object]


def lower(
    module: ir.Module, source: KernelSource, uses: tuple[ArgumentUse, ...], reports: bool, record: Record
) -> CpuCode:
    """Lower, generate, link. `reports` tells that the kernel has sites and so no fast entry."""
    kernel = next(kernels.kernels(module))
    cpu_pipeline(source.options).run(module, record, texts=record.texts)
    kernel = module.body.operations[0].operation
    workgroup = kernels.integers(kernel, "kern.workgroup") or ()
    started = time.perf_counter()
    text = translate(module)
    record.add("llvm-translate", text, started, "llvm")
    code = generate(text, texts=record.texts)
    return CpuCode(code.object, workgroup, {})
