"""PolyBench's benchmarks as workloads: arrays with its own initial values, pykern's forms, bytes and operations.

Comes in: sizes. Goes out: `LARGE` (LARGE_DATASET of PolyBench 4.2) and `MINI`, for tests.
Bytes count each array once, read and written ones twice; of stencils once a sweep, though caches may hold the arrays.
"""
# ruff: noqa: N803, N806 (matrices keep their names)

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polybench_kernels as k

from pykern.benchmarking.workload import Arrays, Case, Contender, Workload

ALPHA, BETA = 1.5, 1.2
LONG_FOR_NUMPY = 1_000_000
"""Points of all steps."""


def ramp(*shape: int, divisor: float = 0.0, shift: int = 0, modulo: int = 0) -> np.ndarray:
    """Values as PolyBench makes them: ((i * j + shift) % modulo) / divisor and the like, none of them large."""
    first, *others = np.indices(shape)
    values = first
    for one in others:
        values = values * one
    modulo = modulo or max(shape)
    return ((values + shift) % modulo) / (divisor or modulo)


def program(
    call: Callable[..., Any], names: str, *numbers: Any, label: str = "pykern"
) -> Callable[[Case], Iterator[Contender]]:
    """A program that returns its results: into given arrays."""

    def contenders(case: Case) -> Iterator[Contender]:
        inputs = [case[name] for name in names.split()]
        expected = case.workload.expected(case.arrays)
        outputs = tuple(map(np.empty_like, expected if isinstance(expected, tuple) else (expected,)))
        out = outputs if isinstance(expected, tuple) else outputs[0]
        yield Contender(label, lambda: call(*inputs, *numbers, out=out), outputs)

    return contenders


def updating(
    names: str, updated: str, *ways: tuple[str, Callable[..., Any]]
) -> Callable[[Case], Iterator[Contender]]:
    """Functions of the arrays `names` that change those in `updated`, each on its own copies of them."""

    def contenders(case: Case) -> Iterator[Contender]:
        for label, call in ways:
            yield on_copies(case, label, call, names.split(), updated.split())

    return contenders


def _both(*makers: Callable[[Case], Iterator[Contender]]) -> Callable[[Case], Iterator[Contender]]:
    return lambda case: (one for make in makers for one in make(case))


def on_copies(
    case: Case,
    label: str,
    call: Callable[..., Any],
    names: Sequence[str],
    updated: Sequence[str],
    **more: bool,
) -> Contender:
    """A contender whose arrays are restored before every turn."""
    own: Arrays = {name: case[name].copy() if name in updated else case[name] for name in names}

    def reset() -> None:
        for name in updated:
            np.copyto(own[name], case[name])

    def run() -> None:
        call(*own.values())

    return Contender(label, run, tuple(own[name] for name in updated), reset, **more)


# -- products ------------------------------------------------------------------------------------


def gemm(ni: int, nj: int, nk: int) -> Workload:
    return Workload(
        "gemm", {"size": f"{ni}x{nj}x{nk}"},
        lambda: {"C": ramp(ni, nj, shift=1), "A": ramp(ni, nk, shift=1), "B": ramp(nk, nj, shift=2)},
        program(k.gemm, "C A B", ALPHA, BETA), lambda a: ALPHA * a["A"] @ a["B"] + BETA * a["C"],
        bytes=8 * (ni * nk + nk * nj + 2 * ni * nj), flops=2 * ni * nj * nk + 3 * ni * nj,
        dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def two_mm(ni: int, nj: int, nk: int, nl: int) -> Workload:
    return Workload(
        "2mm", {"size": f"{ni} {nj} {nk} {nl}"},
        lambda: {
            "A": ramp(ni, nk, shift=1), "B": ramp(nk, nj, shift=1),
            "C": ramp(nj, nl, shift=3), "D": ramp(ni, nl, shift=2),
        },
        program(k.two_mm, "A B C D", ALPHA, BETA), lambda a: ALPHA * a["A"] @ a["B"] @ a["C"] + BETA * a["D"],
        bytes=8 * (ni * nk + nk * nj + nj * nl + 2 * ni * nl), flops=2 * ni * nj * (nk + nl), dtype="float64",
        tolerance=1e-11,
    )  # fmt: skip


def three_mm(ni: int, nj: int, nk: int, nl: int, nm: int) -> Workload:
    return Workload(
        "3mm", {"size": f"{ni} {nj} {nk} {nl} {nm}"},
        lambda: {
            "A": ramp(ni, nk, shift=1), "B": ramp(nk, nj, shift=1),
            "C": ramp(nj, nm, shift=3), "D": ramp(nm, nl, shift=2),
        },
        program(k.three_mm, "A B C D"), lambda a: (a["A"] @ a["B"]) @ (a["C"] @ a["D"]),
        bytes=8 * (ni * nk + nk * nj + nj * nm + nm * nl + ni * nl),
        flops=2 * (ni * nj * nk + nj * nl * nm + ni * nj * nl), dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def _lower(C: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(np.tri(len(C), dtype=bool), new, C)


def syrk(n: int, m: int) -> Workload:
    return Workload(
        "syrk", {"size": f"{n} {m}"},
        lambda: {"C": ramp(n, n, shift=2), "A": ramp(n, m, shift=1), "lower": np.tri(n, dtype=bool)},
        _both(program(k.syrk_arrays, "C A lower", ALPHA, BETA, label="pykern arrays"), updating(
            "C A", "C",
            ("pykern", lambda C, A: k.syrk_program(C, A, ALPHA, BETA)),
            ("pykern kernels", lambda C, A: k.syrk(C, A, ALPHA, BETA, ndrange=C.shape)),
        )),
        lambda a: _lower(a["C"], BETA * a["C"] + ALPHA * a["A"] @ a["A"].T),
        bytes=8 * (n * m + n * n), flops=n * n * m, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def syr2k(n: int, m: int) -> Workload:
    return Workload(
        "syr2k", {"size": f"{n} {m}"},
        lambda: {
            "C": ramp(n, n, shift=3), "A": ramp(n, m, shift=1), "B": ramp(n, m, shift=2),
            "lower": np.tri(n, dtype=bool),
        },
        _both(program(k.syr2k_arrays, "C A B lower", ALPHA, BETA, label="pykern arrays"), updating(
            "C A B", "C",
            ("pykern", lambda C, A, B: k.syr2k_program(C, A, B, ALPHA, BETA)),
            ("pykern kernels", lambda C, A, B: k.syr2k(C, A, B, ALPHA, BETA, ndrange=C.shape)),
        )),
        lambda a: _lower(a["C"], BETA * a["C"] + ALPHA * (a["A"] @ a["B"].T + a["B"] @ a["A"].T)),
        bytes=8 * (2 * n * m + n * n), flops=2 * n * n * m, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def trmm(m: int, n: int) -> Workload:
    return Workload(
        "trmm", {"size": f"{m} {n}"},
        lambda: {
            "B": ramp(m, n, shift=1), "A": ramp(m, m, shift=2),
            "strictly_lower": np.tri(m, k=-1, dtype=bool),
        },
        _both(program(k.trmm_arrays, "B A strictly_lower", ALPHA), updating(
            "B A", "B", ("pykern kernels", lambda B, A: k.trmm(B, A, ALPHA, ndrange=n)),
        )),
        lambda a: ALPHA * (a["B"] + np.tril(a["A"], -1).T @ a["B"]),
        bytes=8 * (m * m // 2 + 2 * m * n), flops=m * m * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def symm(m: int, n: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        whole = np.tril(a["A"]) + np.tril(a["A"], -1).T
        return BETA * a["C"] + ALPHA * (whole @ a["B"])

    return Workload(
        "symm", {"size": f"{m} {n}"},
        lambda: {
            "C": ramp(m, n, shift=1), "A": ramp(m, m, shift=2), "B": ramp(m, n, shift=3),
            "lower": np.tri(m, dtype=bool),
        },
        _both(program(k.symm_arrays, "C A B lower", ALPHA, BETA), updating(
            "C A B", "C", ("pykern kernels", lambda C, A, B: k.symm(C, A, B, ALPHA, BETA, ndrange=C.shape)),
        )),
        expected,
        bytes=8 * (m * m // 2 + 3 * m * n), flops=2 * m * m * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def doitgen(nq: int, nr: int, np_: int) -> Workload:
    def ours(case: Case) -> Iterator[Contender]:
        yield from program(k.doitgen_program, "A C4")(case)
        total = np.empty((nr, nq, np_))
        yield on_copies(
            case,
            "pykern kernels",
            lambda A, C4: k.doitgen(A, C4, total, ndrange=(nr, nq)),
            ["A", "C4"],
            ["A"],
        )

    return Workload(
        "doitgen", {"size": f"{nq} {nr} {np_}"},
        lambda: {"A": ramp(nr, nq, np_), "C4": ramp(np_, np_)}, ours, lambda a: a["A"] @ a["C4"],
        bytes=8 * (2 * nr * nq * np_ + np_ * np_), flops=2 * nr * nq * np_ * np_, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


# -- matrices and vectors ------------------------------------------------------------------------


def _vector(n: int, shift: int = 0) -> np.ndarray:
    return (np.arange(n) + shift) / n


def gemver(n: int) -> Workload:
    def expected(a: Arrays) -> tuple[np.ndarray, ...]:
        A = a["A"] + np.outer(a["u1"], a["v1"]) + np.outer(a["u2"], a["v2"])
        x = BETA * A.T @ a["y"] + a["z"]
        return A, x, ALPHA * A @ x

    return Workload(
        "gemver", {"size": n},
        lambda: {
            "A": ramp(n, n), "u1": _vector(n), "v1": _vector(n, 1) / 4,
            "u2": _vector(n, 1) / 2, "v2": _vector(n, 1) / 6,
            "y": _vector(n, 1) / 8, "z": _vector(n, 1) / 9,
        },
        program(k.gemver, "A u1 v1 u2 v2 y z", ALPHA, BETA), expected,
        bytes=8 * (4 * n * n + 8 * n), flops=8 * n * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def gesummv(n: int) -> Workload:
    def ours(case: Case) -> Iterator[Contender]:
        y = np.zeros(n)
        inputs = case["A"], case["B"], case["x"]
        yield Contender("pykern", lambda: k.gesummv(y, *inputs, ALPHA, BETA, ndrange=n), (y,))

    return Workload(
        "gesummv", {"size": n},
        lambda: {"A": ramp(n, n, shift=1), "B": ramp(n, n, shift=2), "x": _vector(n)}, ours,
        lambda a: ALPHA * a["A"] @ a["x"] + BETA * a["B"] @ a["x"],
        bytes=8 * (2 * n * n + 2 * n), flops=4 * n * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def atax(m: int, n: int) -> Workload:
    return Workload(
        "atax", {"size": f"{m} {n}"}, lambda: {"A": ramp(m, n) / 5, "x": 1 + _vector(n)},
        program(k.atax, "A x"), lambda a: a["A"].T @ (a["A"] @ a["x"]),
        bytes=8 * (2 * m * n + 2 * n), flops=4 * m * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def bicg(m: int, n: int) -> Workload:
    return Workload(
        "bicg", {"size": f"{m} {n}"}, lambda: {"A": ramp(n, m, shift=1), "p": _vector(m), "r": _vector(n)},
        program(k.bicg, "A p r"), lambda a: (a["A"].T @ a["r"], a["A"] @ a["p"]),
        bytes=8 * (m * n + 2 * m + 2 * n), flops=4 * m * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


def mvt(n: int) -> Workload:
    return Workload(
        "mvt", {"size": n},
        lambda: {"x1": _vector(n), "x2": _vector(n, 1), "A": ramp(n, n), "y1": _vector(n, 3), "y2": _vector(n, 4)},
        program(k.mvt, "x1 x2 A y1 y2"), lambda a: (a["x1"] + a["A"] @ a["y1"], a["x2"] + a["A"].T @ a["y2"]),
        bytes=8 * (2 * n * n + 6 * n), flops=4 * n * n, dtype="float64", tolerance=1e-11,
    )  # fmt: skip


# -- stencils ------------------------------------------------------------------------------------


def stepped_by_anyone(name: str, a: Arrays, steps: int) -> tuple[np.ndarray, ...]:
    """By Numba where it is installed and worth its compiling, else by NumPy; the two are compared in any case."""
    first = next(iter(a.values()))
    if steps * first.size > LONG_FOR_NUMPY and importlib.util.find_spec("numba"):
        from peers.polybench_numba import stepped
    else:
        from peers.polybench_numpy import stepped
    return stepped(name, a, steps)


def _stepped(name: str, steps: int) -> Callable[[Arrays], tuple[np.ndarray, ...]]:
    return lambda a: stepped_by_anyone(name, a, steps)


def fdtd_2d(steps: int, nx: int, ny: int) -> Workload:
    def launches(ex: Any, ey: Any, hz: Any, source: np.ndarray) -> None:
        for t in source:
            k.fdtd_ey(ey, hz, t, ndrange=ey.shape)
            k.fdtd_ex(ex, hz, ndrange=ex.shape)
            k.fdtd_hz(hz, ex, ey, ndrange=hz.shape)

    return Workload(
        "fdtd-2d", {"size": f"{steps} {nx} {ny}"},
        lambda: {
            "ex": ramp(nx, ny, shift=1), "ey": ramp(nx, ny, shift=2), "hz": ramp(nx, ny, shift=3),
            "source": np.arange(steps, dtype=np.float64),
        },
        updating("ex ey hz source", "ex ey hz", ("pykern", k.fdtd_2d_program), ("pykern kernels", launches)),
        _stepped("fdtd_2d", steps), bytes=8 * 9 * steps * nx * ny, flops=11 * steps * nx * ny,
        dtype="float64", tolerance=1e-10,
    )  # fmt: skip


def _sweeps(name: str, kernel: Any, whole: Any, shape: tuple[int, ...], steps: int, flops: int) -> Workload:
    """Two sweeps a step, from A to B and back."""

    def launches(A: np.ndarray, B: np.ndarray) -> None:
        for _ in range(steps):
            kernel(B, A, ndrange=shape)
            kernel(A, B, ndrange=shape)

    def make() -> Arrays:
        A = sum(np.indices(shape)) * 10.0 / shape[-1]
        return {"A": A, "B": A.copy()}

    points = 2 * steps * int(np.prod(shape))
    return Workload(
        name, {"size": " ".join(map(str, (steps, shape[0])))}, make,
        updating("A B", "A B", ("pykern", lambda A, B: whole(A, B, steps)), ("pykern kernels", launches)),
        _stepped(name.replace("-", "_"), steps), bytes=16 * points, flops=flops * points,
        dtype="float64", tolerance=1e-10,
    )  # fmt: skip


def heat_3d(steps: int, n: int) -> Workload:
    return _sweeps("heat-3d", k.heat_3d, k.heat_3d_program, (n, n, n), steps, 15)


def jacobi_1d(steps: int, n: int) -> Workload:
    return _sweeps("jacobi-1d", k.jacobi_1d, k.jacobi_1d_program, (n,), steps, 3)


def jacobi_2d(steps: int, n: int) -> Workload:
    return _sweeps("jacobi-2d", k.jacobi_2d, k.jacobi_2d_program, (n, n), steps, 5)


LARGE = (
    gemm(1000, 1100, 1200), gemver(2000), gesummv(1300), syr2k(1200, 1000), syrk(1200, 1000), trmm(1000, 1200),
    symm(1000, 1200), two_mm(800, 900, 1100, 1200), three_mm(800, 900, 1000, 1100, 1200), atax(1900, 2100),
    bicg(1900, 2100), doitgen(140, 150, 160), mvt(2000), fdtd_2d(500, 1000, 1200), heat_3d(500, 120),
    jacobi_1d(500, 2000), jacobi_2d(500, 1300),
)  # fmt: skip
MINI = (
    gemm(20, 25, 30), gemver(40), gesummv(30), syr2k(30, 20), syrk(30, 20), trmm(20, 30), symm(20, 30),
    two_mm(16, 18, 22, 24), three_mm(16, 18, 20, 22, 24), atax(38, 42), bicg(38, 42), doitgen(8, 10, 12), mvt(40),
    fdtd_2d(20, 20, 30), heat_3d(20, 10), jacobi_1d(20, 30), jacobi_2d(20, 30),
)  # fmt: skip
