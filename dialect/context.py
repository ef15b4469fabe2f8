"""An MLIR context that knows kern, and the checks IRDL cannot state.

Comes in: nothing. Goes out: `new_context()`; `check_kern_ops(module)`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import irdl
from mlir.dialects._ods_common import _cext

from pykern.dialect import kern  # noqa: F401  registers the op classes
from pykern.dialect.base import KernOp, irdl_text
from pykern.dialect.diagnostics import span_of
from pykern.errors import VerifyError

# The prefix, not the decorator, is what lets the bindings find the classes: walking is 14x faster with it.
_cext.globals.append_dialect_search_prefix("pykern.dialect")


def new_context() -> ir.Context:
    """A context with kern loaded; loading twice into one context would abort the process."""
    context = ir.Context()
    context.emit_error_diagnostics = True
    with context, ir.Location.unknown():
        irdl.load_dialects(ir.Module.parse(irdl_text()))
    return context


def kern_ops(root: ir.Operation) -> list[KernOp]:
    """Every kern op under `root`, in order."""
    found: list[KernOp] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("kern."):
            found.append(op.opview)
        return ir.WalkResult.ADVANCE

    root.walk(visit)
    return found


def check_kern_ops(module: ir.Module) -> None:
    """Verify what the op classes demand beyond IRDL. Raises `VerifyError` at the op's place."""
    for op in kern_ops(module.operation):
        if not isinstance(op, KernOp):
            raise VerifyError(f"unknown op `{op.operation.name}`", span_of(op.location))
        op.check()
