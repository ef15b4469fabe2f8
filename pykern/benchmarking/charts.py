"""Charts as SVG: lines over what varies, and a roofline. Colours are classes of `page.css`.

Comes in: records. Goes out: SVG text, "" where there is nothing to draw. Plots for files are `figures`'.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pykern.benchmarking.records import Record

WIDTH, HEIGHT = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 190, 14, 40
COLOURS = 8


@dataclass(frozen=True)
class Axis:
    """Positions of values on one logarithmic axis, from `start` to `end` in pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        span = math.log(self.high / self.low) or 1.0
        return self.start + (self.end - self.start) * math.log(max(value, self.low) / self.low) / span

    def ticks(self) -> list[float]:
        """Powers of ten; where there are few, twice and five times those too."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = (1,) if last - first > 3 else (1, 2, 5)
        found = [s * 10.0**k for k in range(first, last + 1) for s in steps]
        return [tick for tick in found if self.low <= tick * 1.0001 and tick <= self.high * 1.0001]


@dataclass(frozen=True)
class Series:
    """One line: points of x, y, and the y of its tenths, with what to show when it is pointed at."""

    name: str
    points: Sequence[tuple[float, float, float, float]]


def lines(rows: Sequence[Record]) -> str:
    """Rate, or time, over what varies: one line an implementation and number of threads."""
    x = next((key for row in rows for key, value in row["config"].items() if _is_number(value)), None)
    if x is None:
        return ""
    field, label = _quantity(rows)
    series: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in rows:
        value = row["config"].get(x)
        if not _is_number(value) or value <= 0:
            continue
        name = row["line"] + (f", {row['threads']} threads" if row.get("threads") else "")
        low, high = (_in(field, row, key) for key in ("p90_ns", "p10_ns"))
        series.setdefault(name, []).append((value, _in(field, row, "median_ns"), low, high))
    found = [Series(name, sorted(points)) for name, points in series.items()]
    return _draw(found, x, label) if any(len(s.points) > 1 for s in found) else ""


def roofline(rows: Sequence[Record]) -> str:
    """Rates over operations a byte, below what the machine was measured to reach; the last point of each line."""
    shown = [r for r in rows if r.get("limits") and r.get("bytes") and r.get("flops")]
    if not shown:
        return ""
    best = {(r["benchmark"], r["line"], r.get("threads")): r for r in shown}.values()
    intensities = [r["flops"] / r["bytes"] for r in best]
    rates = [r["gflop_per_s"] for r in best]
    peak = max(r["limits"]["gflop_per_s"] for r in best)
    x = Axis(
        min(*intensities, 0.1) / 2,
        max(*intensities, peak / min(r["limits"]["gb_per_s"] for r in best)) * 4,
        LEFT,
        WIDTH - RIGHT,
    )
    y = Axis(min([*rates, peak]) / 2, peak * 2, HEIGHT - BOTTOM, TOP)
    parts = _frame(x, y, "operations on floats a byte", "GFLOP/s")
    roofs = {(r.get("threads"), r["device"]): r["limits"] for r in best}
    for number, ((threads, _), limits) in enumerate(roofs.items()):
        ridge = limits["gflop_per_s"] / limits["gb_per_s"]
        start = max(x.low, y.low / limits["gb_per_s"])
        points = [
            (start, start * limits["gb_per_s"]),
            (ridge, limits["gflop_per_s"]),
            (x.high, limits["gflop_per_s"]),
        ]
        parts.append(f'<polyline class="roof" points="{_points(x, y, points)}"/>')
        label = f"{limits['gb_per_s']:.0f} GB/s, {limits['gflop_per_s']:.0f} GFLOP/s" + (
            f", {threads} threads" if threads else ""
        )
        parts.append(
            f'<text class="roof-label" x="{x.end - 4:.0f}" y="{y.at(limits["gflop_per_s"]) + _beside(number):.1f}" '
            f'text-anchor="end">{label}</text>'
        )
    names = list(dict.fromkeys(r["benchmark"] for r in best))
    for r in best:
        colour = names.index(r["benchmark"]) % COLOURS
        at = x.at(r["flops"] / r["bytes"]), y.at(r["gflop_per_s"])
        told = html.escape(
            f"{r['benchmark']}, {r['line']}: {r['gflop_per_s']:.3g} GFLOP/s, {r['share_of_limit']:.0%} of the limit"
        )
        size = 5 if r["line"].startswith("pykern") else 3
        parts.append(
            f'<circle class="f{colour}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{size}"><title>{told}</title></circle>'
        )
    return _svg(parts + _legend(names), "roofline")


def _beside(number: int) -> int:
    """Labels of roofs that lie close together: above the line, then below, then further below."""
    return -5 if number == 0 else 3 + 11 * number


def _draw(series: Sequence[Series], x_label: str, y_label: str) -> str:
    points = [point for one in series for point in one.points]
    x = Axis(min(p[0] for p in points), max(p[0] for p in points) or 1, LEFT, WIDTH - RIGHT)
    y = Axis(min(p[2] for p in points) / 1.3, max(p[3] for p in points) * 1.3, HEIGHT - BOTTOM, TOP)
    parts = _frame(x, y, x_label, y_label)
    for number, one in enumerate(series):
        colour = number % COLOURS
        band = [(p[0], p[3]) for p in one.points] + [(p[0], p[2]) for p in reversed(one.points)]
        parts.append(f'<polygon class="spread f{colour}" points="{_points(x, y, band)}"/>')
        parts.append(
            f'<polyline class="line c{colour}" points="{_points(x, y, [p[:2] for p in one.points])}"/>'
        )
        for value, rate, *_ in one.points:
            told = html.escape(f"{one.name}, {x_label}={value:g}: {rate:.4g} {y_label}")
            parts.append(
                f'<circle class="f{colour}" cx="{x.at(value):.1f}" cy="{y.at(rate):.1f}" r="3">'
                f"<title>{told}</title></circle>"
            )
    return _svg(parts + _legend([one.name for one in series]), f"{y_label} over {x_label}")


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> list[str]:
    parts = []
    for tick in x.ticks():
        at = x.at(tick)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{tick:g}</text>')
    for tick in y.ticks():
        at = y.at(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>')
    bottom = HEIGHT - BOTTOM
    parts.append(
        f'<polyline class="axis" fill="none" points="{LEFT},{TOP} {LEFT},{bottom} {WIDTH - RIGHT},{bottom}"/>'
    )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{html.escape(x_label)}</text>'
    )
    parts.append(
        f'<text x="12" y="{TOP + 2}" transform="rotate(-90 12 {TOP + 2})" text-anchor="end">'
        f"{html.escape(y_label)}</text>"
    )
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts, left = [], WIDTH - RIGHT + 14
    for number, name in enumerate(names):
        at = TOP + 8 + 16 * number
        parts.append(f'<rect class="f{number % COLOURS}" x="{left}" y="{at - 8}" width="10" height="10"/>')
        parts.append(f'<text x="{left + 15}" y="{at + 1}">{html.escape(name)}</text>')
    return parts


def _svg(parts: Sequence[str], title: str) -> str:
    head = f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
    return f"{head}<title>{html.escape(title)}</title>{''.join(parts)}</svg>"


def _points(x: Axis, y: Axis, points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)


def _quantity(rows: Sequence[Record]) -> tuple[str, str]:
    """Operations where the limit is computing, else bytes, else time."""
    if all(row.get("gflop_per_s") for row in rows) and any(row.get("bound") == "compute" for row in rows):
        return "flops", "GFLOP/s"
    return ("bytes", "GB/s") if all(row.get("gb_per_s") for row in rows) else ("", "ms")


def _in(field: str, row: Record, key: str) -> float:
    return row[field] / row[key] if field else row[key] / 1e6


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
