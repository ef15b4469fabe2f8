"""PolyBench's loops under ``numba.njit(fastmath=True)``, in the order that suits caches and vectors, `prange` outside.

One thread: prange is an ordinary range. Products are loops here; BLAS stands in the column of NumPy.
"""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numba import prange
from polybench_workloads import ALPHA, BETA, Arrays, Case, Contender, on_copies

BLOCK = 64


def prepare(threads: int) -> None:
    numba.set_num_threads(threads)


def jitted(function: Callable, threads: int) -> Callable:
    return numba.njit(function, parallel=threads > 1, fastmath=True)


def _updates(case: Case, function: Callable, names: str, updated: str, *more: Any) -> Iterator[Contender]:
    compiled = jitted(function, case.threads)
    yield on_copies(
        case, "numba", lambda *arrays: compiled(*arrays, *more) and None, names.split(), updated.split()
    )


def _writes(case: Case, function: Callable, names: str, shapes: Sequence[Any]) -> Iterator[Contender]:
    """Into new arrays of these shapes, which come first."""
    compiled, outs = jitted(function, case.threads), tuple(np.zeros(shape) for shape in shapes)
    inputs = [case[name] for name in names.split()]
    yield Contender("numba", lambda: compiled(*outs, *inputs) and None, outs)


# -- products ------------------------------------------------------------------------------------


def _product(D, A, B, alpha, beta):
    """D = beta * D + alpha * A @ B"""
    for i in prange(A.shape[0]):
        for j in range(B.shape[1]):
            D[i, j] *= beta
        for k in range(A.shape[1]):
            a = alpha * A[i, k]
            for j in range(B.shape[1]):
                D[i, j] += a * B[k, j]


def gemm(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _product, "C A B", "C", ALPHA, BETA)


def _2mm(case: Case) -> Iterator[Contender]:
    product = jitted(_product, case.threads)
    A, B, C = case["A"], case["B"], case["C"]
    first = np.zeros((len(A), B.shape[1]))

    def both(D: np.ndarray) -> None:
        product(first, A, B, ALPHA, 0.0)
        product(D, first, C, 1.0, BETA)

    yield on_copies(case, "numba", both, ["D"], ["D"])


def _3mm(case: Case) -> Iterator[Contender]:
    product = jitted(_product, case.threads)
    A, B, C, D = (case[name] for name in "ABCD")
    E, F, G = np.zeros((len(A), B.shape[1])), np.zeros((len(C), D.shape[1])), np.zeros((len(A), D.shape[1]))

    def all_three() -> None:
        product(E, A, B, 1.0, 0.0)
        product(F, C, D, 1.0, 0.0)
        product(G, E, F, 1.0, 0.0)

    yield Contender("numba", all_three, (G,), lambda: [x.fill(0.0) for x in (E, F, G)] and None)


def _syrk(C, A, alpha, beta):
    for i in prange(A.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * s


def _syr2k(C, A, B, alpha, beta):
    for i in prange(A.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[j, k] * B[i, k] + B[j, k] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * s


def syrk(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _syrk, "C A", "C", ALPHA, BETA)


def syr2k(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _syr2k, "C A B", "C", ALPHA, BETA)


def _trmm(B, A, alpha):
    m, n = B.shape
    for b in prange((n + BLOCK - 1) // BLOCK):
        first, last = b * BLOCK, min(n, (b + 1) * BLOCK)
        sums = np.empty(last - first)
        for i in range(m):
            for j in range(first, last):
                sums[j - first] = B[i, j]
            for k in range(i + 1, m):
                a = A[k, i]
                for j in range(first, last):
                    sums[j - first] += a * B[k, j]
            for j in range(first, last):
                B[i, j] = alpha * sums[j - first]


def _symm(C, A, B, alpha, beta):
    m, n = C.shape
    for b in prange((n + BLOCK - 1) // BLOCK):
        first, last = b * BLOCK, min(n, (b + 1) * BLOCK)
        sums = np.empty(last - first)
        for i in range(m):
            for j in range(first, last):
                sums[j - first] = 0.0
            for k in range(m):
                a = A[i, k] if k <= i else A[k, i]
                for j in range(first, last):
                    sums[j - first] += a * B[k, j]
            for j in range(first, last):
                C[i, j] = beta * C[i, j] + alpha * sums[j - first]


def trmm(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _trmm, "B A", "B", ALPHA)


def symm(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _symm, "C A B", "C", ALPHA, BETA)


def _doitgen(A, C4):
    for r in prange(A.shape[0]):
        total = np.empty(A.shape[2])
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                total[p] = 0.0
            for s in range(A.shape[2]):
                a = A[r, q, s]
                for p in range(A.shape[2]):
                    total[p] += a * C4[s, p]
            for p in range(A.shape[2]):
                A[r, q, p] = total[p]


def doitgen(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _doitgen, "A C4", "A")


# -- matrices and vectors ------------------------------------------------------------------------


@numba.njit(fastmath=True)
def _times_columns(A, x, first, last, out):
    """out[first:last] += A.T @ x there, row by row"""
    for j in range(A.shape[0]):
        factor = x[j]
        for i in range(first, last):
            out[i] += A[j, i] * factor


def _gemver(A, x, w, u1, v1, u2, v2, y, z):
    n = A.shape[0]
    for i in prange(n):
        for j in range(n):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for b in prange((n + BLOCK - 1) // BLOCK):
        first, last = b * BLOCK, min(n, (b + 1) * BLOCK)
        for i in range(first, last):
            x[i] = 0.0
        _times_columns(A, y, first, last, x)
        for i in range(first, last):
            x[i] = BETA * x[i] + z[i]
    for i in prange(n):
        s = 0.0
        for j in range(n):
            s += A[i, j] * x[j]
        w[i] = ALPHA * s


def gemver(case: Case) -> Iterator[Contender]:
    compiled, n = jitted(_gemver, case.threads), len(case["A"])
    A, x, w = np.empty((n, n)), np.zeros(n), np.zeros(n)
    vectors = [case[name] for name in ("u1", "v1", "u2", "v2", "y", "z")]
    yield Contender(
        "numba", lambda: compiled(A, x, w, *vectors) and None, (A, x, w), lambda: np.copyto(A, case["A"])
    )


def _gesummv(y, A, B, x):
    for i in prange(A.shape[0]):
        left, right = 0.0, 0.0
        for j in range(A.shape[1]):
            left += A[i, j] * x[j]
            right += B[i, j] * x[j]
        y[i] = ALPHA * left + BETA * right


def gesummv(case: Case) -> Iterator[Contender]:
    yield from _writes(case, _gesummv, "A B x", [len(case["x"])])


def _atax(y, t, A, x):
    for i in prange(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        t[i] = s
    n = A.shape[1]
    for b in prange((n + BLOCK - 1) // BLOCK):
        first, last = b * BLOCK, min(n, (b + 1) * BLOCK)
        for i in range(first, last):
            y[i] = 0.0
        _times_columns(A, t, first, last, y)


def atax(case: Case) -> Iterator[Contender]:
    compiled = jitted(_atax, case.threads)
    y, t = np.zeros(case["A"].shape[1]), np.zeros(case["A"].shape[0])
    yield Contender("numba", lambda: compiled(y, t, case["A"], case["x"]) and None, (y,))


def _bicg(s, q, A, p, r):
    for i in prange(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * p[j]
        q[i] = total
    m = A.shape[1]
    for b in prange((m + BLOCK - 1) // BLOCK):
        first, last = b * BLOCK, min(m, (b + 1) * BLOCK)
        for i in range(first, last):
            s[i] = 0.0
        _times_columns(A, r, first, last, s)


def bicg(case: Case) -> Iterator[Contender]:
    n, m = case["A"].shape
    yield from _writes(case, _bicg, "A p r", [m, n])


def _mvt(x1, x2, A, y1, y2):
    n = A.shape[0]
    for i in prange(n):
        s = 0.0
        for j in range(n):
            s += A[i, j] * y1[j]
        x1[i] += s
    for b in prange((n + BLOCK - 1) // BLOCK):
        _times_columns(A, y2, b * BLOCK, min(n, (b + 1) * BLOCK), x2)


def mvt(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _mvt, "x1 x2 A y1 y2", "x1 x2")


# -- stencils ------------------------------------------------------------------------------------


def _fdtd_2d(ex, ey, hz, source):
    nx, ny = ex.shape
    for t in range(len(source)):
        for j in range(ny):
            ey[0, j] = source[t]
        for i in prange(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in prange(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def _heat_3d(A, B, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


def _jacobi_1d(A, B, steps):
    for _ in range(steps):
        for i in prange(1, len(A) - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in prange(1, len(A) - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def _jacobi_2d(A, B, steps):
    for _ in range(steps):
        for i in prange(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in prange(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def fdtd_2d(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _fdtd_2d, "ex ey hz source", "ex ey hz")


def _steps(case: Case) -> int:
    return int(str(case.workload.config["size"]).split()[0])


def heat_3d(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _heat_3d, "A B", "A B", _steps(case))


def jacobi_1d(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _jacobi_1d, "A B", "A B", _steps(case))


def jacobi_2d(case: Case) -> Iterator[Contender]:
    yield from _updates(case, _jacobi_2d, "A B", "A B", _steps(case))


def stepped(name: str, a: Arrays, steps: int) -> tuple[np.ndarray, ...]:
    """What is expected of a stencil: the loops, strict, in one thread, on copies."""
    if name == "fdtd_2d":
        ex, ey, hz = (a[one].copy() for one in ("ex", "ey", "hz"))
        numba.njit(_fdtd_2d)(ex, ey, hz, a["source"])
        return ex, ey, hz
    A, B = a["A"].copy(), a["B"].copy()
    numba.njit(globals()[f"_{name}"])(A, B, steps)
    return A, B
