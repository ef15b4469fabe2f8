"""The search of the tuner: configuration after configuration is compiled, checked and timed; the fastest is kept.

Comes in: `Choices`, which are those of a program's contractions (`programs`) or of a kernel's workgroup (`groups`).
Goes out: `Tuned`, and a file (`pykern.obtain.schedules`) that later compilations look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pykern.compiler.progress import write_stderr
from pykern.environment.settings import settings
from pykern.errors import KernelError
from pykern.obtain.schedules import GAIN, Tunable, path_of, remember, timings
from pykern.tuning.progress import TuningProgress

ROUNDS = 3
"""Timings of a configuration at least; the least counts."""
ENOUGH = 0.03
"""Seconds of timing from which more calls tell little."""


@dataclass(frozen=True)
class Tuned:
    """What tuning found. Times are seconds a call."""

    schedules: tuple[str, ...]
    """Of a program's contractions, in order, or the workgroup of a kernel; () where the cost model's are the best."""
    seconds: float
    before: float
    """With the cost model's schedules."""
    tried: int
    """Configurations timed in this run; others were known."""
    timings: dict[str, float]
    path: str
    """The file that keeps them; empty where nothing is kept."""
    interrupted: bool = False

    def __repr__(self) -> str:
        return f"<pykern.Tuned {self}>"

    def __str__(self) -> str:
        what = "; ".join(self.schedules) or "the cost model's schedules"
        return f"{what}: {self.seconds * 1e3:.3g} ms a call, {self.before * 1e3:.3g} ms before"


class Choices(Protocol):
    """What can be chosen for one program or kernel, called with one kind of arguments."""

    @property
    def source(self) -> Tunable:
        """What is compiled."""
        ...

    @property
    def device(self) -> str:
        """What timings belong to; "" is this processor."""
        ...

    def parts(self) -> list[list[str]]:
        """Of each part of a configuration, the values to try instead of the cost model's, the likeliest first."""
        ...

    def made(self, configuration: str) -> Any:
        """What runs by a configuration; None where it does not fit. Raises what the compiler raises."""
        ...

    def results(self, made: Any) -> list[np.ndarray]:
        """What it computes, from arguments as they were given."""
        ...

    def repeated(self, made: Any) -> Callable[[], object]:
        """One call of it, to be timed."""
        ...


class Search:
    """One run of the tuner: part after part, each time from the best so far."""

    def __init__(self, choices: Choices, seconds: float) -> None:
        self.choices, self.seconds = choices, seconds
        self.known = timings(choices.source, choices.device)
        self.tried = 0

    def run(self) -> Tuned:
        choices = self.choices
        first = choices.made("")
        self.expected = choices.results(first)
        self.known[""] = self._time(first)  # always anew: the others are compared with it
        self.best, self.least = "", self.known[""]
        self.deadline = time.monotonic() + self.seconds
        interrupted = False
        parts = choices.parts()
        if parts:
            try:
                self._search(parts)
            except KeyboardInterrupt:
                interrupted = True
            self._confirm(first)
        kept = remember(choices.source, self.known, choices.device)
        schedules = tuple(self.best.split(";")) if self.best else ()
        path = path_of(choices.source, choices.device) if kept else ""
        if interrupted and not settings().quiet:
            write_stderr(f"pykern: tuning ended; the best so far is kept{f' in {path}' if path else ''}\n")
        before = self.known[""]  # of the rounds that decided, where there were any
        return Tuned(schedules, self.least, before, self.tried, dict(self.known), path, interrupted)

    def _search(self, parts: list[list[str]]) -> None:
        todo = [(n, each) for n, part in enumerate(parts) for each in part]
        chosen = [""] * len(parts)
        with TuningProgress(self.choices.source.function.name, len(todo), self.deadline) as progress:
            for done, (number, each) in enumerate(todo, 1):
                if time.monotonic() > self.deadline:
                    return
                configuration = [*chosen[:number], each, *chosen[number + 1 :]]
                found = self._try(";".join(configuration))
                if found < self.least * GAIN:
                    self.least, self.best = found, ";".join(configuration)
                    chosen = configuration
                progress.step(done, self.best, self.least)

    def _try(self, name: str) -> float:
        """Seconds of a configuration; infinity where it cannot be, or gives other results."""
        if name in self.known:
            return self.known[name]
        try:
            made = self.choices.made(name)
        except KernelError:
            return float("inf")
        if made is None or not agree(self.choices.results(made), self.expected):
            return float("inf")
        self.tried += 1
        self.known[name] = self._time(made)
        remember(self.choices.source, {name: self.known[name]}, self.choices.device)
        return self.known[name]

    def _confirm(self, first: Any) -> None:
        """The best and the cost model's once more, alternately; what is not faster then is not kept."""
        if not self.best:
            return
        second = self.choices.made(self.best)
        times = {"": float("inf"), self.best: float("inf")}
        for _ in range(ROUNDS):
            for name, made in (("", first), (self.best, second)):
                times[name] = min(times[name], self._time(made))
        self.known.update(times)
        if times[self.best] > times[""] * GAIN:
            self.known[self.best] = max(times[self.best], times[""] * (1 + 1e-9))
            self.best = ""
        self.least = times[self.best]

    def _time(self, made: Any) -> float:
        """The least of several calls."""
        call = self.choices.repeated(made)
        call()
        least, spent, calls = float("inf"), 0.0, 0
        while calls < ROUNDS or (spent < ENOUGH and calls < 1000):
            started = time.perf_counter()
            call()
            taken = time.perf_counter() - started
            least, spent, calls = min(least, taken), spent + taken, calls + 1
            if spent > 1.0:
                break
        return least


def agree(found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Whether results are what the cost model's schedules gave, up to the order of sums."""
    for one, other in zip(found, expected, strict=True):
        if other.dtype.kind not in "fc" and other.dtype.name != "bfloat16":
            if not np.array_equal(one, other):
                return False
            continue
        a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
        digits = 2.0 ** -(7 if other.dtype.itemsize == 2 else 23 if other.dtype.itemsize == 4 else 52)
        scale = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
        if not np.allclose(a, b, rtol=0, atol=1e3 * digits * scale, equal_nan=True):
            return False
    return True
