"""`pk.tune`: other schedules of a program's contractions are timed, and the best is kept for later calls.

Comes in: an array program and arguments. Goes out: `Tuned`, and a file (`store`) that later compilations of the
same program for the same kind of call on this machine look at. Read next: `schedule`, `candidates`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pykern.api.jit import Program
from pykern.compiler.progress import tell
from pykern.data.program_source import ProgramSource
from pykern.data.schedule import SCHEDULES
from pykern.data.synthetic_frame import at_users_line
from pykern.environment.settings import settings
from pykern.errors import KernelError, KernelTypeError
from pykern.obtain.code import loaded
from pykern.obtain.schedules import path_of, remember, timings
from pykern.program.arguments import describe
from pykern.program.plan import Plan
from pykern.tuning.candidates import candidates
from pykern.tuning.progress import TuningProgress

TURNS = 3
"""Timings of a configuration at least; the least counts."""
ENOUGH = 0.03
"""Seconds of timing from which more turns tell little."""
GAIN = 0.98
"""What the best has to take at most of the cost model's time: less is noise."""


@dataclass(frozen=True)
class Tuned:
    """What tuning found. Times are seconds a call."""

    schedules: tuple[str, ...]
    """Of the program's contractions, in order; () where the cost model's are the best."""
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


@at_users_line
def tune(program: Any, *args: Any, seconds: float = 10.0, **keywords: Any) -> Tuned:
    """Time other schedules of a `@pk.jit` program's contractions on these arguments, and keep the best.

    About `seconds` seconds, behind the compilation that every call needs. Each configuration is compiled, its
    results are compared with those of the cost model's schedules, and the least of several timings counts.
    Timings are stored as they come, so that Ctrl-C (which ends tuning and keeps the best so far) loses
    nothing, and another call goes on where this one ended. Later calls of the program with arguments of this
    kind, also in other processes on this machine, use the best.

    Raises `KernelTypeError` for what is no program, and what the program raises. A program without contractions has
    nothing to tune: the result says so by `tried == 0`.
    """
    if not isinstance(program, Program):
        raise KernelTypeError(
            f"`{getattr(program, '__name__', program)}` is no array program",
            hint="tune a @pk.jit function; a kernel is tuned in a program that launches it",
        )
    if not seconds > 0:
        raise KernelTypeError(f"tune(seconds={seconds!r}): give a time above 0")
    values = program._bind(args, keywords)
    arguments = describe(values, program.annotations, permuted=program._permuted(values, ()))
    source = program.source_of(program.captured()[0], arguments.parameters)
    search = Search(source, arguments.values, tuple(arguments.names), seconds)
    result = search.run()
    program.forget_plans()
    return result


class Search:
    """One run of the tuner: contraction after contraction, each time from the best so far."""

    def __init__(
        self, source: ProgramSource, values: list[Any], names: tuple[str, ...], seconds: float
    ) -> None:
        self.source, self.values, self.names, self.seconds = source, values, names, seconds
        self.known = timings(source)
        self.tried = 0

    def run(self) -> Tuned:
        plan = self._plan(())
        start = [str(s) for s in self._used(plan)]
        self.expected = [np.array(r) for r in plan.run(self._copies())]
        self.known[""] = self._time(plan)  # always anew: the others are compared with it
        self.best, self.least = "", self.known[""]
        self.deadline = time.monotonic() + self.seconds
        interrupted = False
        if start:
            try:
                self._search(start)
            except KeyboardInterrupt:
                interrupted = True
            self._confirm(plan)
        kept = remember(self.source, self.known)
        schedules = tuple(self.best.split(";")) if self.best else ()
        path = path_of(self.source) if kept else ""
        if interrupted and not settings().quiet:
            tell(f"pykern: tuning ended; the best so far is kept{f' in {path}' if path else ''}\n")
        before = self.known[""]  # of the turns that decided, where there were any
        return Tuned(schedules, self.least, before, self.tried, dict(self.known), path, interrupted)

    def _search(self, start: list[str]) -> None:
        todo = [(n, each) for n, text in enumerate(start) for each in candidates(text)]
        chosen = [""] * len(start)
        with TuningProgress(self.source.function.name, len(todo), self.deadline) as progress:
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
        wanted = tuple(name.split(";"))
        try:
            plan = self._plan(wanted)
        except KernelError:
            return float("inf")
        used = self._used(plan)
        if any(w and w != u for w, u in zip(wanted, used, strict=False)):
            return float("inf")  # it does not fit: the cost model's was taken
        if not self._agrees(plan.run(self._copies())):
            return float("inf")
        self.tried += 1
        self.known[name] = self._time(plan)
        remember(self.source, {name: self.known[name]})
        return self.known[name]

    def _confirm(self, first: Plan) -> None:
        """The best and the cost model's once more, by turns; what is not faster then is not kept."""
        if not self.best:
            return
        second = self._plan(tuple(self.best.split(";")))
        times = {"": float("inf"), self.best: float("inf")}
        for _ in range(TURNS):
            for name, plan in (("", first), (self.best, second)):
                times[name] = min(times[name], self._time(plan))
        self.known.update(times)
        if times[self.best] > times[""] * GAIN:
            self.known[self.best] = max(times[self.best], times[""] * (1 + 1e-9))
            self.best = ""
        self.least = times[self.best]

    def _plan(self, schedules: tuple[str, ...]) -> Plan:
        source = replace(self.source, schedules=schedules if any(schedules) else ())
        return Plan(*loaded(source), self.names, source)

    @staticmethod
    def _used(plan: Plan) -> list[str]:
        found = plan.artifact.resources.get(SCHEDULES, [])
        return list(found) if isinstance(found, (list, tuple)) else []

    def _copies(self) -> list[Any]:
        """The arguments; those that the program writes to are copied."""
        return [v.copy(order="K") if isinstance(v, np.ndarray) else v for v in self.values]

    def _time(self, plan: Plan) -> float:
        """The least of several calls."""
        values = self._copies()
        call: Callable[[], object] = lambda: plan.run(values)  # noqa: E731
        call()
        least, spent, turns = float("inf"), 0.0, 0
        while turns < TURNS or (spent < ENOUGH and turns < 1000):
            started = time.perf_counter()
            call()
            taken = time.perf_counter() - started
            least, spent, turns = min(least, taken), spent + taken, turns + 1
            if spent > 1.0:
                break
        return least

    def _agrees(self, found: list[Any]) -> bool:
        """Whether results are what the cost model's schedules gave, up to the order of sums."""
        for one, other in zip(found, self.expected, strict=True):
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
