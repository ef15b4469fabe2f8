"""What `cpu` and `scaling` measure, declared once: arrays, pykern's forms, what is expected, bytes and operations.

The kernels are pykern's own (`pykern.benchmarking.kernels`), as ``pykern bench --suite`` uses them. Peers have their
forms in ``peers/``, in functions of the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pykern as pk
from pykern.benchmarking.kernels import (
    attention,
    heat,
    layernorm,
    matmul,
    residual_layernorm,
    saxpy,
    softmax,
    swiglu,
)
from pykern.benchmarking.workload import Arrays, Case, Contender, Workload

A, C, EPS = 2.5, 0.1, 1e-5
"""The factors of saxpy and heat, and what layer norms add to the variance."""

__all__ = ["heat", "layernorm", "saxpy", "softmax"]


def _ours(output: str, launch: Callable[[Any, Case], Any]) -> Callable[[Case], Iterator[Contender]]:
    """A kernel into a given array and into a fresh one; results are shaped like the array `output`."""

    def contenders(case: Case) -> Iterator[Contender]:
        out = np.zeros_like(case[output])
        yield Contender("pykern", lambda: launch(out, case), (out,))

        def fresh() -> Any:
            made = pk.empty_like(case[output])
            launch(made, case)
            return made

        yield Contender("pykern", fresh, allocates=True)

    return contenders


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# -- along memory --------------------------------------------------------------------------------


def saxpy_of(n: int, label: str) -> Workload:
    return Workload(
        "saxpy", {"n": label}, lambda: {"x": _random(n), "y": _random(n, 1)[:, 0]},
        _ours("x", lambda out, c: saxpy(out, c["x"], c["y"], A, ndrange=n)),
        lambda a: np.float32(A) * a["x"] + a["y"], bytes=12 * n, flops=2 * n, tolerance=1e-6,
    )  # fmt: skip


def heat_of(n: int) -> Workload:
    def ours(case: Case) -> Iterator[Contender]:
        out = np.zeros_like(case["old"])
        yield Contender("pykern", lambda: heat(out, case["old"], C, ndrange=out.shape), (out[1:-1, 1:-1],))

        def fresh() -> np.ndarray:
            made = pk.empty_like(case["old"])
            heat(made, case["old"], C, ndrange=made.shape)
            return made[1:-1, 1:-1]

        yield Contender("pykern", fresh, allocates=True)

    def expected(a: Arrays) -> np.ndarray:
        old = a["old"].astype(np.float64)
        inner = old[1:-1, 1:-1]
        return inner + C * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * inner)

    return Workload(
        "heat", {"n": f"{n}^2"}, lambda: {"old": _random(n, n)}, ours, expected,
        bytes=8 * n * n, flops=7 * n * n,
    )  # fmt: skip


# -- rows ----------------------------------------------------------------------------------------


def softmax_of(rows: int, columns: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        e = np.exp(a["x"] - a["x"].max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    size = rows * columns
    return Workload(
        "softmax", {"n": f"{rows}x{columns}"}, lambda: {"x": _normal(rows, columns)},
        _ours("x", lambda out, c: softmax(out, c["x"], ndrange=rows)), expected,
        bytes=8 * size, flops=5 * size,
    )  # fmt: skip


def _norm(a: Arrays, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + EPS) * a["weight"] + a["bias"]


def _parameters(columns: int) -> Arrays:
    return {"weight": _random(columns), "bias": _random(columns, 1)[:, 0]}


def layernorm_of(rows: int, columns: int) -> Workload:
    size = rows * columns
    return Workload(
        "layernorm", {"n": f"{rows}x{columns}"},
        lambda: {"x": _normal(rows, columns), **_parameters(columns)},
        _ours("x", lambda out, c: layernorm(out, c["x"], c["weight"], c["bias"], EPS, ndrange=rows)),
        lambda a: _norm(a, a["x"]), bytes=8 * (size + columns), flops=8 * size, tolerance=1e-5,
    )  # fmt: skip


def residual_layernorm_of(rows: int, columns: int) -> Workload:
    size = rows * columns
    return Workload(
        "residual_layernorm", {"n": f"{rows}x{columns}"},
        lambda: {"x": _normal(rows, columns), "residual": _normal(rows, columns, seed=1), **_parameters(columns)},
        _ours(
            "x",
            lambda out, c: residual_layernorm(out, c["x"], c["residual"], c["weight"], c["bias"], EPS, ndrange=rows),
        ),
        lambda a: _norm(a, a["x"] + a["residual"]), bytes=12 * size + 8 * columns, flops=9 * size, tolerance=1e-5,
    )  # fmt: skip


def swiglu_of(rows: int, columns: int) -> Workload:
    size = rows * columns
    return Workload(
        "swiglu", {"n": f"{rows}x{columns}"},
        lambda: {"gate": _normal(rows, columns), "up": _normal(rows, columns, seed=1)},
        _ours("gate", lambda out, c: swiglu(out, c["gate"], c["up"], ndrange=out.shape)),
        lambda a: a["gate"] / (1 + np.exp(-a["gate"])) * a["up"], bytes=12 * size, flops=5 * size,
    )  # fmt: skip


# -- products ------------------------------------------------------------------------------------


def matmul_of(n: int) -> Workload:
    def ours(case: Case) -> Iterator[Contender]:
        out = np.zeros((n, n), np.float32)
        yield Contender("pykern", lambda: matmul(case["a"], case["b"], out=out), (out,))
        yield Contender("pykern", lambda: matmul(case["a"], case["b"]), allocates=True)

    return Workload(
        "matmul", {"n": f"{n}^3"}, lambda: {"a": _random(n, n), "b": _normal(n, n)}, ours,
        lambda a: a["a"].astype(np.float64) @ a["b"].astype(np.float64), bytes=12 * n * n, flops=2 * n**3,
    )  # fmt: skip


def attention_of(heads: int, length: int, width: int) -> Workload:
    shape, scale = (heads, length, width), width**-0.5

    def ours(case: Case) -> Iterator[Contender]:
        out = np.zeros(shape, np.float32)
        inputs = case["q"], case["k"], case["v"], scale
        yield Contender("pykern", lambda: attention(*inputs, out=out), (out,))
        yield Contender("pykern", lambda: attention(*inputs), allocates=True)

    def expected(a: Arrays) -> np.ndarray:
        scores = a["q"].astype(np.float64) @ a["k"].transpose(0, 2, 1) * scale
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ a["v"]

    pairs = heads * length * length
    return Workload(
        "attention", {"n": f"b1 h{heads} s{length} d{width}"},
        lambda: {"q": _normal(*shape), "k": _normal(*shape, seed=1), "v": _normal(*shape, seed=2)}, ours, expected,
        bytes=16 * heads * length * width, flops=pairs * (4 * width + 5), tolerance=1e-5,
    )  # fmt: skip


TABLE = (
    saxpy_of(1 << 24, "2^24"),
    heat_of(4096),
    softmax_of(4096, 1024),
    layernorm_of(4096, 1024),
    swiglu_of(4096, 1024),
    residual_layernorm_of(4096, 1024),
    matmul_of(1024),
    attention_of(8, 512, 64),
)
SMALL = (
    saxpy_of(1000, "1000"),
    heat_of(33),
    softmax_of(7, 65),
    layernorm_of(7, 65),
    swiglu_of(7, 65),
    residual_layernorm_of(7, 65),
    matmul_of(64),
    attention_of(2, 16, 8),
)
"""The same at sizes for tests."""
