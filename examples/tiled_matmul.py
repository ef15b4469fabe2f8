"""A matrix product by tiles: shared memory, barriers, and edges that are no whole tile.

A workgroup of 16 x 16 work-items makes a tile of C. Tile by tile along the inner dimension, its items load
one element each of A and of B into shared memory, meet, and multiply from there: each element is read from
main memory once a workgroup instead of 16 times.

    python examples/tiled_matmul.py
"""

from __future__ import annotations

import time

import numpy as np

import pykern as pk

TILE = 16


@pk.kernel(workgroup=(TILE, TILE))
def matmul(c, a, b):
    """c = a @ b for f32 matrices of any size; outside of a matrix the tiles hold zeros."""
    row, column = pk.index()
    y, x = pk.local_index()
    rows, inner = a.shape
    columns = b.shape[1]
    a_tile = pk.shared((TILE, TILE), pk.f32)
    b_tile = pk.shared((TILE, TILE), pk.f32)

    total = pk.f32(0)
    for start in range(0, inner, TILE):
        a_tile[y, x] = a[row, start + x] if row < rows and start + x < inner else 0.0
        b_tile[y, x] = b[start + y, column] if start + y < inner and column < columns else 0.0
        pk.barrier()  # the tiles are whole
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        pk.barrier()  # the tiles may be written again
    if row < rows and column < columns:
        c[row, column] = total


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b. The index space is rounded up to whole tiles: all of a workgroup meet at a barrier."""
    c = np.empty((a.shape[0], b.shape[1]), np.float32)
    matmul(c, a, b, ndrange=tuple(pk.cdiv(side, TILE) * TILE for side in c.shape))
    return c


def main() -> None:
    rng = np.random.default_rng(0)
    for m, k, n in ((512, 512, 512), (500, 300, 700), (17, 33, 65), (1, 1, 1), (16, 1, 31)):
        a = rng.standard_normal((m, k), dtype=np.float32)
        b = rng.standard_normal((k, n), dtype=np.float32)
        multiply(a, b)  # compiles
        started = time.perf_counter()
        c = multiply(a, b)
        seconds = time.perf_counter() - started

        expected = a.astype(np.float64) @ b.astype(np.float64)
        # A dot product of k terms in f32 is off by at most k eps sum |a| |b| [Higham 2002, section 3.1].
        bound = k * np.finfo(np.float32).eps * (np.abs(a).astype(np.float64) @ np.abs(b))
        assert (np.abs(c - expected) <= bound).all()
        print(
            f"{m:4} x {k:3} x {n:3}   {2e-9 * m * k * n / seconds:7.2f} GFLOP/s   "
            f"off by {np.abs(c - expected).max():.1e}, bound {bound.max():.1e}"
        )
    print("same as NumPy")


if __name__ == "__main__":
    main()
