"""The harness's tables: pykern beside the best peer of each cell, then everybody.

Comes in: records, missing peers. Goes out: text. Where results are written into given arrays, a peer that can only
allocate may still be the best: its name then says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from pykern.benchmarking.records import Record
from pykern.benchmarking.report import Missing, counted, machine
from pykern.benchmarking.samples import duration
from pykern.benchmarking.terminal import Style, table

OURS = "pykern"
EXPLAINED = """\
ratio: the best peer's median time over pykern's; above 1 pykern is faster. of limit: the least time that the measured
copy bandwidth and peak rate of this machine allow, over the median (above 100%: the data stayed in a cache).
first call: what it took beyond the median, so mostly compiling. *: allocates its results."""


@dataclass(frozen=True)
class Cell:
    """One workload at one number of threads: pykern's best contender and the best of the others."""

    mine: Record
    peer: Record | None

    @property
    def ratio(self) -> float:
        """How many times as long the best peer takes: above 1 pykern is faster."""
        return self.peer["median_ns"] / self.mine["median_ns"] if self.peer else float("nan")


def title(record: Record) -> str:
    """``saxpy 2^24``."""
    return " ".join([record["benchmark"], *map(str, record["config"].values())])


def cells(found: Iterable[Record], allocates: bool) -> dict[tuple[str, int], Cell]:
    """A cell for each workload and number of threads, among those who allocate or among all for given arrays."""
    groups: dict[tuple[str, int], list[Record]] = {}
    for record in found:
        groups.setdefault((title(record), record["threads"]), []).append(record)
    made = {}
    for key, rows in groups.items():
        mine = [r for r in rows if r["line"].startswith(OURS) and bool(r["allocates"]) is allocates]
        peers = [r for r in rows if not r["line"].startswith(OURS) and (r["allocates"] or not allocates)]
        if mine:
            made[key] = Cell(_best(mine), _best(peers) if peers else None)
    return made


def _best(rows: Sequence[Record]) -> Record:
    return min(rows, key=lambda r: r["median_ns"])


def scoreboard(found: Sequence[Record], missing: Missing, style: Style) -> str:
    """All tables."""
    if not found:
        return "nothing was measured"
    parts = [_everybody(found)]
    for allocates, heading in ((False, "into given arrays"), (True, "results allocated by every call")):
        chosen = cells(found, allocates)
        if chosen:
            parts.append(f"{style.strong(heading)}\n{_summary(chosen, allocates, style)}")
    parts += [_means(found), EXPLAINED]
    absent: dict[tuple[str, str], list[str]] = {}
    for name, peer, why in missing:
        absent.setdefault((peer, why), []).append(name)
    parts += (
        [
            "not run:\n"
            + "\n".join(f"  {peer}: {why}" + _where(names, found) for (peer, why), names in absent.items())
        ]
        if absent
        else []
    )
    return "\n\n".join([*filter(None, parts), machine(found)])


def _where(names: Sequence[str], found: Sequence[Record]) -> str:
    everywhere = {title(record) for record in found} <= set(names)
    return "" if everywhere else f" ({', '.join(dict.fromkeys(names))})"


def _summary(chosen: dict[tuple[str, int], Cell], allocates: bool, style: Style) -> str:
    counts = sorted({threads for _, threads in chosen})
    header = ["", *(cell for n in counts for cell in (f"pykern, {n}", "of limit", "best peer", "", "ratio"))]
    rows = []
    for name in dict.fromkeys(name for name, _ in chosen):
        row = [name]
        for count in counts:
            row += _cell(chosen.get((name, count)), allocates, style)
        rows.append(row)
    return table(header, rows)


def _means(found: Sequence[Record]) -> str:
    """How many times as long each peer takes, over the workloads it has; pykern's best contender stands against it."""
    ours = {(key, kept): cell.mine for kept in (False, True) for key, cell in cells(found, kept).items()}
    ratios: dict[str, dict[int, list[float]]] = {}
    for record in found:
        mine = ours.get(((title(record), record["threads"]), bool(record["allocates"])))
        if mine and not record["line"].startswith(OURS):
            name = record["line"] + ("*" if record["allocates"] else "")
            by_threads = ratios.setdefault(name, {})
            by_threads.setdefault(record["threads"], []).append(record["median_ns"] / mine["median_ns"])
    if not ratios:
        return ""
    counts = sorted({count for by_threads in ratios.values() for count in by_threads})
    header = ["geometric mean of the peer's time over pykern's", *map(counted, counts), "workloads"]
    rows = []
    for name, by_threads in sorted(ratios.items()):
        means = [f"{geometric_mean(by_threads[n]):.2f}" if n in by_threads else "" for n in counts]
        rows.append([name, *means, str(max(map(len, by_threads.values())))])
    return table(header, rows)


def _cell(cell: Cell | None, allocates: bool, style: Style) -> list[str]:
    if cell is None:
        return [""] * 5
    share = f"{cell.mine['share_of_limit']:.0%}" if cell.mine.get("share_of_limit") else ""
    mine = [duration(cell.mine["median_ns"] / 1e9), share]
    if cell.peer is None:
        return [*mine, "", "", ""]
    name = cell.peer["line"] + ("*" if cell.peer["allocates"] and not allocates else "")
    ratio = f"{cell.ratio:.2f}"
    told = style.good(ratio) if cell.ratio >= 1 else style.bad(ratio)
    return [*mine, duration(cell.peer["median_ns"] / 1e9), name, told]


def _everybody(found: Sequence[Record]) -> str:
    """Every contender's median; ``*`` marks those that allocate."""
    counts = sorted({record["threads"] for record in found})
    rows: dict[tuple[str, str], dict[int, Record]] = {}
    for record in found:
        name = record["line"] + ("*" if record["allocates"] else "")
        rows.setdefault((title(record), name), {})[record["threads"]] = record
    header = [
        "",
        "",
        *(cell for n in counts for cell in (f"median, {counted(n)}", "p10", "p90", "turns", "of limit")),
    ]
    header.append("first call")
    lines, last = [], ""
    for (name, line), by_threads in rows.items():
        cells = [name if name != last else "", line]
        last = name
        for count in counts:
            r = by_threads.get(count)
            cells += _spread(r) if r else [""] * 5
        first = next(iter(by_threads.values())).get("compile_ms_cold")
        lines.append([*cells, duration(first / 1e3) if first else ""])
    return table(header, lines)


def _spread(r: Record) -> list[str]:
    spread = [duration(r[key] / 1e9) for key in ("median_ns", "p10_ns", "p90_ns")]
    return [*spread, str(r["n"]), f"{r['share_of_limit']:.0%}" if r.get("share_of_limit") else ""]
