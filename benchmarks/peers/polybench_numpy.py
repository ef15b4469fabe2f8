"""PolyBench in NumPy: BLAS where there is a product, slices with as few temporaries as is natural elsewhere.

trmm and symm are also BLAS's own, where SciPy is installed.

Stencils use one thread whatever the process has: they run in the process with one thread only.
"""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from polybench_workloads import ALPHA, BETA, Arrays, Case, Contender, on_copies, stepped_by_anyone

try:
    from scipy.linalg import blas as scipy_blas
except ImportError:
    scipy_blas: Any = None


def _into(case: Case, function: Callable[..., None], *outs: np.ndarray, **more: bool) -> Iterator[Contender]:
    yield Contender("numpy", lambda: function(*outs), outs, **more)


def gemm(case: Case) -> Iterator[Contender]:
    A, B = case["A"], case["B"]
    product = np.empty_like(case["C"])

    def run(C: np.ndarray) -> None:
        np.matmul(A, B, out=product)
        C *= BETA
        np.multiply(product, ALPHA, out=product)
        C += product

    yield on_copies(case, "numpy", run, ["C"], ["C"])


def _2mm(case: Case) -> Iterator[Contender]:
    A, B, C, D = (case[name] for name in "ABCD")

    def run(out: np.ndarray) -> None:
        first = A @ B
        first *= ALPHA
        np.matmul(first, C, out=out)
        out += BETA * D

    yield from _into(case, run, np.empty_like(D))


def _3mm(case: Case) -> Iterator[Contender]:
    A, B, C, D = (case[name] for name in "ABCD")
    yield from _into(case, lambda out: np.matmul(A @ B, C @ D, out=out), np.empty((len(A), D.shape[1])))


def syrk(case: Case) -> Iterator[Contender]:
    A, lower = case["A"], np.tri(len(case["C"]), dtype=bool)

    def run(C: np.ndarray) -> None:
        np.copyto(C, BETA * C + ALPHA * (A @ A.T), where=lower)

    yield on_copies(case, "numpy", run, ["C"], ["C"])


def syr2k(case: Case) -> Iterator[Contender]:
    A, B, lower = case["A"], case["B"], np.tri(len(case["C"]), dtype=bool)

    def run(C: np.ndarray) -> None:
        product = A @ B.T
        np.copyto(C, BETA * C + ALPHA * (product + product.T), where=lower)

    yield on_copies(case, "numpy", run, ["C"], ["C"])


def trmm(case: Case) -> Iterator[Contender]:
    A, B = case["A"], case["B"]

    def run(out: np.ndarray) -> None:
        np.matmul(np.tril(A, -1).T, B, out=out)
        out += B
        out *= ALPHA

    yield from _into(case, run, np.empty_like(B))
    if scipy_blas is not None:
        # in place; its matrices lie by columns: B.T = ALPHA * B.T @ (A with ones on the diagonal)
        def in_place(B: np.ndarray) -> None:
            scipy_blas.dtrmm(ALPHA, A.T, B.T, side=1, trans_a=1, diag=1, overwrite_b=1)

        yield on_copies(case, "scipy", in_place, ["B"], ["B"])


def symm(case: Case) -> Iterator[Contender]:
    A, B, lower = case["A"], case["B"], np.tri(len(case["A"]), dtype=bool)

    def run(C: np.ndarray) -> None:
        product = np.where(lower, A, A.T) @ B
        product *= ALPHA
        C *= BETA
        C += product

    yield on_copies(case, "numpy", run, ["C"], ["C"])
    if scipy_blas is not None:

        def in_place(C: np.ndarray) -> None:
            scipy_blas.dsymm(ALPHA, A.T, B.T, BETA, C.T, side=1, overwrite_c=1)

        yield on_copies(case, "scipy", in_place, ["C"], ["C"])


def doitgen(case: Case) -> Iterator[Contender]:
    A, C4 = case["A"], case["C4"]
    flat, out = A.reshape(-1, A.shape[2]), np.empty_like(A)
    yield Contender("numpy", lambda: np.matmul(flat, C4, out=out.reshape(flat.shape)) is None, (out,))


def gemver(case: Case) -> Iterator[Contender]:
    a = case.arrays

    def run(A: np.ndarray, x: np.ndarray, w: np.ndarray) -> None:
        np.multiply(a["u1"][:, None], a["v1"], out=A)
        A += a["A"]
        A += np.outer(a["u2"], a["v2"])
        np.matmul(a["y"], A, out=x)
        x *= BETA
        x += a["z"]
        np.matmul(A, x, out=w)
        w *= ALPHA

    n = len(a["A"])
    yield from _into(case, run, np.empty((n, n)), np.empty(n), np.empty(n))


def gesummv(case: Case) -> Iterator[Contender]:
    A, B, x = case["A"], case["B"], case["x"]

    def run(y: np.ndarray) -> None:
        np.matmul(A, x, out=y)
        y *= ALPHA
        y += BETA * (B @ x)

    yield from _into(case, run, np.empty_like(x))


def atax(case: Case) -> Iterator[Contender]:
    A, x = case["A"], case["x"]
    yield from _into(case, lambda y: np.matmul(A @ x, A, out=y), np.empty_like(x))


def bicg(case: Case) -> Iterator[Contender]:
    A, p, r = case["A"], case["p"], case["r"]

    def run(s: np.ndarray, q: np.ndarray) -> None:
        np.matmul(r, A, out=s)
        np.matmul(A, p, out=q)

    yield from _into(case, run, np.empty_like(p), np.empty_like(r))


def mvt(case: Case) -> Iterator[Contender]:
    A, y1, y2 = case["A"], case["y1"], case["y2"]

    def run(x1: np.ndarray, x2: np.ndarray) -> None:
        x1 += A @ y1
        x2 += y2 @ A

    yield on_copies(case, "numpy", run, ["x1", "x2"], ["x1", "x2"])


# -- stencils ------------------------------------------------------------------------------------


def _alone(case: Case, name: str, names: str, updated: str) -> Iterator[Contender]:
    """A tenth of the steps, the time taken ten times: all of them take half a minute and more."""
    if case.threads > 1:
        raise NotImplementedError("one thread, whatever the process has: see 1 thread")
    steps = int(str(case.workload.config["size"]).split()[0])
    few = max(1, steps // 10)
    arrays = case.arrays | ({"source": case["source"][:few]} if "source" in case.arrays else {})
    run = _fdtd if name == "fdtd_2d" else _both_ways(name, few)
    part = Case(case.workload, arrays, case.threads)
    yield on_copies(
        part, "numpy, a tenth", run, names.split(), updated.split(),
        part=few / steps, expected=lambda: stepped_by_anyone(name, arrays, few),
    )  # fmt: skip


def _fdtd(ex: np.ndarray, ey: np.ndarray, hz: np.ndarray, source: np.ndarray) -> None:
    waste = np.empty_like(hz)
    down, right, inner = waste[1:], waste[:, 1:], waste[:-1, :-1]
    for t in source:
        np.subtract(hz[1:], hz[:-1], out=down)
        down *= 0.5
        ey[0] = t
        ey[1:] -= down
        np.subtract(hz[:, 1:], hz[:, :-1], out=right)
        right *= 0.5
        ex[:, 1:] -= right
        np.subtract(ex[:-1, 1:], ex[:-1, :-1], out=inner)
        inner += ey[1:, :-1]
        inner -= ey[:-1, :-1]
        inner *= 0.7
        hz[:-1, :-1] -= inner


def _sweep_heat(to: np.ndarray, A: np.ndarray) -> None:
    inner, new = A[1:-1, 1:-1, 1:-1], to[1:-1, 1:-1, 1:-1]
    np.add(A[2:, 1:-1, 1:-1], A[:-2, 1:-1, 1:-1], out=new)
    for one in (A[1:-1, 2:, 1:-1], A[1:-1, :-2, 1:-1], A[1:-1, 1:-1, 2:], A[1:-1, 1:-1, :-2]):
        new += one
    new *= 0.125
    new += 0.25 * inner


def _sweep_line(to: np.ndarray, A: np.ndarray) -> None:
    new = to[1:-1]
    np.add(A[:-2], A[1:-1], out=new)
    new += A[2:]
    new *= 0.33333


def _sweep_plane(to: np.ndarray, A: np.ndarray) -> None:
    new = to[1:-1, 1:-1]
    np.add(A[1:-1, 1:-1], A[1:-1, :-2], out=new)
    for one in (A[1:-1, 2:], A[2:, 1:-1], A[:-2, 1:-1]):
        new += one
    new *= 0.2


_SWEEPS = {"heat_3d": _sweep_heat, "jacobi_1d": _sweep_line, "jacobi_2d": _sweep_plane}


def _both_ways(name: str, steps: int) -> Callable[..., None]:
    def run(A: np.ndarray, B: np.ndarray) -> None:
        for _ in range(steps):
            _SWEEPS[name](B, A)
            _SWEEPS[name](A, B)

    return run


def fdtd_2d(case: Case) -> Iterator[Contender]:
    yield from _alone(case, "fdtd_2d", "ex ey hz source", "ex ey hz")


def heat_3d(case: Case) -> Iterator[Contender]:
    yield from _alone(case, "heat_3d", "A B", "A B")


def jacobi_1d(case: Case) -> Iterator[Contender]:
    yield from _alone(case, "jacobi_1d", "A B", "A B")


def jacobi_2d(case: Case) -> Iterator[Contender]:
    yield from _alone(case, "jacobi_2d", "A B", "A B")


def stepped(name: str, a: Arrays, steps: int) -> tuple[np.ndarray, ...]:
    """What is expected of a stencil: `steps` steps on copies."""
    if name == "fdtd_2d":
        ex, ey, hz = (a[one].copy() for one in ("ex", "ey", "hz"))
        _fdtd(ex, ey, hz, a["source"])
        return ex, ey, hz
    A, B = a["A"].copy(), a["B"].copy()
    _both_ways(name, steps)(A, B)
    return A, B
