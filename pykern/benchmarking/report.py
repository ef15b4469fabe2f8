"""Records for people: tables with bars, one a benchmark.

Comes in: records, lines that could not be measured. Goes out: text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pykern.benchmarking.records import Record
from pykern.benchmarking.samples import duration
from pykern.benchmarking.terminal import Style, bar, table

Missing = Sequence[tuple[str, str, str]]
"""Benchmark, line, reason."""


def text(found: Sequence[Record], missing: Missing, style: Style) -> str:
    """A table for each benchmark, then what is missing and what was measured of the machine."""
    parts = [_benchmark(name, rows, style) for name, rows in grouped(found)]
    parts += (
        ["not run:\n" + "\n".join(f"  {line}: {reason} ({benchmark})" for benchmark, line, reason in missing)]
        if missing
        else []
    )
    return "\n\n".join([*parts, machine(found)]) if found else "nothing was measured"


def grouped(found: Iterable[Record]) -> list[tuple[str, list[Record]]]:
    """Records by benchmark, in order."""
    groups: dict[str, list[Record]] = {}
    for record in found:
        groups.setdefault(record["benchmark"], []).append(record)
    return list(groups.items())


def machine(found: Sequence[Record]) -> str:
    """The device, its limits for each number of threads and type of float, versions, and when it was."""
    lines: dict[str, None] = {}
    limited = {(r["device"], r.get("threads")) for r in found if r.get("limits")}
    for record in found:
        limits, threads = record.get("limits"), record.get("threads")
        if not limits and (record["device"], threads) in limited:
            continue
        told = f"{record['device']}: {record['device_name']}" + (f", {counted(threads)}" if threads else "")
        if limits:
            told += (
                f"; copy {limits['gb_per_s']:.1f} GB/s, peak {limits['gflop_per_s']:.0f} GFLOP/s (measured)"
            )
        lines[told] = None
    if found:
        lines[", ".join(f"{name} {version}" for name, version in found[0]["versions"].items())] = None
        lines[origin(found[0])] = None
    return "\n".join(lines)


def counted(threads: int) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{threads} thread{'s' * (threads > 1)}"


def origin(record: Record) -> str:
    """When a run began and from which sources: ``2026-11-21 19:05 UTC, commit 72d4f21c9, load average 0.4``."""
    parts = [record["date"][:16].replace("T", " ") + " UTC"]
    if record.get("commit"):
        parts.append(f"commit {record['commit'][:9]}")
    if record.get("load") is not None:
        parts.append(f"load average {record['load']:.1f} when it began")
    return ", ".join(parts)


def _benchmark(name: str, rows: Sequence[Record], style: Style) -> str:
    rated = [("GB/s", "gb_per_s"), ("GFLOP/s", "gflop_per_s")]
    rated = [(label, field) for label, field in rated if any(field in row for row in rows)]
    varied = list(dict.fromkeys(key for row in rows for key in row["config"]))
    threaded = any(row.get("threads") for row in rows)
    header = [*varied, *(["threads"] if threaded else []), "line", "median", "p10", "p90"]
    header += [label for label, _ in rated] + ["of limit", ""]
    cells = []
    for group in _points(rows):
        quickest = min(row["median_ns"] for row in group)
        longest = max(row["median_ns"] for row in group)
        for row in group:
            line = [str(row["config"].get(key, "")) for key in varied]
            line += [str(row.get("threads") or "")] if threaded else []
            line += [row["line"], *(duration(row[k] / 1e9) for k in ("median_ns", "p10_ns", "p90_ns"))]
            line += [f"{row[field]:.3g}" if field in row else "" for _, field in rated]
            line.append(f"{row['share_of_limit']:.0%}" if row.get("share_of_limit") else "")
            drawn = bar(row["median_ns"] / longest, 20)
            line.append(style.good(drawn) if row["median_ns"] == quickest else style.dim(drawn))
            cells.append(line)
    return f"{style.strong(name)}\n{table(header, cells)}"


def _points(rows: Sequence[Record]) -> list[list[Record]]:
    """Records of one value and number of threads together."""
    groups: dict[str, list[Record]] = {}
    for row in rows:
        groups.setdefault(f"{row['config']} {row.get('threads')} {row['device']}", []).append(row)
    return list(groups.values())
