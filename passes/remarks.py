"""Remarks: what a pass did, or did not do and why, in a sentence at a line of the user's Python.

Comes in: an op and a sentence, from any pass. Goes out: `Artifact.remarks`, which `PYKERN_LOG=remarks`, `Lowered`
and the explorer show. Outside of a compilation nobody collects them, and `remark` does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from mlir import ir

from pykern.data.artifact import Remark
from pykern.dialect.diagnostics import span_of
from pykern.passes.analysis.cost_model.code_size import MOST_REMARKS

_KEPT: ContextVar[dict[Remark, None] | None] = ContextVar("pykern_remarks", default=None)


def collected() -> AbstractContextManager[dict[Remark, None]]:
    """Keep the remarks that are made inside, each once, in order."""
    return collecting(_KEPT)


@contextmanager
def collecting(place: ContextVar[dict[Remark, None] | None]) -> Iterator[dict[Remark, None]]:
    """Let `place` be a new collection inside."""
    kept: dict[Remark, None] = {}
    token = place.set(kept)
    try:
        yield kept
    finally:
        place.reset(token)


def remark(op: ir.Operation, text: str) -> None:
    """Say something about an op, at the line of Python that it comes from."""
    kept = _KEPT.get()
    if kept is None or len(kept) >= MOST_REMARKS:
        return
    span = span_of(op.location)
    kept[Remark(text) if span is None else Remark(text, span.file, span.line)] = None
