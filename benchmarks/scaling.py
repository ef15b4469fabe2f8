"""Strong scaling: ``python benchmarks/scaling.py [--only WORD]``: the same work on 1, 2, 4, ... and all processors.

The workloads of the table, pykern beside Numba and torch, a process for each number of threads. What a line loses
to the ideal is memory that all share, or launches; the limits measured with the same threads say which.

Writes results/scaling.json (JSON lines) and scaling-WORKLOAD.png.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from peers import PEERS
from workloads import SMALL, TABLE

from pykern.benchmarking import figures
from pykern.benchmarking.harness import Suite
from pykern.benchmarking.interleaved import Effort
from pykern.benchmarking.records import Record

CHOSEN = ("saxpy", "heat", "softmax", "matmul")


def plots(found: Sequence[Record], path: str) -> None:
    """How many times as fast as on one thread, for each line of each workload; the copy's bandwidth beside it."""
    for name in dict.fromkeys(r["benchmark"] for r in found):
        rows = [r for r in found if r["benchmark"] == name and not r["allocates"]]
        alone = {r["line"]: r["median_ns"] for r in rows if r["threads"] == 1}
        series: dict[str, list[tuple[float, float]]] = {}
        for r in rows:
            if r["line"] in alone:
                series.setdefault(r["line"], []).append((r["threads"], alone[r["line"]] / r["median_ns"]))
        series = {line: points for line, points in series.items() if len(points) > 1}
        if not series:
            continue
        counts = sorted({r["threads"] for r in rows})
        roofs = {r["threads"]: r["limits"]["gb_per_s"] for r in rows}
        guides = {"ideal": [(n, n) for n in counts], "copy": [(n, roofs[n] / roofs[1]) for n in counts]}
        figures.lines(
            series, f"{path}-{name}.png", "threads", "times as fast as one", f"strong scaling: {rows[0]['benchmark']}",
            guides, logarithmic=False, below=figures.note(rows),
        )  # fmt: skip


PICKED = [peer for peer in PEERS if peer.name in ("numba", "torch", "jax")]
SUITE = Suite(
    "scaling",
    __file__,
    [w for w in TABLE if w.name in CHOSEN],
    PICKED,
    Effort(9, 0.6),
    plots,
    "all",
    __doc__ or "",
)
TRY = Suite("try", __file__, [w for w in SMALL if w.name in CHOSEN], PICKED, Effort(2, 0.1), plots, "all")

if __name__ == "__main__":
    small = "PYKERN_BENCHMARKS_SMALL" in os.environ
    raise SystemExit((TRY if small else SUITE).main())
