"""`pk.benchmark`: measure now, or declare what ``pykern bench`` measures.

Comes in: a function, or several that should compute the same, and inputs. Goes out: a `BenchmarkResult`.
With ``x=`` and ``values=`` in place of a function it is a decorator, and a `Sweep` goes out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, overload

import numpy as np

from pykern.benchmarking import agreement
from pykern.benchmarking.clock import clock_for
from pykern.benchmarking.flush import flusher
from pykern.benchmarking.result import BenchmarkResult
from pykern.benchmarking.sweep import Sweep, declared
from pykern.benchmarking.turns import by_turns
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import ARGUMENTS, KernelTypeError, LaunchError

Functions = Callable | Mapping[str, Callable] | Sequence[Callable]


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

    `fn` may be a dict of functions by name, or a list of them: they take turns on the same inputs, and their results
    must agree (else `Disagreement`, an `AssertionError`). Results are what a function returns or, where it
    returns none, the inputs it changes. `tolerance` is relative; without one it is the square root of the
    coarsest type's epsilon. The comparison makes the first warm-up call of each, on copies.

    `inputs` is a tuple or a list of arguments, a dict of keyword arguments, or one array. `keywords` go
    to each call as well (``keywords={"ndrange": n}`` for a kernel). `calls` in a row make one turn, for what takes
    less than some microseconds. `cold=True` empties the caches before each turn. `bytes` and `flops` of a call add
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


def measure(
    fn: Functions,
    inputs: Any,
    warmup: int,
    repeat: int,
    *,
    keywords: Mapping[str, Any] | None = None,
    calls: int = 1,
    check: bool = True,
    tolerance: float | None = None,
    cold: bool = False,
    bytes: int = 0,
    flops: int = 0,
) -> BenchmarkResult:
    """Time functions on inputs, by turns."""
    functions = named(fn)
    arguments, given = arguments_of(inputs, keywords)
    for name, count, least in (("warmup", warmup, 0), ("repeat", repeat, 1), ("calls", calls, 1)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
            raise LaunchError(f"{name}={count!r}", hint=f"`{name}` is an integer from {least}")
    if tolerance is not None and not tolerance >= 0:
        raise LaunchError(f"tolerance={tolerance!r}", hint="a tolerance is relative, 0 or more: 1e-5")
    compares = check and len(functions) > 1
    if compares:
        agreement.check(functions, arguments, given, tolerance)
    ready = {name: partial(function, *arguments, **given) for name, function in functions.items()}
    clock = clock_for([*arguments, *given.values()])
    before = flusher([*arguments, *given.values()]) if cold else None
    left = warmup - 1 if compares and warmup else warmup
    samples = by_turns(ready, left, int(repeat), clock, calls, before)
    return BenchmarkResult(samples, clock.name, compares, warmup, bytes, flops)


def named(fn: Any) -> dict[str, Callable]:
    """Functions by name. Raises `KernelTypeError` where one is none."""
    if isinstance(fn, Mapping):
        functions = {str(name): function for name, function in fn.items()}
    elif isinstance(fn, list | tuple):
        functions = {}
        for function in fn:
            name = base = getattr(function, "__name__", type(function).__name__)
            count = 1
            while name in functions:
                count += 1
                name = f"{base} {count}"
            functions[name] = function
    else:
        functions = {getattr(fn, "__name__", type(fn).__name__): fn}
    if not functions:
        raise KernelTypeError("pk.benchmark has no function to measure")
    for name, function in functions.items():
        if not callable(function):
            raise KernelTypeError(
                f"`{name}` is a {type(function).__name__}, not a function",
                hint="give a function, a dict of functions by name, or a list of them",
            )
    return functions


def arguments_of(inputs: Any, keywords: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of each call."""
    if isinstance(inputs, Mapping):
        return (), {**inputs, **(keywords or {})}
    positional = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    return positional, dict(keywords or {})
