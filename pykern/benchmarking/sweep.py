"""Declared benchmarks: one quantity that varies, a function that makes the inputs, lines to compare.

Comes in: what ``@pk.benchmark(x=..., values=..., lines=...)`` was given. Goes out: a `Sweep`, which ``pykern bench``
finds in a file. Read next: `suite`, which runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pykern.benchmarking.measure import arguments_of, measure
from pykern.benchmarking.result import BenchmarkResult
from pykern.errors import KernelTypeError, LaunchError

METRICS = ("GB/s", "GFLOP/s", "s", "ms", "us")


@dataclass(frozen=True)
class Sweep:
    """A benchmark over `values` of `x`; calling it makes the inputs for one value.

    `lines` has a function for each name, or a text that says why there is none ("not installed").
    `bytes` and `flops` are numbers, or functions of the value, for one call.
    """

    name: str
    make: Callable[[Any], Any]
    x: str
    values: tuple[Any, ...]
    lines: Mapping[str, Callable | str]
    metric: str
    bytes: Any
    flops: Any
    warmup: int
    repeat: int
    check: bool
    tolerance: float | None
    cold: bool

    def __repr__(self) -> str:
        return (
            f"<pykern.Sweep {self.name} over {len(self.values)} values of {self.x}: {', '.join(self.lines)}>"
        )

    def __call__(self, value: Any) -> Any:
        return self.make(value)

    @property
    def there(self) -> dict[str, Callable]:
        """The lines that can be measured."""
        return {name: line for name, line in self.lines.items() if callable(line)}

    @property
    def missing(self) -> dict[str, str]:
        """Why the others cannot."""
        return {name: line for name, line in self.lines.items() if isinstance(line, str)}

    def measure(self, value: Any, inputs: Any = None) -> BenchmarkResult:
        """Every line at one value. Raises `Disagreement` where two differ."""
        inputs = self.make(value) if inputs is None else inputs
        positional, keywords = arguments_of(inputs, None)
        return measure(
            self.there, positional, self.warmup, self.repeat, keywords=keywords, check=self.check,
            tolerance=self.tolerance, cold=self.cold, bytes=self.bytes_at(value, (*positional, *keywords.values())),
            flops=self.flops_at(value),
        )  # fmt: skip

    def bytes_at(self, value: Any, inputs: Sequence[Any]) -> int:
        """Bytes a call moves: as declared, else those of all arrays among the inputs, each moved once."""
        if self.bytes is not None:
            return _number(self.bytes, value)
        return sum(int(getattr(one, "nbytes", 0)) for one in inputs)

    def flops_at(self, value: Any) -> int:
        """Operations on floats of a call; 0 where nobody said."""
        return _number(self.flops, value) if self.flops is not None else 0


def _number(told: Any, value: Any) -> int:
    """A number, or what a function gives for a value of x."""
    given: Any = told(value) if callable(told) else told
    return int(given)


def declared(
    *,
    x: str | None = None,
    values: Sequence[Any] | None = None,
    lines: Mapping[str, Callable | str] | None = None,
    metric: str = "ms",
    bytes: Any = None,
    flops: Any = None,
    warmup: int = 3,
    repeat: int = 20,
    check: bool = True,
    tolerance: float | None = None,
    cold: bool = False,
    name: str | None = None,
) -> Callable[[Callable], Sweep]:
    """The decorator. Raises `KernelTypeError` and `LaunchError` for what cannot be measured."""
    if not (isinstance(x, str) and values is not None and isinstance(lines, Mapping)):
        raise KernelTypeError(
            "a benchmark is declared with x, values and lines",
            hint='write @pk.benchmark(x="n", values=[1024, 4096], lines={"pykern": f, "numpy": g}); '
            "to measure now: pk.benchmark(fn, inputs)",
        )
    wrong = [label for label, line in lines.items() if not (callable(line) or isinstance(line, str))]
    if wrong:
        raise KernelTypeError(
            f"line `{wrong[0]}` is a {type(lines[wrong[0]]).__name__}",
            hint='give a function, or a text that says why there is none: "not installed"',
        )
    if not values:
        raise LaunchError("values is empty", hint="give the values that x takes")
    if not any(map(callable, lines.values())):
        raise LaunchError("no line has a function", hint="one that can be measured is needed")
    if metric not in METRICS:
        raise LaunchError(f"metric={metric!r}", hint=f"a metric is one of {', '.join(METRICS)}")
    if metric == "GFLOP/s" and flops is None:
        raise LaunchError("GFLOP/s without flops", hint="say flops=lambda n: ..., the operations of one call")
    parts = (tuple(values), dict(lines), metric, bytes, flops, warmup, repeat, check, tolerance, cold)

    def decorate(make: Callable) -> Sweep:
        if not callable(make):
            raise KernelTypeError(f"@pk.benchmark stands above a function, not a {type(make).__name__}")
        return Sweep(name or getattr(make, "__name__", "benchmark"), make, x, *parts)

    return decorate
