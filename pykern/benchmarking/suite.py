"""The sweeps of a file, run: every line at every value.

Comes in: a file with ``@pk.benchmark`` declarations. Goes out: records, one at a time. It runs in a process that
is bound to its threads (`child`); what compiling took comes from another that began with an empty cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pykern.api.user_file import UsageError, imported
from pykern.benchmarking import facts
from pykern.benchmarking.clock import DeviceClock, clock_for, finish
from pykern.benchmarking.limits import measured
from pykern.benchmarking.measure import arguments_of
from pykern.benchmarking.records import SCHEMA, Record, rates, times
from pykern.benchmarking.sweep import Sweep
from pykern.errors import LaunchError

FirstCalls = dict[str, dict[str, Any]]
"""Facts of the first call of each line, by ``benchmark/line``."""


def sweeps_of(path: str) -> list[Sweep]:
    """Those of ``FILE.py``, or the one of ``FILE.py::NAME``. Raises `UsageError` where there is none."""
    file, _, wanted = path.partition("::")
    module = imported(file)
    found = {id(one): one for one in vars(module).values() if isinstance(one, Sweep)}
    chosen = [one for one in found.values() if not wanted or one.name == wanted]
    if not chosen:
        names = ", ".join(one.name for one in found.values())
        raise UsageError(
            f"`{file}` declares no benchmark{f' `{wanted}`' if wanted else ''}",
            hint=f"it declares {names}"
            if names
            else "declare one with @pk.benchmark(x=..., values=...) above a function",
        )
    return chosen


def chosen(sweeps: list[Sweep], only: str) -> list[Sweep]:
    """Those whose name holds `only`. Raises `LaunchError` where none does."""
    found = [one for one in sweeps if only in one.name]
    if not found:
        raise LaunchError(
            f"no benchmark has a name like `{only}`", hint=f"there are {', '.join(s.name for s in sweeps)}"
        )
    return found


def first_calls(sweeps: list[Sweep]) -> FirstCalls:
    """Milliseconds of each line's first call, and the kernel it put into the disk cache, where it put one."""
    from pykern.compiler.cache import open_cache

    found: FirstCalls = {}
    for sweep in sweeps:
        inputs, keywords = arguments_of(sweep(sweep.values[0]), None)
        for name, line in sweep.there.items():
            before = {entry.key for entry in open_cache().entries()}
            started = time.perf_counter()
            finish(line(*inputs, **keywords))
            taken = (time.perf_counter() - started) * 1e3
            entries = [entry for entry in open_cache().entries() if entry.key not in before]
            new = [
                entry for entry in entries if not entry.target.startswith("entry:")
            ]  # those are every process's
            found[f"{sweep.name}/{name}"] = {
                "ms": taken,
                "kernel": " ".join(entry.kernel for entry in new) or None,
                "key": new[0].key if new else None,
            }
    return found


def run(
    sweeps: list[Sweep],
    threads: int | None,
    cold: FirstCalls,
    folder: str,
    with_limits: bool = True,
    say: Callable[[str], None] = print,
) -> Iterator[Record]:
    """Measure; `say` is told what is measured next."""
    shared = facts.run(folder)
    warm: FirstCalls = {}
    for sweep in sweeps:
        for value in sweep.values:
            say(f"{sweep.name} {sweep.x}={value}")
            inputs = sweep(value)
            if value == sweep.values[0]:
                warm |= _warm_first_calls(sweep, inputs, cold)
            yield from _records(sweep, value, inputs, threads, with_limits, shared, cold, warm)


def _warm_first_calls(sweep: Sweep, inputs: Any, cold: FirstCalls) -> FirstCalls:
    """First calls of the lines that have compiled a kernel: it comes from the disk this time."""
    positional, keywords = arguments_of(inputs, None)
    found: FirstCalls = {}
    for name, line in sweep.there.items():
        if (cold.get(f"{sweep.name}/{name}") or {}).get("key"):
            started = time.perf_counter()
            finish(line(*positional, **keywords))
            found[f"{sweep.name}/{name}"] = {"ms": (time.perf_counter() - started) * 1e3}
    return found


def _records(
    sweep: Sweep,
    value: Any,
    inputs: Any,
    threads: int | None,
    with_limits: bool,
    shared: Mapping[str, object],
    cold: FirstCalls,
    warm: FirstCalls,
) -> Iterator[Record]:
    positional, keywords = arguments_of(inputs, None)
    arrays = (*positional, *keywords.values())
    clock = clock_for(arrays)
    device = clock.device if isinstance(clock, DeviceClock) else "cpu"
    limits = measured(device, _float_of(arrays)).as_json() if with_limits else None
    result = sweep.measure(value, inputs)
    for name, samples in result.lines.items():
        first = cold.get(f"{sweep.name}/{name}") or {}
        record: Record = {
            "schema": SCHEMA, "benchmark": sweep.name, "line": name,
            "kernel": first.get("kernel"), "key": first.get("key"), **facts.device(device),
            "clock": result.clock, "cache": "flushed" if sweep.cold else "warm",
            "threads": threads if device == "cpu" else None, "config": {sweep.x: value},
            **times(samples), "bytes": result.bytes, "flops": result.flops,
            "compile_ms_cold": first.get("ms") if first.get("key") else None,
            "compile_ms_warm": (warm.get(f"{sweep.name}/{name}") or {}).get("ms"), **shared,
        }  # fmt: skip
        yield record | rates(record, limits)


def _float_of(arrays: tuple[Any, ...]) -> str:
    """The type the limit of floats is taken for: f64 where an array holds it."""
    return "float64" if any(str(getattr(a, "dtype", "")).endswith("float64") for a in arrays) else "float32"
