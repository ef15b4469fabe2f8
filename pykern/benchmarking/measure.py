"""Times of functions that are called alternately on the same inputs.

Comes in: functions, inputs, how often. Goes out: a `BenchmarkResult`. Read next: `interleaved`, `clock`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pykern.benchmarking import agreement
from pykern.benchmarking.clock import clock_for
from pykern.benchmarking.flush import flusher
from pykern.benchmarking.interleaved import interleaved
from pykern.benchmarking.result import BenchmarkResult
from pykern.errors import KernelTypeError, LaunchError

Functions = Callable | Mapping[str, Callable] | Sequence[Callable]


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
    """Time functions on inputs, alternately."""
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
    samples = interleaved(ready, left, int(repeat), clock, calls, before)
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
