"""PolyBench 4.2 at LARGE beside Numba and NumPy: ``python benchmarks/polybench.py [--only WORD] [--threads 1,2]``.

f64, seventeen benchmarks, PolyBench's LARGE sizes, initial values in its manner. pykern's contenders are a program
(`@pk.jit`: the whole benchmark, time loop included) and the kernels launched one after another from Python; Numba's
are the loops of the C code under ``njit(fastmath=True)``, in the order that suits caches, with ``prange`` where there
are several threads. What is updated in place is restored before every turn, outside of the time.

Writes results/polybench.json (JSON lines), polybench-ratios.png and polybench-roofline.png.
"""

from __future__ import annotations

import os

from polybench_workloads import LARGE, MINI

from pykern.benchmarking import figures
from pykern.benchmarking.harness import Suite
from pykern.benchmarking.interleaved import Effort
from pykern.benchmarking.workload import Peer

PEERS = (
    Peer("numba", "peers.polybench_numba", "numba"),
    Peer("numpy", "peers.polybench_numpy", "numpy"),
)
SUITE = Suite("polybench", __file__, LARGE, PEERS, Effort(7, 0.6), figures.plain, description=__doc__ or "")
TRY = Suite("try", __file__, MINI, PEERS, Effort(2, 0.1), description="small sizes, for tests")

if __name__ == "__main__":
    small = "PYKERN_BENCHMARKS_SMALL" in os.environ
    raise SystemExit((TRY if small else SUITE).main())
