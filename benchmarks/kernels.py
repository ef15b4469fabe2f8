"""Kernels people port, beside Numba: ``python benchmarks/kernels.py [--only WORD] [--threads 1,2]``.

Images in floats and bytes, `while` loops of any length, random numbers, particles, small matrices of a work-item's own,
sparse rows. Numba's are the same loops under `njit`, `prange` outside where there are several threads, with fastmath
where pykern's kernel has it. Results are checked against NumPy.

Writes results/kernels.json (JSON lines), kernels-ratios.png and kernels-roofline.png.
"""

from __future__ import annotations

import os

from kernels_workloads import LARGE, SMALL

from pykern.benchmarking import figures
from pykern.benchmarking.harness import Suite
from pykern.benchmarking.interleaved import Effort
from pykern.benchmarking.workload import Peer

PEERS = (Peer("numba", "peers.kernels_numba", "numba"),)
SUITE = Suite("kernels", __file__, LARGE, PEERS, Effort(7, 0.4), figures.plain, description=__doc__ or "")
TRY = Suite("try", __file__, SMALL, PEERS, Effort(2, 0.1), description="small sizes, for tests")

if __name__ == "__main__":
    small = "PYKERN_BENCHMARKS_SMALL" in os.environ
    raise SystemExit((TRY if small else SUITE).main())
