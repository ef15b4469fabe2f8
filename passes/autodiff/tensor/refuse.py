"""The error for what has no right derivative, at its line."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.errors import NotDifferentiable


def refused(op: ir.Operation, reason: str, hint: str | None = None) -> NotDifferentiable:
    return NotDifferentiable(reason, span_of(op.location), hint)
