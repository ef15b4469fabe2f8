"""The CPU beside its peers: ``python benchmarks/cpu.py [--only WORD] [--threads 1,2] [--quick]``.

One process for each number of threads, bound to as many processors, in which contenders take turns on the same
arrays; medians; every result is checked first. Into given arrays and with results allocated. Copy bandwidth and the
peak rate of floats are measured in the same processes, and each row stands as a share of its limit. saxpy and heat
are strict, the others are `fastmath`: their sums may be reordered, as those of torch are. Missing peers are named.

Writes results/cpu.json (JSON lines), cpu-ratios.png and cpu-roofline.png.
"""

from __future__ import annotations

import datetime
import os
import timeit
from collections.abc import Iterator

import numpy as np
from peers import PEERS
from workloads import SMALL, TABLE, saxpy

from pykern.benchmarking import facts, figures
from pykern.benchmarking.harness import Suite
from pykern.benchmarking.interleaved import Effort
from pykern.benchmarking.workload import Case, Contender, Workload

LAUNCHES = 2000


def _launch(case: Case) -> Iterator[Contender]:
    x, y, z = case["x"], case["y"], np.zeros_like(case["x"])
    names = {"saxpy": saxpy, "x": x, "y": y, "z": z}
    timer = timeit.Timer("saxpy(z, x, y, 2.0, ndrange=64)", globals=names)
    yield Contender("pykern", lambda: timer.timeit(LAUNCHES) and None, (z,))


LAUNCH = Workload(
    "launch", {"arrays": "of 3 arrays"},
    lambda: {"x": np.ones(64, np.float32), "y": np.ones(64, np.float32)}, _launch,
    lambda a: 2 * a["x"] + a["y"], bytes=0, flops=0, calls=LAUNCHES,
)  # fmt: skip
"""A kernel with three arrays of 64 elements, without work to speak of."""


def machine() -> dict[str, str]:
    """Where a run was made, for the benchmarks that are not tables of workloads."""
    commit = facts.commit(os.path.dirname(os.path.abspath(__file__))) or ""
    return {
        "date": datetime.date.today().isoformat(), "cpu": facts.cpu_name(), "cores": str(os.cpu_count()),
        "commit": commit, **facts.versions(),
    }  # fmt: skip


SUITE = Suite(
    "cpu", __file__, (LAUNCH, *TABLE), PEERS, Effort(9, 0.5), figures.plain, description=__doc__ or ""
)
TRY = Suite("try", __file__, (LAUNCH, *SMALL), PEERS, Effort(3, 0.1), description="small sizes, for tests")

if __name__ == "__main__":
    small = "PYKERN_BENCHMARKS_SMALL" in os.environ
    raise SystemExit((TRY if small else SUITE).main())
