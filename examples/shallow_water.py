"""Water in a basin, on one rank or many: the same bits for any number of them.

The linear shallow-water equations on a staggered grid: the height stands at the middle of each cell, the velocities on
its faces. Run it as ``python examples/shallow_water.py`` or ``mpiexec -n 4 python examples/shallow_water.py``; with
``--output heights.npy`` rank 0 writes the last heights.
"""

import argparse
import time

import numpy as np

import pykern as pk

G, H = 9.81, 100.0
"""Gravity in m/s2 and the depth at rest in m."""


@pk.kernel
def accelerate(u, v, h, du, dv):
    """Velocities on the faces inside: each from the heights on its two sides."""
    i, j = pk.index()
    n, m = h.shape
    if 0 < i < n and j < m:
        u[i, j] -= du * (h[i, j] - h[i - 1, j])
    if i < n and 0 < j < m:
        v[i, j] -= dv * (h[i, j] - h[i, j - 1])


@pk.kernel
def flow(h, u, v, dh):
    """Heights, from what comes in through the faces of the cell."""
    i, j = pk.index()
    h[i, j] -= dh * ((u[i + 1, j] - u[i, j]) + (v[i, j + 1] - v[i, j]))


def run(shape: tuple[int, int], steps: int, dx: float = 1000.0) -> tuple[pk.mpi.Grid, np.ndarray, float]:
    """Some steps of a drop that falls into the basin: the grid, this rank's heights, and seconds a step."""
    grid = pk.mpi.Grid(shape, halo=1)
    h, u, v = grid.zeros(pk.f64), grid.zeros(pk.f64, extra=(1, 0)), grid.zeros(pk.f64, extra=(0, 1))
    i, j = np.indices(grid.local)
    x, y = grid.x_g(i) / grid.nx_g - 0.4, grid.y_g(j) / grid.ny_g - 0.3
    h[...] = np.exp(-(x * x + y * y) / 0.01)
    dt = 0.5 * dx / np.sqrt(2 * G * H)
    best = np.inf
    for _ in range(steps):
        begun = time.perf_counter()
        with grid.exchange(h):
            accelerate(u, v, h, dt * G / dx, dt * G / dx, ndrange=grid.local)
        with grid.exchange(u, v):
            flow(h, u, v, dt * H / dx, ndrange=grid.local)
        best = min(best, time.perf_counter() - begun)
    return grid, h, grid.allreduce(best, "max")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=2, default=(200, 160), metavar=("NX", "NY"))
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--output", help="a file of NumPy's for the heights")
    parser.add_argument(
        "--weak", action="store_true", help="the shape is that of each rank: more ranks, more water"
    )
    chosen = parser.parse_args()
    ranks = pk.mpi.Grid(1 << 20, halo=1).size
    shape = (chosen.shape[0] * (ranks if chosen.weak else 1), chosen.shape[1])
    grid, h, seconds = run(shape, chosen.steps)
    if chosen.output:
        grid.save(chosen.output, h)
    water = grid.allreduce(h[grid.owned(h)].sum())
    if grid.rank == 0:
        print(f"{grid.size} ranks of {grid.local}: {water:.9g} cells of water, {seconds * 1e6:.1f} us a step")


if __name__ == "__main__":
    main()
