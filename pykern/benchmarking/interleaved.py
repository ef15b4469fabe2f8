"""Functions measured alternately, so that a slower moment of the machine hits all of them.

Comes in: functions by name, a clock. Goes out: `Samples` by name. Read next: `clock`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pykern.benchmarking.clock import Clock, HostClock
from pykern.benchmarking.samples import Samples

Function = Callable[[], Any]


def interleaved(
    functions: Mapping[str, Function],
    warmup: int,
    repeat: int,
    clock: Clock | None = None,
    calls: int = 1,
    before: Function | None = None,
) -> dict[str, Samples]:
    """`warmup` calls of each, then `repeat` rounds in which each is called `calls` times in a row.

    `before` runs before each round of each function, outside of its time.
    """
    clock = clock or HostClock()
    for _ in range(warmup):
        for function in functions.values():
            clock.time(function, 1)
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            if before is not None:
                before()
            taken[name].append(clock.time(function, calls))
    return {name: Samples(tuple(seconds)) for name, seconds in taken.items()}


@dataclass(frozen=True)
class Effort:
    """How long the harness measures: at most `repeat` rounds, and those of one function in `budget` seconds.

    A round is as many calls as `at_least` seconds take. Before it the threads of the others must have gone to
    sleep, or `pause` seconds have passed: teams stay awake for a while after their work (20 ms in the harness's
    processes), on processors that the next function needs. Then calls that do not count `wake` its own.
    """

    repeat: int = 11
    budget: float = 1.5
    at_least: float = 0.01
    pause: float = 0.0


def within(
    functions: Mapping[str, Function], effort: Effort, resets: Mapping[str, Function] | None = None
) -> dict[str, Samples]:
    """Functions of any length, alternately, each within its budget; `resets` restore their arrays before each call.

    Each was called before, so that what is compiled is compiled. What takes longer than its budget is called once.
    """
    resets, clock = resets or {}, HostClock()
    taken: dict[str, list[float]] = {name: [] for name in functions}
    counts, spent = {}, {}
    for name, function in functions.items():
        alone = _once(name, function, resets)
        counts[name] = 1 if name in resets else max(1, int(effort.at_least / max(alone, 1e-8)))
        spent[name] = alone if alone > effort.budget else 0.0
        taken[name] += [alone] if alone > effort.budget else []
    for _ in range(effort.repeat):
        for name, function in functions.items():
            if spent[name] > effort.budget:
                continue
            if effort.pause:
                rest(effort.pause)
                if name not in resets:
                    wake(function)
            if name in resets:
                resets[name]()
            seconds = clock.time(function, counts[name])
            taken[name].append(seconds)
            spent[name] += seconds * counts[name]
    return {name: Samples(tuple(seconds)) for name, seconds in taken.items()}


def rest(most: float, slice_: float = 0.004) -> None:
    """Wait until the other threads of this process sleep: two slices without work, or `most` seconds."""
    deadline, quiet = time.perf_counter() + most, 0
    while quiet < 2 and time.perf_counter() < deadline:
        before = time.process_time()
        time.sleep(slice_)
        quiet = quiet + 1 if time.process_time() - before < slice_ / 10 else 0


def wake(function: Function, seconds: float = 0.06) -> None:
    """Call it for a while, once at least: Linux may wake a thread on the processor of the one that woke it, and move
    it away only 20 to 150 ms later (seen on 2 processors; the time of a call doubles). Each call is waited for, or
    those of a library that only begins its work (JAX) would be waited for in the round."""
    clock, deadline = HostClock(), time.perf_counter() + seconds
    clock.time(function, 1)
    while time.perf_counter() < deadline:
        clock.time(function, 1)


def _once(name: str, function: Function, resets: Mapping[str, Function]) -> float:
    """Seconds of one call; of the second one, where two are quick."""
    for _ in range(2):
        if name in resets:
            resets[name]()
        seconds = HostClock().time(function, 1)
        if seconds > 0.05:
            break
    return seconds
