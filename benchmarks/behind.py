"""A product of matrices right behind another library's: ``python benchmarks/behind.py [--size 512] [--json FILE]``.

The threads of a library wait awake for a while after their work. What comes next in the same program has to share the
processors with them. A product of NumPy (OpenBLAS), of torch and of pykern is timed alone, and right behind a product
of each of the others. Each call is timed by itself. Rounds of all pairs take turns, and in each round a pair has
`--calls` calls after a pause, in which all threads fall asleep. Rates in GFLOP/s are medians over all calls of a pair.

Libraries that are not there are left out. Every result is compared with NumPy's in f64.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable

import numpy as np

import pykern as pk
from pykern.benchmarking import facts

PAUSE = 0.3
"""Seconds after which threads of every library sleep: OpenMP's wait awake for 0.2 s."""


@pk.jit
def product(a, b):
    return a @ b


def products(a: np.ndarray, b: np.ndarray, threads: int) -> dict[str, Callable[[], object]]:
    """A call of each library that is there, which leaves its result in an array that was given."""
    into, theirs = np.empty_like(a), np.empty_like(a)
    made: dict[str, Callable[[], object]] = {
        "pykern": lambda: product(a, b, out=into),
        "numpy": lambda: np.matmul(a, b, out=theirs),
    }
    try:
        import torch
    except ImportError:
        return made
    torch.set_num_threads(threads)
    left, right, result = torch.from_numpy(a), torch.from_numpy(b), torch.empty(a.shape)
    return made | {"torch": lambda: torch.matmul(left, right, out=result)}


def check(made: dict[str, Callable[[], object]], a: np.ndarray, b: np.ndarray) -> None:
    expected = a.astype(np.float64) @ b.astype(np.float64)
    for name, call in made.items():
        error = np.abs(np.asarray(call(), np.float64) - expected).max() / np.abs(expected).max()
        if not error < 1e-5:
            raise SystemExit(f"{name} is wrong: {error:.2g}")


def times(call: Callable[[], object], before: Callable[[], object] | None, calls: int) -> list[float]:
    """Seconds of each of some calls, each of them right behind one of `before`."""
    found = []
    time.sleep(PAUSE)
    call()  # wakes its own threads
    for _ in range(calls):
        if before is not None:
            before()
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    a, b = (rng.random((given.size, given.size), np.float32) for _ in range(2))
    made = products(a, b, pk.get_num_threads())
    check(made, a, b)
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(given.rounds):
        for name, call in made.items():
            for other in ("", *(each for each in made if each != name)):
                found.setdefault((name, other), []).extend(
                    times(call, made[other] if other else None, given.calls)
                )
    work = 2 * given.size**3 / 1e9
    rates = {pair: work / statistics.median(seconds) for pair, seconds in found.items()}
    print(f"{given.size}^3 in f32, {pk.get_num_threads()} threads; GFLOP/s, medians")
    print(f"{'':8}{'alone':>12}" + "".join(f"{f'behind {name}':>16}" for name in made))
    for name in made:
        row = "".join(f"{rates[name, other]:16.0f}" if other != name else f"{'':16}" for other in made)
        print(f"{name:8}{rates[name, '']:12.0f}{row}")
    if given.json:
        record = facts.run(os.path.dirname(__file__)) | {
            "size": given.size,
            "gflop_per_s": {
                f"{name} behind {other}" if other else name: r for (name, other), r in rates.items()
            },
        }
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
