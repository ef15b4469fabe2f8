"""Numba: loops as its users write them, `prange` over rows where there are several threads; with and without fastmath.

Products call BLAS, as `@` does in Numba's functions.
"""

from __future__ import annotations

import importlib.util
import math
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from workloads import EPS, A, C, Case, Contender


def prepare(threads: int) -> None:
    numba.set_num_threads(threads)


def jitted(function: Callable, threads: int, fastmath: bool = False) -> Callable:
    """prange is an ordinary range where there is one thread."""
    return numba.njit(function, parallel=threads > 1, fastmath=fastmath)


def _both(
    case: Case, function: Callable, like: np.ndarray, inner: Any = ..., strict: bool = True
) -> Iterator[Contender]:
    """Into a given and into a fresh array, without and with fastmath; sums need it to be vectors."""
    inputs = list(case.arrays.values())
    for name, fastmath in (("numba", False), ("numba fastmath", True)):
        if not (strict or fastmath):
            continue
        compiled, out = jitted(function, case.threads, fastmath), np.zeros_like(like)
        yield Contender(name, lambda f=compiled, out=out: f(out, *inputs) and None, (out[inner],))

        def fresh(f: Callable = compiled) -> np.ndarray:
            made = np.empty_like(like)
            f(made, *inputs)
            return made[inner]

        yield Contender(name, fresh, allocates=True)


def _saxpy(z, x, y):
    a = np.float32(A)
    for i in numba.prange(z.shape[0]):
        z[i] = a * x[i] + y[i]


def _heat(new, old):
    c = np.float32(C)
    for i in numba.prange(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = old[i, j] + c * (
                old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1] - np.float32(4) * old[i, j]
            )


def _softmax(y, x):
    for i in numba.prange(x.shape[0]):
        largest = x[i, 0]
        for k in range(1, x.shape[1]):
            largest = max(largest, x[i, k])
        total = np.float32(0)
        for k in range(x.shape[1]):
            e = math.exp(x[i, k] - largest)
            y[i, k] = e
            total += e
        scale = np.float32(1) / total
        for k in range(x.shape[1]):
            y[i, k] *= scale


def _layernorm(y, x, weight, bias):
    n = np.float32(x.shape[1])
    for i in numba.prange(x.shape[0]):
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k]
        mean = total / n
        squares = np.float32(0)
        for k in range(x.shape[1]):
            d = x[i, k] - mean
            squares += d * d
        scale = np.float32(1) / math.sqrt(squares / n + np.float32(EPS))
        for k in range(x.shape[1]):
            y[i, k] = (x[i, k] - mean) * scale * weight[k] + bias[k]


def _residual_layernorm(y, x, residual, weight, bias):
    n = np.float32(x.shape[1])
    for i in numba.prange(x.shape[0]):
        total = np.float32(0)
        for k in range(x.shape[1]):
            s = x[i, k] + residual[i, k]
            y[i, k] = s
            total += s
        mean = total / n
        squares = np.float32(0)
        for k in range(x.shape[1]):
            d = y[i, k] - mean
            squares += d * d
        scale = np.float32(1) / math.sqrt(squares / n + np.float32(EPS))
        for k in range(x.shape[1]):
            y[i, k] = (y[i, k] - mean) * scale * weight[k] + bias[k]


def _swiglu(y, gate, up):
    for i in numba.prange(gate.shape[0]):
        for j in range(gate.shape[1]):
            y[i, j] = gate[i, j] / (np.float32(1) + math.exp(-gate[i, j])) * up[i, j]


def _matmul(c, a, b):
    np.dot(a, b, c)


def saxpy(case: Case) -> Iterator[Contender]:
    yield from _both(case, _saxpy, case["x"])


def heat(case: Case) -> Iterator[Contender]:
    yield from _both(case, _heat, case["old"], (slice(1, -1), slice(1, -1)))


def softmax(case: Case) -> Iterator[Contender]:
    yield from _both(case, _softmax, case["x"], strict=False)


def layernorm(case: Case) -> Iterator[Contender]:
    yield from _both(case, _layernorm, case["x"], strict=False)


def residual_layernorm(case: Case) -> Iterator[Contender]:
    yield from _both(case, _residual_layernorm, case["x"], strict=False)


def swiglu(case: Case) -> Iterator[Contender]:
    yield from _both(case, _swiglu, case["gate"], strict=False)


def matmul(case: Case) -> Iterator[Contender]:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("Numba's products need SciPy (pip install scipy)")
    inputs, compiled = (case["a"], case["b"]), numba.njit(_matmul)
    c = np.zeros_like(case["a"])
    yield Contender("numba", lambda: compiled(c, *inputs) and None, (c,))


def launch(case: Case) -> Iterator[Contender]:
    def add(z, x, y, a):
        for i in range(z.shape[0]):
            z[i] = a * x[i] + y[i]

    z = np.zeros_like(case["x"])
    names = {"f": numba.njit(add), "z": z, "x": case["x"], "y": case["y"], "a": np.float32(2)}
    timer = timeit.Timer("f(z, x, y, a)", globals=names)
    yield Contender("numba", lambda: timer.timeit(case.workload.calls) and None, (z,))
