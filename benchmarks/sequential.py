"""Sequential algorithms beside Numba: ``python benchmarks/sequential.py [names] [--repeat 9] [--json FILE]``.

The same functions (`sequential_kernels`, `sequential_programs`) are compiled by both, as kernels of one work-item or as
array programs. Times are processor times of one thread, the least of some calls by turns; results have to be equal.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import sequential_kernels as kernels
import sequential_programs as programs
from measure import alternating

import pykern as pk

NODES = 4000


def arguments() -> dict[Callable[..., Any], tuple[Any, ...]]:
    """What each function is called with; a kernel's arrays are changed, so whoever calls it gives copies."""
    r = np.random.default_rng(3)
    zeros = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
    degree = r.integers(1, 12, NODES)
    first = np.concatenate([[0], np.cumsum(degree)])
    to = r.integers(0, NODES, first[-1])
    left, right = r.integers(0, 4, 400), r.integers(0, 4, 400)
    ends = r.integers(0, 20000, 30000), r.integers(0, 20000, 30000)
    letters = r.integers(97, 100, 100006).astype(np.uint8)
    scores = r.random(16), r.random((16, 16)), r.random((16, 8)), r.integers(0, 8, 600)
    return {
        kernels.sieve: (np.zeros(200001, np.uint8), 200000),
        kernels.collatz: (zeros(1), 5000),
        kernels.unionfind: (zeros(20000), *ends),
        kernels.insertion: (zeros(1500), r.integers(0, 10**6, 1500)),
        kernels.lcs: (zeros(401, 401), left, right),
        kernels.edit: (zeros(401, 401), left, right),
        kernels.knapsack: (zeros(5001), r.integers(1, 100, 60), r.integers(1, 100, 60), 5000),
        kernels.bfs: (zeros(NODES), zeros(NODES), first, to),
        kernels.binsearch: (zeros(5000), np.sort(r.random(20000)), r.random(5000)),
        kernels.rle: (zeros(100000), zeros(100000), r.integers(0, 2, 100000)),
        kernels.prefix: (np.zeros(100000), r.random(100000)),
        kernels.heapsort: (np.zeros(10000), r.random(10000)),
        kernels.spmv: (np.zeros(NODES), first, to, r.random(first[-1]), r.random(NODES)),
        kernels.floyd: (r.random((120, 120)),),
        kernels.search: (zeros(1), letters[:100000], letters[100000:]),
        kernels.hashtable: (zeros(8192), zeros(8192), r.integers(0, 4000, 50000)),
        kernels.smith: (zeros(401, 401), left, right),
        kernels.quickselect: (np.zeros(1), np.zeros(50000), r.random(50000), 25000),
        kernels.walk: (zeros(2), 100000),
        kernels.kmeans: (np.zeros((8, 3)), zeros(2000), r.random((2000, 3)), 5),
        kernels.viterbi: (zeros(600), np.zeros((600, 16)), zeros(600, 16), *scores),
        kernels.life: (np.zeros((300, 300), np.uint8), r.integers(0, 2, (300, 300)).astype(np.uint8)),
        kernels.pagerank: (np.zeros(NODES), np.zeros(NODES), first, to, degree, 5),
        programs.sieve_of_its_own: (200000,),
        programs.collatz_of_all: (5000,),
        programs.find_roots: (np.arange(20000), *ends),
        programs.sorted_by_insertion: (r.random(1500),),
    }


def compared(function: Callable[..., Any], given: tuple[Any, ...], repeat: int) -> dict[str, float]:
    """Milliseconds of both, and pykern's seconds of its first call; a wrong result ends the run."""
    is_kernel = function.__module__ == kernels.__name__
    theirs = numba.njit(function)
    compiled = pk.kernel(function) if is_kernel else pk.jit(function)
    copies = [tuple(a.copy() if isinstance(a, np.ndarray) else a for a in given) for _ in range(2)]

    def ours() -> Any:
        return compiled(*copies[0], ndrange=1) if is_kernel else compiled(*copies[0])

    started = time.perf_counter()
    found = ours()
    first_call = time.perf_counter() - started
    wanted = theirs(*copies[1])
    for a, b in zip(*copies, strict=True) if is_kernel else [(found, wanted)]:
        np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=function.__name__)
    calls = {"pykern": ours, "numba": lambda: theirs(*copies[1])}
    taken = alternating(calls, repeat, at_least=0.002, clock=time.thread_time, summary=min)
    return {name: 1e3 * seconds for name, seconds in taken.items()} | {"first call": first_call}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pk.set_num_threads(1)
    rows, ratios = {}, []
    for function, given in arguments().items():
        if options.names and function.__name__ not in options.names:
            continue
        row = rows[function.__name__] = compared(function, given, options.repeat)
        ratios.append(row["pykern"] / row["numba"])
        print(
            f"{function.__name__:20} {row['pykern']:8.3f} ms, Numba {row['numba']:8.3f} ms, ratio {ratios[-1]:.2f}, "
            f"first call {row['first call']:.2f} s",
            flush=True,
        )
    print(f"geometric mean of {len(ratios)} ratios: {np.exp(np.mean(np.log(ratios))):.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
