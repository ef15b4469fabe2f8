"""Times of alternatives in one run: warmed, in turn, medians.

Threads are not bound through the environment: with ``OMP_PROC_BIND`` the first OpenMP library binds
the main thread, the teams of the others inherit that one processor, and their two threads share it.
Teams also wait awake after their work (200 ms in pykern's), on a processor that the next alternative
needs: so where there is more than one thread, `pause` seconds pass before each turn.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable


def alternating(
    functions: dict[str, Callable[[], object]],
    repeat: int = 15,
    at_least: float = 0.02,
    pause: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
    summary: Callable[[Iterable[float]], float] = statistics.median,
) -> dict[str, float]:
    """Median seconds of each function, or another `summary`; they take turns, so that a slower moment hits all of them.

    A turn is as many calls as take `at_least` seconds. `time.thread_time` as `clock` is the processor's time, which
    others on the machine change less.
    """
    counts = {}
    for name, function in functions.items():
        function()
        started = time.perf_counter()
        function()
        counts[name] = max(1, int(at_least / max(time.perf_counter() - started, 1e-8)))
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            if pause:
                time.sleep(pause)
                function()  # wakes its own team
            started = clock()
            for _ in range(counts[name]):
                function()
            times[name].append((clock() - started) / counts[name])
    return {name: summary(taken) for name, taken in times.items()}
