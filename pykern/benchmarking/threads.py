"""One number of threads for every library of a process.

Comes in: a number. Goes out: processors to bind a new process to, and its environment. The process as a whole is
bound, so that each library makes teams of so many threads and none runs on more processors; single threads are not:
with ``OMP_PROC_BIND`` the first OpenMP library binds the main thread, the teams of the others inherit that one
processor, and their threads share it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

COUNTS = (
    "PYKERN_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
UNBOUND = ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY")
AWAKE_MS = "20"
"""How long a team of Intel's OpenMP spins after its work; its default of 200 ms would disturb what runs next."""


def processors() -> list[int]:
    """Those this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def counts(text: str) -> list[int]:
    """``1,2`` or ``all`` (1 and every power of 2 up to all processors). Raises ValueError."""
    most = len(processors())
    if text == "all":
        return sorted({1, most, *(2**k for k in range(1, most.bit_length()) if 2**k <= most)})
    found = [int(part) if re.fullmatch(r"\s*[0-9]{1,9}\s*", part) else 0 for part in text.split(",")]
    if not all(1 <= count <= most for count in found):
        raise ValueError(f"this process may use 1 to {most} threads")
    return found


def environment(threads: int, given: Mapping[str, str]) -> dict[str, str]:
    """`given`, with every library that is known told the number."""
    made = {name: value for name, value in given.items() if name not in UNBOUND}
    made |= dict.fromkeys(COUNTS, str(threads))
    made.setdefault("KMP_BLOCKTIME", AWAKE_MS)
    if threads == 1:
        made["XLA_FLAGS"] = f"{given.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
    return made


def bind(threads: int) -> None:
    """Bind this process, and what it will start, to the first processors it may run on."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, processors()[:threads])
