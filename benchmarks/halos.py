"""What an exchange of halos and a step cost: ``mpiexec -n 2 python benchmarks/halos.py``.

Prints, for square grids of f32 on each rank (weak scaling) and on all ranks (strong), the least microseconds of many
runs: an exchange, the kernel alone, and a step of both, with launches in two parts and without. One thread a rank.
"""

import argparse
import time

import pykern as pk


@pk.kernel
def heat(new, t, c, dt):
    i, j = pk.index()
    n, m = t.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        new[i, j] = t[i, j] + dt * c[i, j] * (
            t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1] - 4 * t[i, j]
        )


BATCH = 0.001
"""Seconds of a batch of runs: less than another program takes the processor for."""


def least(grid, run, seconds):
    """Microseconds of a run on the slowest rank: the least mean of short batches. All ranks make as many."""
    for _ in range(3):
        run()
    begun = time.perf_counter()
    run()
    one = grid.allreduce(time.perf_counter() - begun, "min")
    count = max(1, min(100, int(BATCH / one)))
    best = float("inf")
    for _ in range(max(3, int(seconds / (count * one)))):
        begun = time.perf_counter()
        for _ in range(count):
            run()
        best = min(best, (time.perf_counter() - begun) / count)
    return grid.allreduce(best, "max") * 1e6


def measured(shape, seconds):
    found = {}
    for overlap in (False, True):
        grid = pk.mpi.Grid(shape, halo=1, overlap=overlap)
        a, b, c = grid.zeros(pk.f32), grid.zeros(pk.f32), grid.ones(pk.f32)

        def step(grid=grid, a=a, b=b, c=c):
            with grid.exchange(a):
                heat(b, a, c, 0.1, ndrange=grid.local)
            with grid.exchange(b):
                heat(a, b, c, 0.1, ndrange=grid.local)

        found["overlapped" if overlap else "step"] = least(grid, step, seconds) / 2
    found["exchange"] = least(grid, lambda: grid.exchange(a), seconds)
    found["kernel"] = least(grid, lambda: heat(b, a, c, 0.1, ndrange=grid.local), seconds)
    return grid, found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[64, 256, 1024, 2048])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    chosen = parser.parse_args()
    pk.set_num_threads(1)
    ranks = pk.mpi.Grid(1 << 20, halo=1).size
    for size in chosen.sizes:
        for kind, shape in (("weak", (size * ranks, size)), ("strong", (size, size))):
            grid, found = measured(shape, chosen.seconds)
            if grid.rank == 0:
                told = ", ".join(f"{name} {us:.1f}" for name, us in found.items())
                print(f"{grid.size} ranks, {kind} {size}: {told} us", flush=True)


if __name__ == "__main__":
    main()
