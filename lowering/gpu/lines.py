"""Lines of Python in assembly: ``.loc`` directives, by which the emulator names the place of an instruction.

Comes in: a module in the llvm dialect and that of a GPU. Goes out: the same with debug information that holds
directives alone, and nothing that runs. Read next: `pykern.runtime.emulator.parse`, which reads those in PTX.
"""

from __future__ import annotations

from mlir import ir
from mlir.passmanager import PassManager

from pykern.dialect.diagnostics import span_of

DIRECTIVES = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"


def annotate_lines(module: ir.Module) -> None:
    """Each op knows one place: the pass takes files and lines, and no calls that led there."""
    module.operation.walk(_simplify)
    PassManager.parse(f"builtin.module({DIRECTIVES})").run(module.operation)


def _simplify(op: ir.Operation) -> ir.WalkResult:
    operation = op.operation
    span = span_of(operation.location)
    if span is not None:
        operation.location = ir.Location.file(span.file, span.line, span.column + 1, operation.context)
    return ir.WalkResult.ADVANCE
