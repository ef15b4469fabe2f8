"""The team of threads beside Intel's OpenMP and GCC's: the time to give a loop to threads and wait for it.

    python benchmarks/team.py [--rounds N] [--blocks N] [--threads N]

Each row is an amount of work in one thread; each library has its turn in many short blocks, one behind the other, so
that what else runs on the machine meets all of them alike. The figures are medians over blocks of the blocks' medians,
in microseconds, and in brackets the tenth and the ninetieth percent. "paused": a millisecond of sleep before each.
Libraries that are not there are left out.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics

import numpy as np

import pykern as pk
from pykern.data.abi import TABLE_INDEX
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.linker import link_shared
from pykern.runtime.cpu_table import table
from pykern.runtime.loader import open_library
from pykern.runtime.team import team

WORK = (5, 25, 250, 2500)
"""Microseconds of one thread, about."""
CODE = """
declare i32 @clock_gettime(i32, ptr)
declare i32 @nanosleep(ptr, ptr)

define i64 @now() {
  %t = alloca [2 x i64]
  call i32 @clock_gettime(i32 1, ptr %t)
  %s = load i64, ptr %t
  %np = getelementptr i64, ptr %t, i64 1
  %n = load i64, ptr %np
  %ns = mul i64 %s, 1000000000
  %r = add i64 %ns, %n
  ret i64 %r
}

define void @burn(ptr %data, i64 %lo, i64 %hi) {
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ %lo, %0 ], [ %next, %loop ]
  %s = phi double [ 0.0, %0 ], [ %t, %loop ]
  %f = sitofp i64 %i to double
  %m = fmul double %s, 0.999
  %t = fadd double %m, %f
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %loop, label %end
end:
  %sink = alloca double
  store volatile double %t, ptr %sink
  br label %done
done:
  ret void
}

; data: amount, omp_get_thread_num, omp_get_num_threads
define void @share(ptr %data) {
  %amount = load i64, ptr %data
  %np = getelementptr ptr, ptr %data, i64 1
  %nf = load ptr, ptr %np
  %n32 = call i32 %nf()
  %n = sext i32 %n32 to i64
  %tp = getelementptr ptr, ptr %data, i64 2
  %tf = load ptr, ptr %tp
  %t32 = call i32 %tf()
  %t = sext i32 %t32 to i64
  %a = mul i64 %amount, %n
  %lo = sdiv i64 %a, %t
  %b = add i64 %a, %amount
  %hi = sdiv i64 %b, %t
  call void @burn(ptr null, i64 %lo, i64 %hi)
  ret void
}

define void @measure(ptr %fork, i64 %own, ptr %data, i64 %threads, i64 %parts, i64 %rounds, i64 %pause, ptr %times) {
  %t = alloca [2 x i64]
  store i64 0, ptr %t
  %tp = getelementptr i64, ptr %t, i64 1
  store i64 %pause, ptr %tp
  %amount = load i64, ptr %data
  %is_own = icmp eq i64 %own, 1
  %sleeps = icmp sgt i64 %pause, 0
  %threads32 = trunc i64 %threads to i32
  br label %loop
loop:
  %r = phi i64 [ 0, %0 ], [ %next, %after ]
  br i1 %sleeps, label %sleep, label %go
sleep:
  call i32 @nanosleep(ptr %t, ptr null)
  br label %go
go:
  %begin = call i64 @now()
  br i1 %is_own, label %ours, label %theirs
ours:
  call void %fork(ptr @burn, ptr null, i64 %amount, i64 %threads, i64 %parts)
  br label %after
theirs:
  call void %fork(ptr @share, ptr %data, i32 %threads32, i32 0)
  br label %after
after:
  %end = call i64 @now()
  %took = sub i64 %end, %begin
  %place = getelementptr i64, ptr %times, i64 %r
  store i64 %took, ptr %place
  %next = add i64 %r, 1
  %more = icmp slt i64 %next, %rounds
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


def forks(threads: int) -> dict[str, tuple[int, tuple[int, int]]]:
    """Addresses of what shares work, and of what tells a thread's number and the team's size."""
    found = {}
    os.environ.setdefault("KMP_BLOCKTIME", "200")
    beside = os.path.normpath(os.path.join(os.path.dirname(np.__file__), "..", "..", "..", "libiomp5.so"))
    for name, path in (("libiomp5", beside), ("libgomp", "libgomp.so.1")):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        address = {
            each: ctypes.cast(getattr(library, each), ctypes.c_void_p).value or 0
            for each in ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")
        }
        found[name] = (
            address["GOMP_parallel"],
            (address["omp_get_thread_num"], address["omp_get_num_threads"]),
        )
    return {"pykern": (table()[TABLE_INDEX["pk_fork"]], (0, 0))} | found


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rounds", type=int, default=200)
    options.add_argument("--blocks", type=int, default=15)
    options.add_argument("--threads", type=int, default=pk.get_num_threads())
    given = options.parse_args()

    @pk.kernel
    def first(x):
        x[pk.index()] = 1.0

    first(np.zeros(1), ndrange=1)
    if not team.loaded:
        raise SystemExit("there is no team of threads on this system")
    library = open_library(link_shared(*generate(CODE, (), ("measure",)).objects))
    numbers = [ctypes.c_int64] * 4
    takes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, *numbers, ctypes.c_void_p)
    measure = library.function("measure", None, *takes)
    times = np.zeros(given.rounds, np.int64)
    sides = forks(given.threads)

    def block(name: str, amount: int, threads: int, parts: int, pause: int, rounds: int) -> np.ndarray:
        fork, asks = sides[name]
        data = (ctypes.c_int64 * 3)(amount, *asks)
        measure(
            fork, name == "pykern", ctypes.addressof(data), threads, parts, rounds, pause, times.ctypes.data
        )
        return times[:rounds] / 1e3

    alone = 1_000_000
    per_us = alone / min(float(np.median(block("pykern", alone, 1, 1, 0, 5))) for _ in range(5))
    print(f"{given.threads} threads; us: median of {given.blocks} blocks [10 %, 90 % of all]")
    print(f"{'one thread':>12}{'':10}" + "".join(f"{name:>28}" for name in sides))
    for pause, word in ((0, "in turn"), (1_000_000, "paused")):
        for work in WORK:
            amount, parts = int(work * per_us), max(given.threads, min(4 * given.threads, work // 40))
            found: dict[str, list[np.ndarray]] = {name: [] for name in sides}
            for _ in range(given.blocks):
                for name in sides:
                    rounds = given.rounds if not pause else max(10, given.rounds // 10)
                    found[name].append(block(name, amount, given.threads, parts, pause, rounds).copy())
            row = ""
            for all_blocks in found.values():
                middle = statistics.median(float(np.median(each)) for each in all_blocks)
                low, high = np.percentile(np.concatenate(all_blocks), [10, 90])
                row += f"{f'{middle:.1f} [{low:.1f}, {high:.1f}]':>28}"
            print(f"{work:>9} us  {word:>8}{row}", flush=True)


if __name__ == "__main__":
    main()
