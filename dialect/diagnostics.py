"""From MLIR's diagnostics and locations to places in the user's Python."""

from __future__ import annotations

from mlir import ir
from pykern.errors import KernelError
from pykern.locations import SourceSpan


def span_of(location: ir.Location, function: str = "") -> SourceSpan | None:
    """The Python place a location names: the innermost file location, looked for through wrappers."""
    if location.is_a_file():
        if location.start_line <= 0:
            return None
        end = location.end_col - 1 if location.end_line == location.start_line else location.start_col
        return SourceSpan(
            location.filename, location.start_line, location.start_col - 1, max(end, location.start_col), function
        )
    if location.is_a_name():
        return span_of(location.child_loc, function)
    if location.is_a_callsite():
        return span_of(location.callee, function)
    if location.is_a_fused():
        for inner in location.locations:
            if (found := span_of(inner, function)) is not None:
                return found
    return None


def located_error(kind: type[KernelError], what: str, error: ir.MLIRError) -> KernelError:
    """`error` as one of ours: the first diagnostic gives the place, the others become notes."""
    diagnostics = error.error_diagnostics
    if not diagnostics:
        return kind(f"{what}: {error.message}")
    first, *rest = diagnostics
    notes = [(n.message, span_of(n.location)) for n in first.notes]
    notes += [(d.message, span_of(d.location)) for d in rest]
    return kind(f"{what}: {first.message}", span_of(first.location), notes=tuple(notes))
