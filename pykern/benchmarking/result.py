"""What `pk.benchmark` gives: times of each implementation, side by side.

Comes in: `Samples` by name. Goes out: numbers in seconds, speed-ups, and a table for the terminal and for notebooks.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pykern.benchmarking.samples import Samples, duration
from pykern.benchmarking.terminal import Style, bar, table


@dataclass(frozen=True)
class BenchmarkResult:
    """Times of implementations that were measured alternately.

    `lines` has the `Samples` of each by name, in the order given; `result["name"]` is one of them. `min`, `median`,
    `p10` and `p90` are seconds of the first. `clock` says what took the time, `checked` whether results were compared.
    `bytes` and `flops` are what one call moves and computes, where that was told.
    """

    lines: Mapping[str, Samples]
    clock: str = "host"
    checked: bool = False
    warmup: int = 0
    bytes: int = 0
    flops: int = 0

    @property
    def first(self) -> str:
        """The name of the first implementation, which the others are compared with."""
        return next(iter(self.lines))

    @property
    def min(self) -> float:
        return self.lines[self.first].min

    @property
    def median(self) -> float:
        return self.lines[self.first].median

    @property
    def p10(self) -> float:
        return self.lines[self.first].p10

    @property
    def p90(self) -> float:
        return self.lines[self.first].p90

    @property
    def fastest(self) -> str:
        """The name of the implementation with the least median."""
        return min(self.lines, key=lambda name: self.lines[name].median)

    @property
    def speedups(self) -> dict[str, float]:
        """How many times as fast as the first each implementation is, by medians."""
        return {name: self.median / samples.median for name, samples in self.lines.items()}

    def __getitem__(self, name: str) -> Samples:
        return self.lines[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def as_json(self) -> dict[str, object]:
        """Plain data; times in nanoseconds."""
        return {
            "clock": self.clock, "checked": self.checked, "warmup": self.warmup,
            "bytes": self.bytes, "flops": self.flops,
            "lines": {
                name: {
                    "n": len(s), "median_ns": s.median * 1e9, "min_ns": s.min * 1e9,
                    "p10_ns": s.p10 * 1e9, "p90_ns": s.p90 * 1e9, "speedup": self.speedups[name],
                }
                for name, s in self.lines.items()
            },
        }  # fmt: skip

    def __str__(self) -> str:
        return self.text(Style())

    def __repr__(self) -> str:
        """One line, which logs and messages hold; `print` shows the table."""
        told = ", ".join(f"{name} {duration(samples.median)}" for name, samples in self.lines.items())
        return f"<pykern.BenchmarkResult {told}>"

    def text(self, style: Style) -> str:
        """The table, coloured where `style` says so."""
        rows = [self._cells(name) for name in self.lines]
        longest = max(s.median for s in self.lines.values())
        for row, (name, samples) in zip(rows, self.lines.items(), strict=True):
            drawn = bar(samples.median / longest, 16)
            row.append(style.good(drawn) if name == self.fastest else drawn)
        return table([*self._header(), ""], rows) + f"\n{self._told()}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self._header())
        rows = []
        for name in self.lines:
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(name))
            rows.append(f"<tr{' style=font-weight:600' if name == self.fastest else ''}>{cells}</tr>")
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            f"<small>{html.escape(self._told())}</small>"
        )

    def _header(self) -> list[str]:
        rates = ["GB/s"] * bool(self.bytes) + ["GFLOP/s"] * bool(self.flops)
        return [
            "",
            "median",
            "min",
            "p10",
            "p90",
            *rates,
            *([f"x {self.first}"] if len(self.lines) > 1 else []),
        ]

    def _cells(self, name: str) -> list[str]:
        s = self.lines[name]
        cells = [name, *map(duration, (s.median, s.min, s.p10, s.p90))]
        cells += [f"{amount / s.median / 1e9:.3g}" for amount in (self.bytes, self.flops) if amount]
        return [*cells, f"{self.speedups[name]:.2f}"] if len(self.lines) > 1 else cells

    def _told(self) -> str:
        rounds = len(next(iter(self.lines.values())))
        agree = ", results agree" if self.checked else ""
        return (
            f"{rounds} rounds after {self.warmup} calls to warm up, by the clock of the {self.clock}{agree}"
        )
