"""Products of matrices beside OpenBLAS (NumPy's): ``python benchmarks/matmul.py [--quick] [--json FILE]``.

Each case is run as an array program (`a @ b`, with ``out=``), and square ones as a program that launches the
naive triple loop too. pykern and NumPy take turns in one process, and the least time of each counts: a busy
machine disturbs both. Times hold the call from Python. Compile times are the compiler's own stages, summed.
Results are checked against float64 with the bound n * eps. OpenBLAS's threads are set with threadpoolctl.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
import threadpoolctl

import pykern as pk


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
    gflops: float

    @property
    def ratio(self) -> float:
        return self.numpy / self.pykern


SQUARES = (64, 67, 100, 127, 128, 200, 251, 256, 384, 509, 512, 777, 1000, 1021, 1024, 2039, 2048, 4096)
OTHERS = (
    (4096, 64, 64), (64, 4096, 64), (64, 64, 4096), (4096, 16, 256), (16, 4096, 256), (2000, 100, 50),
    (2048, 2048, 32), (32, 32, 4096), (1, 2048, 2048), (2048, 1, 2048), (4, 2048, 2048), (2048, 4, 2048),
)  # fmt: skip


def cases(quick: bool) -> Iterator[Case]:
    for dtype in ("f32", "f64"):
        for n in SQUARES:
            if n <= (1024 if quick or dtype == "f64" else 4096):
                yield Case(n, n, n, dtype)
        for m, n, k in OTHERS:
            yield Case(m, n, k, dtype)
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
    compile_ms = sum(stage.ms for stage in program.lower(a, b).stages)
    functions: dict[str, Callable[[], object]] = {
        "pykern": lambda: program(a, b, out=mine),
        "numpy": lambda: np.matmul(x, y, out=theirs),
    }
    if case.form == "nn" and not case.batch and case.m == case.n == case.k:
        functions["loops"] = lambda: loops(a, b, out=third)
    times = least(functions, seconds, 0.21 if threads > 1 else 0.0)
    check(mine, x, y)
    if "loops" in times:
        check(third, x, y)
    work = 2 * max(case.batch, 1) * case.m * case.n * case.k
    return Row(
        str(case), threads, times["pykern"], times["numpy"], times.get("loops", 0.0), compile_ms,
        work / times["pykern"] / 1e9,
    )  # fmt: skip


def least(functions: dict[str, Callable[[], object]], seconds: float, pause: float) -> dict[str, float]:
    """The least time of a call of each; they take turns for about `seconds` in all.

    `pause`: OpenMP's threads wait awake for 0.2 s on the processor that the other library's need.
    """
    best = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    deadline, turns = time.perf_counter() + seconds, 0
    while turns < 3 or time.perf_counter() < deadline:
        turns += 1
        for name, function in functions.items():
            if pause:
                time.sleep(pause)
            spent, calls = 0.0, 0
            while calls < 3 or spent < 0.01:
                started = time.perf_counter()
                function()
                taken = time.perf_counter() - started
                best[name] = min(best[name], taken)
                spent, calls = spent + taken, calls + 1
                if spent > 0.5:
                    break
    return best


def check(found: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """|found - exact| <= n * eps * (|x| @ |y|), the usual bound, on some rows."""
    rows = slice(None, None, max(1, x.shape[-2] // 8))
    wide = x[..., rows, :].astype(np.float64)
    exact, bound = wide @ y.astype(np.float64), np.abs(wide) @ np.abs(y).astype(np.float64)
    limit = x.shape[-1] * np.finfo(found.dtype).eps
    assert np.all(np.abs(found[..., rows, :] - exact) <= limit * bound), "the result is wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--quick", action="store_true", help="up to 1024 only")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each case, about")
    parser.add_argument("--json", metavar="FILE", help="write the rows here too")
    chosen = parser.parse_args()
    rows: list[Row] = []
    for threads in chosen.threads:
        pk.set_num_threads(threads)
        with threadpoolctl.threadpool_limits(threads, user_api="blas"):
            for case in cases(chosen.quick):
                if chosen.only in str(case):
                    row = measure(case, threads, chosen.seconds)
                    rows.append(row)
                    beside = f"{row.numpy / row.loops:5.2f}" if row.loops else "     "
                    print(
                        f"{row.case:26} {threads} thread(s) {row.pykern * 1e6:10.1f} us  numpy "
                        f"{row.numpy * 1e6:10.1f} us  ratio {row.ratio:5.2f}  loops {beside}  "
                        f"{row.gflops:6.1f} GFLOP/s  compile {row.compile_ms:4.0f} ms", flush=True,
                    )  # fmt: skip
        these = [row.ratio for row in rows if row.threads == threads]
        if these:
            spent = [row.compile_ms for row in rows if row.threads == threads]
            print(
                f"{threads} thread(s): OpenBLAS's time over pykern's: median {statistics.median(these):.2f}, "
                f"worst {min(these):.2f}; compile median {statistics.median(spent):.0f} ms, worst {max(spent):.0f}"
            )
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump([asdict(row) for row in rows], file, indent=1)


if __name__ == "__main__":
    main()
