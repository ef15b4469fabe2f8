"""From MLIR's diagnostics and locations to places in the user's Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.errors import KernelError


def span_of(location: ir.Location, function: str = "") -> SourceSpan | None:
    """The Python place a location names: the innermost file location, looked for through wrappers."""
    if location.is_a_file():
        if location.start_line <= 0:
            return None
        end = location.end_col - 1 if location.end_line == location.start_line else location.start_col
        return SourceSpan(
            location.filename,
            location.start_line,
            location.start_col - 1,
            max(end, location.start_col),
            function,
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


def calls_of(location: ir.Location) -> list[SourceSpan]:
    """The calls that led to a place, innermost first; nothing for a place that is in no called function."""
    found: list[SourceSpan] = []
    while location.is_a_callsite() or location.is_a_name():
        if location.is_a_name():  # a mark around the location
            location = location.child_loc
            continue
        location = location.caller
        span = span_of(location)
        if span is not None and span not in found[-1:]:
            found.append(span)
    return found


@dataclass(frozen=True)
class Report:
    """One diagnostic of MLIR: severity is "error", "warning", "note" or "remark"."""

    severity: str
    message: str
    span: SourceSpan | None


@contextmanager
def collected(context: ir.Context) -> Iterator[list[Report]]:
    """Collect the diagnostics that are emitted inside, instead of printing them."""
    reports: list[Report] = []

    def take(diagnostic: ir.Diagnostic) -> bool:
        severity = str(diagnostic.severity).rsplit(".", 1)[-1].lower()
        reports.append(Report(severity, diagnostic.message, span_of(diagnostic.location)))
        reports.extend(Report("note", n.message, span_of(n.location)) for n in diagnostic.notes)
        return True

    handler = context.attach_diagnostic_handler(take)
    try:
        yield reports
    finally:
        handler.detach()


def located_error(
    kind: type[KernelError], what: str, reports: list[Report], otherwise: str = ""
) -> KernelError:
    """An error of ours: the first error reported gives the place, what follows becomes notes."""
    errors = [r for r in reports if r.severity == "error"]
    if not errors:
        return kind(f"{what}: {otherwise}" if otherwise else what)
    rest = reports[reports.index(errors[0]) + 1 :]
    notes = tuple((r.message, r.span) for r in rest if r.severity in ("error", "note"))
    return kind(f"{what}: {errors[0].message}", errors[0].span, notes=notes)
