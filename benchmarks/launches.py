"""What a launch costs, by the kind of its arguments: ``python benchmarks/launches.py [--json FILE] [--turns N]``.

Kernels and programs over 64 elements, so that what is measured is the call. Beside them what NumPy, PyTorch and JAX
take for a call of their own over as many. Contenders take turns, and the least of all turns counts; of each is told
whether Python ran in it. Times of a busy machine are too long, all by about as much: compare them with NumPy's.
"""

from __future__ import annotations

import argparse
import array
import ctypes
import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pykern as pk
from pykern.api.kernel import KernelBase
from pykern.benchmarking import facts
from pykern.benchmarking.terminal import table
from pykern.obtain.adapter_code import adapter_code
from pykern.obtain.entry_code import entry_code

LENGTH = 64
BLOCK = 0.001
"""Seconds of a contender's turn: short ones find the moments in which nothing else runs."""
Call = Callable[[], object]


@pk.kernel
def axpy(o, x, y, a):
    i = pk.index()
    o[i] = a * x[i] + y[i]


@pk.kernel
def inner(o, x):
    i = pk.index()
    o[i] = x[i - 1] + x[i + 1]


@pk.jit
def added(x, y):
    return x + 2 * y


class Named(np.ndarray):
    """NumPy's array by another name."""


class Exporter:
    """What has `__dlpack__` and nothing else."""

    def __init__(self, held: np.ndarray) -> None:
        self.held = held

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.held.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Told:
    """What has `__array_interface__`, a dict made once."""

    def __init__(self, held: np.ndarray) -> None:
        self.held = held
        self.__array_interface__ = held.__array_interface__


def vectors() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.random(LENGTH, np.float32) for _ in range(3)]


def of_numpy() -> Iterator[tuple[str, Call]]:
    """Arrays of NumPy, in every form of a call."""
    o, x, y = vectors()
    count, space = np.int64(LENGTH), range(LENGTH)
    yield "kernel: NumPy arrays", lambda: axpy(o, x, y, 2.0, ndrange=LENGTH)
    yield "kernel: ndrange=o.shape", lambda: axpy(o, x, y, 2.0, ndrange=o.shape)
    by_name: Any = axpy  # checkers take names of parameters, or keywords of launches
    yield "kernel: arguments by name", lambda: by_name(o=o, x=x, y=y, a=2.0, ndrange=LENGTH)
    yield "kernel: ndrange=np.int64(n)", lambda: axpy(o, x, y, 2.0, ndrange=count)
    yield "kernel: ndrange=range(n)", lambda: axpy(o, x, y, 2.0, ndrange=space)
    yield "kernel: ndrange=range(1, n - 1)", lambda: inner(o, x, ndrange=range(1, LENGTH - 1))
    p, q, r = (v.view(Named) for v in (o, x, y))
    yield "kernel: subclass of ndarray", lambda: axpy(p, q, r, 2.0, ndrange=LENGTH)
    yield "program: NumPy arrays", lambda: added(x, y)
    yield "program: out=", lambda: added(x, y, out=o)
    yield "np.add(x, y, out=o)", lambda: np.add(x, y, out=o)
    yield "np.add(x, y)", lambda: np.add(x, y)


def of_buffers() -> Iterator[tuple[str, Call]]:
    """Objects that are no arrays, and have memory."""
    makers: dict[str, Callable[[Any], Any]] = {
        "memoryview": memoryview,
        "array.array": lambda v: array.array("f", v),
        "ctypes": lambda v: (ctypes.c_float * LENGTH)(*v),
        "__array_interface__": Told,
        "__dlpack__ in Python": Exporter,
    }
    for name, make in makers.items():
        o, x, y = (make(v) for v in vectors())
        yield f"kernel: {name}", lambda o=o, x=x, y=y: axpy(o, x, y, 2.0, ndrange=LENGTH)


def of_torch() -> Iterator[tuple[str, Call]]:
    """Tensors of PyTorch."""
    import torch

    torch.set_num_threads(1)
    o, x, y = (torch.from_numpy(v) for v in vectors())
    p, q, r = (t.bfloat16() for t in (o, x, y))
    rows = np.empty(LENGTH, np.float32)
    yield "kernel: tensors", lambda: axpy(o, x, y, 2.0, ndrange=LENGTH)
    yield "kernel: tensors, ndrange=o.shape", lambda: axpy(o, x, y, 2.0, ndrange=o.shape)
    yield "kernel: tensors of bfloat16", lambda: axpy(p, q, r, 2.0, ndrange=LENGTH)
    yield "kernel: tensors that are read", lambda: axpy(rows, x, y, 2.0, ndrange=LENGTH)
    yield "program: tensors", lambda: added(x, y)
    yield "program: tensors, out=", lambda: added(x, y, out=o)
    yield "torch.add(x, y, out=o)", lambda: torch.add(x, y, out=o)
    yield "torch.add(x, y)", lambda: torch.add(x, y)


def of_jax() -> Iterator[tuple[str, Call]]:
    """Arrays of JAX, which are only read."""
    import jax

    o, *_ = vectors()
    x, y = (jax.numpy.asarray(v) for v in vectors()[1:])
    yield "kernel: JAX arrays", lambda: axpy(o, x, y, 2.0, ndrange=LENGTH)
    p, q = (v.astype(jax.numpy.bfloat16) for v in (x, y))
    short = np.zeros(LENGTH, p.dtype)
    yield "kernel: JAX arrays of bfloat16", lambda: axpy(short, p, q, 2.0, ndrange=LENGTH)
    yield "program: JAX arrays", lambda: added(x, y)
    compiled = jax.jit(lambda x, y: x + 2 * y)
    yield "jax.jit(f)(x, y)", lambda: compiled(x, y)


SORTS: dict[str, tuple[str, Callable[[], Iterator[tuple[str, Call]]]]] = {
    "numpy": ("numpy", of_numpy),
    "buffers": ("numpy", of_buffers),
    "torch": ("torch", of_torch),
    "jax": ("jax", of_jax),
}
"""The package each needs."""


def code_is_there() -> None:
    """Wait for what is compiled once an installation, and is not waited for otherwise."""
    o, x, y = vectors()
    axpy(o, x, y, 2.0, ndrange=LENGTH)
    until = time.monotonic() + 60
    while not all(code.obtain(64) is not None for code in (entry_code, adapter_code)):
        if time.monotonic() > until:
            raise SystemExit("the compiler gave no code for the calls of programs, or none that adapts calls")
        time.sleep(0.05)


def runs_python(call: Call) -> bool:
    """Whether Python's way of a launch is in a call."""
    ways = (KernelBase.__call__.__code__, type(added).__mro__[1].__call__.__code__)
    seen = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in ways:
            seen.append(frame)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return bool(seen)


def least(calls: dict[str, Call], turns: int, seconds: float) -> dict[str, float]:
    """Nanoseconds of each call, by turns; without what an empty call takes."""
    repeats = {}
    for name, call in calls.items():
        started = time.perf_counter()
        for _ in range(100):
            call()
        each = (time.perf_counter() - started) / 100
        repeats[name] = max(20, min(100_000, int(seconds / each)))
    best = dict.fromkeys(calls, math.inf)
    for _ in range(turns):
        for name, call in calls.items():
            count = repeats[name]
            started = time.perf_counter_ns()
            for _ in range(count):
                call()
            best[name] = min(best[name], (time.perf_counter_ns() - started) / count)
    return best


def measure(turns: int, seconds: float) -> list[dict[str, Any]]:
    """A row for each call that is possible here."""
    calls: dict[str, Call] = {}
    sorts: dict[str, str] = {}
    for sort, (package, make) in SORTS.items():
        if importlib.util.find_spec(package) is not None:
            for name, call in make():
                calls[name], sorts[name] = call, sort
    for call in calls.values():
        for _ in range(5):
            call()
    took = least({**calls, "": lambda: None}, turns, seconds)
    empty = took.pop("")
    return [
        {"call": name, "sort": sorts[name], "ns": round(ns - empty, 1), "python": runs_python(calls[name])}
        for name, ns in took.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the rows there")
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="few turns: a try")
    chosen = parser.parse_args()
    pk.set_num_threads(1)
    code_is_there()
    rows = measure(20 if chosen.quick else chosen.turns, BLOCK)
    numpy = next(row["ns"] for row in rows if row["call"] == "np.add(x, y, out=o)")
    shown = [
        [row["call"], f"{row['ns']:.0f} ns", f"{row['ns'] / numpy:.1f}", "Python" if row["python"] else ""]
        for row in rows
    ]
    print(table(["call", "takes", "of np.add", ""], shown))
    if chosen.json:
        here = os.path.dirname(os.path.abspath(__file__))
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        run = {
            "schema": "pykern-launches/1",
            **facts.device("cpu"),
            **facts.run(here),
            "load": load,
            "rows": rows,
        }
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump(run, file, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
