"""`pk.benchmark`: measure now, or declare what ``pykern bench`` measures.

Comes in: a function, or several that should compute the same, and inputs. Goes out: a `BenchmarkResult`.
With ``x=`` and ``values=`` in place of a function it is a decorator, and a `Sweep` goes out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, overload

from pykern.benchmarking.measure import Functions, measure
from pykern.benchmarking.result import BenchmarkResult
from pykern.benchmarking.sweep import Sweep, declared
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import ARGUMENTS, KernelTypeError


@overload
def benchmark(
    fn: Functions,
    inputs: Any,
    warmup: int = 10,
    repeat: int = 100,
    *,
    keywords: Mapping[str, Any] | None = None,
    calls: int = 1,
    check: bool = True,
    tolerance: float | None = None,
    cold: bool = False,
    bytes: int = 0,
    flops: int = 0,
) -> BenchmarkResult: ...


@overload
def benchmark(
    *,
    x: str,
    values: Sequence[Any],
    lines: Mapping[str, Callable | str],
    metric: str = "ms",
    bytes: Any = None,
    flops: Any = None,
    warmup: int = 3,
    repeat: int = 20,
    check: bool = True,
    tolerance: float | None = None,
    cold: bool = False,
    name: str | None = None,
) -> Callable[[Callable], Sweep]: ...


@at_users_line
def benchmark(
    fn: Any = None, inputs: Any = None, warmup: Any = None, repeat: Any = None, **options: Any
) -> Any:
    """Time `fn(*inputs)`: `warmup` calls, then `repeat` timed ones; gives a `BenchmarkResult`, times in seconds.

    `fn` may be a dict of functions by name, or a list of them: they are called alternately on the same inputs, and
    their results must agree (else `Disagreement`, an `AssertionError`). Results are what a function returns or, where
    it returns none, the inputs it changes. `tolerance` is relative; without one it is the square root of the
    coarsest type's epsilon. The comparison makes the first warm-up call of each, on copies.

    `inputs` is a tuple or a list of arguments, a dict of keyword arguments, or one array. `keywords` go
    to each call as well (``keywords={"ndrange": n}`` for a kernel). `calls` in a row make one round, for what takes
    less than some microseconds. `cold=True` empties the caches before each round. `bytes` and `flops` of a call add
    rates. Where the inputs live on a device, its own events take the time; on the host a call's results are waited for.

    Without `fn` and with ``x="n", values=[...], lines={"pykern": f, "numpy": g}``, a decorator of a function that makes
    the inputs for one value: ``pykern bench FILE.py`` measures each line at each value (`Sweep`).

    Raises `KernelTypeError` for what is no function, `LaunchError` for numbers that mean nothing.
    """
    if fn is None:
        refuse_unknown("@pk.benchmark(x=..., values=..., lines=...)", declared, options)
        return declared(
            warmup=3 if warmup is None else warmup, repeat=20 if repeat is None else repeat, **options
        )
    if inputs is None:
        raise KernelTypeError(
            "pk.benchmark(fn, inputs): the inputs are missing",
            hint="give a tuple of arguments, () for none; a declaration is @pk.benchmark(x=..., values=..., lines=...)",
        )
    refuse_unknown("pk.benchmark(fn, inputs)", measure, options)
    return measure(fn, inputs, 10 if warmup is None else warmup, 100 if repeat is None else repeat, **options)


def refuse_unknown(what: str, taken_by: Callable, options: Mapping[str, Any]) -> None:
    """Raises `KernelTypeError` for a keyword that the function has not, with one that is like it, or all it has."""
    known = [n for n, p in inspect.signature(taken_by).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for unknown in (name for name in options if name not in known):
        near = get_close_matches(unknown, known, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(f'{n}=' for n in known)}"
        raise KernelTypeError(f"{what} has no keyword `{unknown}`", hint=hint, code=ARGUMENTS)
