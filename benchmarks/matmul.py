"""Products of matrices beside OpenBLAS (NumPy's): ``python benchmarks/matmul.py [--quick] [--only WORD]``.

Squares from 64 to 4096, thin and transposed factors and batches, f32 and f64, with one thread and with all. Each case
is run as an array program (`a @ b`, with ``out=``), and squares up to 2048 also as a program that launches the naive
triple loop. pykern and NumPy take turns in one process, and the least time of each counts: a busy machine disturbs
both. Times hold the call from Python. Compile times are what a first call waits for the process that compiles, which
is there and keeps nothing: the median of seven, and the least. Results are checked against float64 with the bound
n * eps. OpenBLAS's threads are set with threadpoolctl.

Writes results/matmul.json, matmul-ratios.png and matmul-rates.png, after every case what there is until then.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

os.environ.setdefault(
    "KMP_BLOCKTIME", "20"
)  # ms: pykern's team sleeps soon, the other library's is not disturbed


import numpy as np
import threadpoolctl

import pykern as pk
from pykern.benchmarking import facts, figures
from pykern.benchmarking.interleaved import rest, wake
from pykern.benchmarking.limits import measured
from pykern.benchmarking.report import counted, origin
from pykern.compiler.service import service
from pykern.data.program_source import ProgramSource
from pykern.data.source import KernelSource
from pykern.environment.installation import no_plots

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")


@dataclass(frozen=True)
class Case:
    """`m x k` times `k x n`; `form` says which factors are transposed views ("nn", "tn", "nt", "tt")."""

    m: int
    n: int
    k: int
    dtype: str = "f32"
    form: str = "nn"
    batch: int = 0

    def __str__(self) -> str:
        lead = f"{self.batch}x " if self.batch else ""
        return f"{lead}{self.m}x{self.n}x{self.k} {self.dtype} {self.form}"


@dataclass(frozen=True)
class Row:
    """Seconds a call of pykern's program, of NumPy, and of the program with the triple loop (0: not run)."""

    case: str
    threads: int
    pykern: float
    numpy: float
    loops: float
    compile_ms: float
    compile_least_ms: float
    gflops: float

    @property
    def ratio(self) -> float:
        """How many times as long OpenBLAS takes: above 1 pykern is faster."""
        return self.numpy / self.pykern


SQUARES = (64, 67, 100, 127, 128, 200, 251, 256, 384, 509, 512, 777, 1000, 1021, 1024, 2039, 2048, 4096)
OTHERS = (
    (4096, 64, 64), (64, 4096, 64), (64, 64, 4096), (4096, 16, 256), (16, 4096, 256), (2000, 100, 50),
    (2048, 2048, 32), (32, 32, 4096), (1, 2048, 2048), (2048, 1, 2048), (4, 2048, 2048), (2048, 4, 2048),
)  # fmt: skip


def cases(quick: bool, threads: int) -> Iterator[Case]:
    """Of several threads squares and thin factors: what is transposed or in batches is packed alike."""
    for dtype in ("f32", "f64"):
        for n in SQUARES:
            if n <= (1024 if quick else 4096):
                yield Case(n, n, n, dtype)
        for m, n, k in OTHERS:
            yield Case(m, n, k, dtype)
        if threads > 1:
            continue
        for form in ("tn", "nt", "tt"):
            for n in (67, 128, 509, 1024):
                yield Case(n, n, n, dtype, form)
        yield Case(64, 64, 64, dtype, batch=64)
        yield Case(128, 128, 16, dtype, batch=32)


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def left_transposed(a, b):
    return a.T @ b


@pk.jit
def right_transposed(a, b):
    return a @ b.T


@pk.jit
def both_transposed(a, b):
    return a.T @ b.T


@pk.kernel
def triple_loop(c, a, b):
    i, j = pk.index()
    total = c.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@pk.jit
def loops(a, b):
    c = pk.zeros((a.shape[0], b.shape[1]), a.dtype)
    triple_loop(c, a, b, ndrange=(a.shape[0], b.shape[1]))
    return c


compile_times: dict[Case, tuple[float, float]] = {}
"""Milliseconds: with other numbers of threads the code is there."""
FORMS = {"nn": product, "tn": left_transposed, "nt": right_transposed, "tt": both_transposed}


def measure(case: Case, threads: int, seconds: float) -> Row:
    kind = {"f32": np.float32, "f64": np.float64}[case.dtype]
    rng = np.random.default_rng(0)
    lead = (case.batch,) if case.batch else ()
    shapes = [(case.m, case.k), (case.k, case.n)]
    a, b = (
        rng.standard_normal((*lead, *(shape[::-1] if way == "t" else shape))).astype(kind)
        for shape, way in zip(shapes, case.form, strict=True)
    )
    x, y = (v.T if way == "t" else v for v, way in zip((a, b), case.form, strict=True))
    mine, theirs, third = (np.empty((*lead, case.m, case.n), kind) for _ in range(3))
    program = FORMS[case.form]
    if case not in compile_times:
        compile_times[case] = compiled(program.lower(a, b).source)
    functions: dict[str, Callable[[], object]] = {
        "pykern": lambda: program(a, b, out=mine),
        "numpy": lambda: np.matmul(x, y, out=theirs),
    }
    if case.form == "nn" and not case.batch and case.m == case.n == case.k <= 2048:
        functions["loops"] = lambda: loops(a, b, out=third)
    times = least(functions, seconds, threads > 1)
    check(mine, x, y)
    if "loops" in times:
        check(third, x, y)
    work = 2 * max(case.batch, 1) * case.m * case.n * case.k
    return Row(
        str(case), threads, times["pykern"], times["numpy"], times.get("loops", 0.0), *compile_times[case],
        work / times["pykern"] / 1e9,
    )  # fmt: skip


def compiled(source: KernelSource | ProgramSource) -> tuple[float, float]:
    """Milliseconds until there is an artifact: the median and the least."""
    spent = []
    for _ in range(7):
        started = time.perf_counter()
        service().compile(source)
        spent.append(time.perf_counter() - started)
    return statistics.median(spent) * 1e3, min(spent) * 1e3


def least(functions: dict[str, Callable[[], object]], seconds: float, resting: bool) -> dict[str, float]:
    """The least time of a call of each; they take turns for about `seconds` in all, of what takes long two.

    `resting`: OpenMP's threads wait awake for 20 ms on the processor that the other library's need; and threads that
    just woke share one processor for up to a tenth of a second, until the system moves one (`turns.wake`).
    """
    best = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    deadline, turns = time.perf_counter() + seconds, 0
    while turns < (2 if max(best.values()) > seconds else 3) or time.perf_counter() < deadline:
        turns += 1
        for name, function in functions.items():
            if resting:
                rest(0.5)
                wake(function, 0.15)
            spent, calls = 0.0, 0
            while calls < 3 or spent < 0.01:
                started = time.perf_counter()
                function()
                taken = time.perf_counter() - started
                best[name] = min(best[name], taken)
                spent, calls = spent + taken, calls + 1
                if spent > 0.3:
                    break
    return best


def check(found: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """|found - exact| <= n * eps * (|x| @ |y|), the usual bound, on some rows."""
    rows = slice(None, None, max(1, x.shape[-2] // 8))
    wide = x[..., rows, :].astype(np.float64)
    exact, bound = wide @ y.astype(np.float64), np.abs(wide) @ np.abs(y).astype(np.float64)
    limit = x.shape[-1] * np.finfo(found.dtype).eps
    assert np.all(np.abs(found[..., rows, :] - exact) <= limit * bound), "the result is wrong"


def main() -> int:
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, most}))
    parser.add_argument(
        "--quick", action="store_true", help="up to 1024 and shortly: a try, no figures to quote"
    )
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each case, about")
    parser.add_argument(
        "--json", metavar="FILE", help="default: results/matmul.json; with --quick results/quick/matmul.json"
    )
    parser.add_argument("--no-plots", action="store_true")
    chosen = parser.parse_args()
    path = chosen.json or os.path.join(FOLDER, "quick" if chosen.quick else "", "matmul.json")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    run = {**facts.device("cpu"), **facts.run(FOLDER), "limits": {}}
    rows: list[Row] = []
    failed: list[str] = []
    print(
        "ratio: OpenBLAS's time over pykern's; above 1 pykern is faster. loops: the same for the naive triple loop"
    )
    for threads in chosen.threads:
        pk.set_num_threads(threads)
        run["limits"][threads] = {dtype: measured("cpu", dtype).as_json() for dtype in ("float32", "float64")}
        measured.cache_clear()
        with threadpoolctl.threadpool_limits(threads, user_api="blas"):
            for case in (c for c in cases(chosen.quick, threads) if chosen.only in str(c)):
                try:
                    rows.append(measure(case, threads, 0.1 if chosen.quick else chosen.seconds))
                except (pk.KernelError, AssertionError, MemoryError) as error:
                    failed.append(f"{case}, {counted(threads)}: {type(error).__name__}: {str(error)[:200]}")
                    continue
                print(line(rows[-1]), flush=True)
                keep(rows, run, path)
        print(summary(rows, threads), flush=True)
    print(
        f"\n{run['device_name']}, numpy {run['versions']['numpy']}, pykern {run['versions']['pykern']}; {origin(run)}"
    )
    for text in failed:
        print(f"FAILED: {text}", file=sys.stderr)
    if rows and not chosen.no_plots:
        try:
            plots(rows, run, path.removesuffix(".json"))
        except ModuleNotFoundError as error:
            print(no_plots(error), file=sys.stderr)
    return int(bool(failed) or not rows)


def line(row: Row) -> str:
    beside = f"{row.numpy / row.loops:5.2f}" if row.loops else "     "
    return (
        f"{row.case:26} {counted(row.threads):9} {row.pykern * 1e6:10.1f} us  numpy {row.numpy * 1e6:10.1f} us  "
        f"ratio {row.ratio:5.2f}  loops {beside}  {row.gflops:6.1f} GFLOP/s  compile {row.compile_ms:4.0f} ms"
    )


def summary(rows: Sequence[Row], threads: int) -> str:
    these = [row for row in rows if row.threads == threads]
    if not these:
        return f"{counted(threads)}: nothing was measured"
    ratios, spent = [row.ratio for row in these], [row.compile_ms for row in these]
    least = [row.compile_least_ms for row in these]
    return (
        f"{counted(threads)}, {len(these)} cases: ratio median {statistics.median(ratios):.2f}, "
        f"worst {min(ratios):.2f}; compile median {statistics.median(spent):.0f} ms, worst {max(spent):.0f} "
        f"(least of seven: {statistics.median(least):.0f}, {max(least):.0f})"
    )


def keep(rows: Sequence[Row], run: dict[str, object], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "pykern-matmul/1", **run, "rows": [asdict(row) for row in rows]}, file, indent=1)


def plots(rows: Sequence[Row], run: dict, path: str) -> None:
    """Ratio against size, and rates below the measured peak, of squares."""
    squares = [row for row in rows if row.case.split()[1:] in (["f32", "nn"], ["f64", "nn"])]
    squares = [row for row in squares if len(set(row.case.split()[0].split("x"))) == 1]
    if not squares:
        return
    note = figures.note([run])
    ratios: dict[str, list[tuple[float, float]]] = {}
    rates: dict[str, list[tuple[float, float]]] = {}
    for row in squares:
        n, name = int(row.case.split("x")[0]), f"{row.case.split()[1]}, {counted(row.threads)}"
        ratios.setdefault(name, []).append((n, row.ratio))
        rates.setdefault(f"pykern {name}", []).append((n, row.gflops))
        rates.setdefault(f"OpenBLAS {name}", []).append((n, row.gflops * row.pykern / row.numpy))
    sizes = [n for points in ratios.values() for n, _ in points]
    figures.lines(
        ratios, f"{path}-ratios.png", "n of n x n x n", "time of OpenBLAS / time of pykern",
        "products of square matrices: above 1 pykern is faster",
        {"level": [(min(sizes), 1.0), (max(sizes), 1.0)]}, logarithmic="x", below=note,
    )  # fmt: skip
    peaks = {
        f"peak, {name}, {counted(threads)}": [
            (n, limits[dtype]["gflop_per_s"]) for n in (min(sizes), max(sizes))
        ]
        for threads, limits in run["limits"].items()
        for name, dtype in (("f32", "float32"), ("f64", "float64"))
    }
    figures.lines(
        rates, f"{path}-rates.png", "n of n x n x n", "GFLOP/s", "products of square matrices, and the measured peak",
        peaks, below=note,
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
