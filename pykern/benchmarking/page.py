"""A run as one HTML page: lines, a roofline, a table, in the skin of the explorer.

Comes in: records, lines that are missing. Goes out: HTML that asks for nothing but itself, without scripts.
Everything that is the user's is escaped. Read next: `charts`.
"""

from __future__ import annotations

import html
import string
from collections.abc import Sequence
from importlib import resources

from pykern.benchmarking import charts, report
from pykern.benchmarking.records import Record
from pykern.benchmarking.samples import duration

_COLUMNS = {
    "median": "median_ns", "min": "min_ns", "p10": "p10_ns", "p90": "p90_ns",
    "GB/s": "gb_per_s", "GFLOP/s": "gflop_per_s", "of limit": "share_of_limit",
    "compile, cold": "compile_ms_cold", "warm": "compile_ms_warm",
}  # fmt: skip


def page(found: Sequence[Record], missing: report.Missing = ()) -> str:
    """The page as text."""
    sections = [_benchmark(name, rows) for name, rows in report.grouped(found)]
    roofline = charts.roofline(found)
    if roofline:
        sections.append(f"<section><h2>roofline</h2>{roofline}</section>")
    absent = "".join(f"<li>{_text(f'{line}: {why} ({name})')}</li>" for name, line, why in missing)
    return string.Template(_part("pykern.benchmarking", "page.html")).substitute(
        title=_text(", ".join(name for name, _ in report.grouped(found)) or "nothing was measured"),
        style=_part("pykern.explorer", "web/page.css") + _part("pykern.benchmarking", "page.css"),
        machine="<br>".join(map(_text, report.machine(found).splitlines())) if found else "",
        date=_text(found[0]["date"]) if found else "",
        missing=f"<ul>{absent}</ul>" if absent else "",
        sections="".join(sections),
    )


def _benchmark(name: str, rows: Sequence[Record]) -> str:
    chart = charts.lines(rows)
    varied = list(dict.fromkeys(key for row in rows for key in row["config"]))
    shown = {
        label: field for label, field in _COLUMNS.items() if any(row.get(field) is not None for row in rows)
    }
    header = "".join(f"<th>{_text(cell)}</th>" for cell in ("line", *varied, "threads", *shown))
    body = "".join(f"<tr>{_row(row, varied, shown)}</tr>" for row in rows)
    return (
        f"<section><h2>{_text(name)}</h2>{chart}"
        f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></section>"
    )


def _row(row: Record, varied: Sequence[str], shown: dict[str, str]) -> str:
    cells = [row["line"], *(row["config"].get(key, "") for key in varied), row.get("threads") or ""]
    cells += [_cell(field, row.get(field)) for field in shown.values()]
    return "".join(f"<td>{_text(cell)}</td>" for cell in cells)


def _cell(field: str, value: object) -> str:
    if not isinstance(value, int | float):
        return ""
    if field.endswith("_ns"):
        return duration(value / 1e9)
    if field == "share_of_limit":
        return f"{value:.0%}"
    return f"{value:.1f} ms" if field.startswith("compile") else f"{value:.3g}"


def _text(value: object) -> str:
    return html.escape(str(value))


def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
