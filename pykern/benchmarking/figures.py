"""Plots as files, with matplotlib (the extra `bench`).

Comes in: records, a path. Goes out: PNG files. Pages have charts of their own (`charts`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from pykern.benchmarking.records import Record
from pykern.benchmarking.report import origin
from pykern.benchmarking.scoreboard import cells, title

OURS = "#0b57c2"
OTHERS = ("#b45f00", "#0a6b4c", "#a3123f", "#7a2f9e", "#0b6472", "#5f5a00", "#8a93a0", "#37506b", "#d98a8a")


def _axes(width: float = 8.0, height: float = 4.5) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _save(figure: Any, path: str, note: str = "") -> None:
    from matplotlib import pyplot

    if note:
        figure.supxlabel(note, fontsize=6, color="#5b6470", x=0.995, ha="right")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def note(found: Sequence[Record]) -> str:
    """Where and when: the line below a plot."""
    if not found:
        return ""
    return f"{found[0]['device_name']}; pykern {found[0]['versions'].get('pykern', '')}; {origin(found[0])}"


def colours(names: Iterable[str]) -> dict[str, str]:
    """Ours for pykern, another for each peer, the same in every plot of a run."""
    others = iter(OTHERS * 4)
    return {name: OURS if name.startswith("pykern") else next(others) for name in dict.fromkeys(names)}


def ratios(found: Sequence[Record], path: str, heading: str) -> None:
    """Bars: how many times as long the best peer takes, for each workload and number of threads."""
    chosen = {key: cell for key, cell in cells(found, allocates=False).items() if cell.peer}
    if not chosen:
        return
    names = list(dict.fromkeys(name for name, _ in chosen))
    counts = sorted({threads for _, threads in chosen})
    figure, axes = _axes(8.0, 0.9 + 0.32 * len(names) * len(counts) ** 0.5)
    height = 0.8 / len(counts)
    for number, count in enumerate(counts):
        for row, name in enumerate(names):
            cell = chosen.get((name, count))
            if cell is None or cell.peer is None:
                continue
            at = row + (number - (len(counts) - 1) / 2) * height
            colour = OURS if cell.ratio >= 1 else OTHERS[0]
            shade = 1.0 - 0.4 * number / max(1, len(counts) - 1)
            axes.barh(at, cell.ratio - 1.0, height * 0.92, left=1.0, color=colour, alpha=shade)
            text = f" {cell.ratio:.2f} {cell.peer['line']}, {count} thr."
            axes.text(max(cell.ratio, 1.0), at, text, va="center", fontsize=6.5)
    axes.axvline(1.0, color="#1b1f24", linewidth=1)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log", base=2)
    ratios = [cell.ratio for cell in chosen.values()]
    axes.set_xlim(min(*ratios, 0.8) / 1.2, max(*ratios, 1.2) * 2.5)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("time of the best peer / time of pykern")
    axes.set_title(heading, fontsize=10)
    _save(figure, path, note(found))


def roofline(found: Sequence[Record], path: str) -> None:
    """Rates over operations a byte, below the measured limits: pykern full, the best peer hollow."""
    chosen = {
        k: c for k, c in cells(found, allocates=False).items() if c.mine.get("limits") and c.mine.get("flops")
    }
    if not chosen:
        return
    figure, axes = _axes()
    counts = sorted({threads for _, threads in chosen})
    names = list(dict.fromkeys(name for name, _ in chosen))
    shades = {name: f"C{number % 10}" for number, name in enumerate(names)}
    intensities = [c.mine["flops"] / c.mine["bytes"] for c in chosen.values()]
    low, high = min(intensities) / 2, max(intensities) * 4
    styles = ("-", "--", "-.", ":")
    roofs = {
        (threads, c.mine["limits"]["gflop_per_s"]): c.mine["limits"] for (_, threads), c in chosen.items()
    }
    for (threads, peak), limits in roofs.items():
        ridge = peak / limits["gb_per_s"]
        label = f"{threads} thread{'s' * (threads > 1)}: {limits['gb_per_s']:.0f} GB/s, {peak:.0f} GFLOP/s"
        xs = [low, max(ridge, low), max(high, ridge * 2)]
        ys = [min(x * limits["gb_per_s"], peak) for x in xs]
        axes.plot(
            xs, ys, color="#1b1f24", linestyle=styles[counts.index(threads) % 4], linewidth=1, label=label
        )
    for (name, threads), cell in chosen.items():
        marker = "os^Dvp"[counts.index(threads) % 6]
        x = cell.mine["flops"] / cell.mine["bytes"]
        label = name if threads == counts[0] else None
        axes.plot(
            x,
            cell.mine["gflop_per_s"],
            marker,
            color=shades[name],
            markersize=7,
            label=label,
            linestyle="none",
        )
        if cell.peer:
            axes.plot(
                x, cell.peer["gflop_per_s"], marker, color=shades[name], fillstyle="none", linestyle="none"
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations on floats a byte")
    axes.set_ylabel("GFLOP/s")
    axes.set_title("below what this machine was measured to reach; hollow: the best peer", fontsize=9)
    axes.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    _save(figure, path, note(found))


def lines(
    series: dict[str, Sequence[tuple[float, float]]], path: str, x: str, y: str, heading: str = "",
    guides: dict[str, Sequence[tuple[float, float]]] | None = None, logarithmic: bool | str = True, below: str = "",
) -> None:  # fmt: skip
    """Lines over what varies; `guides` are drawn thin, to compare with, and `below` is what `note` gives.

    `logarithmic`: both axes, with "x" that of x alone.
    """
    figure, axes = _axes()
    shades = colours(series)
    ways = itertools.cycle(("o-", "s--", "^-.", "D-"))  # pykern's lines share a colour
    for name, points in series.items():
        width = 2.2 if name.startswith("pykern") else 1.2
        axes.plot(
            *zip(*sorted(points), strict=True),
            next(ways) if name.startswith("pykern") else "o-",
            color=shades[name],
            linewidth=width,
            markersize=3.5,
            label=name,
        )
    for name, points in (guides or {}).items():
        axes.plot(*zip(*sorted(points), strict=True), ":", color="#1b1f24", linewidth=1, label=name)
    if logarithmic:
        axes.set_xscale("log")
        if max(at for points in series.values() for at, _ in points) < 1e5:
            axes.xaxis.set_major_formatter("{x:g}")
    if logarithmic is True:
        axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(heading, fontsize=10)
    axes.legend(fontsize=7)
    _save(figure, path, below)


def plain(found: Sequence[Record], path: str) -> None:
    """The two plots of a table: ratios, and the roofline."""
    ratios(found, f"{path}-ratios.png", "above 1 pykern is faster than the best peer")
    roofline(found, f"{path}-roofline.png")


__all__ = ["lines", "note", "plain", "ratios", "roofline", "title"]
