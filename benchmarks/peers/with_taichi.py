"""Taichi on the CPU: kernels over NumPy's arrays, its outermost loops on so many threads.

Taichi reads annotations as they are, so they must not be strings here.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import taichi as ti
from workloads import EPS, A, C, Case, Contender

F, G = ti.types.ndarray(ti.f32, 1), ti.types.ndarray(ti.f32, 2)


def prepare(threads: int) -> None:
    ti.init(arch=ti.cpu, cpu_max_num_threads=threads, log_level=ti.ERROR, offline_cache=False)


@ti.kernel
def _saxpy(z: F, x: F, y: F, a: ti.f32):
    for i in range(x.shape[0]):
        z[i] = a * x[i] + y[i]


@ti.kernel
def _heat(new: G, old: G, c: ti.f32):
    for i in range(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            around = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
            new[i, j] = old[i, j] + c * (around - 4.0 * old[i, j])


@ti.kernel
def _softmax(y: G, x: G):
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for k in range(x.shape[1]):
            largest = ti.max(largest, x[i, k])
        total = 0.0
        for k in range(x.shape[1]):
            e = ti.exp(x[i, k] - largest)
            y[i, k] = e
            total += e
        for k in range(x.shape[1]):
            y[i, k] /= total


@ti.kernel
def _layernorm(y: G, x: G, weight: F, bias: F, eps: ti.f32):
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(x.shape[1]):
            total += x[i, k]
        mean = total / x.shape[1]
        squares = 0.0
        for k in range(x.shape[1]):
            squares += (x[i, k] - mean) ** 2
        scale = 1.0 / ti.sqrt(squares / x.shape[1] + eps)
        for k in range(x.shape[1]):
            y[i, k] = (x[i, k] - mean) * scale * weight[k] + bias[k]


@ti.kernel
def _swiglu(y: G, gate: G, up: G):
    for i in range(gate.shape[0]):
        for j in range(gate.shape[1]):
            y[i, j] = gate[i, j] / (1.0 + ti.exp(-gate[i, j])) * up[i, j]


def _called(kernel: Any, out: np.ndarray, inner: Any, *inputs: Any) -> Iterator[Contender]:
    inputs = tuple(np.ascontiguousarray(one) if isinstance(one, np.ndarray) else one for one in inputs)
    yield Contender("taichi", lambda: kernel(out, *inputs), (out[inner],))


def saxpy(case: Case) -> Iterator[Contender]:
    yield from _called(_saxpy, np.zeros_like(case["x"]), ..., case["x"], case["y"], A)


def heat(case: Case) -> Iterator[Contender]:
    old = case["old"]
    yield from _called(_heat, np.zeros_like(old), (slice(1, -1), slice(1, -1)), old, C)


def softmax(case: Case) -> Iterator[Contender]:
    yield from _called(_softmax, np.zeros_like(case["x"]), ..., case["x"])


def layernorm(case: Case) -> Iterator[Contender]:
    yield from _called(
        _layernorm, np.zeros_like(case["x"]), ..., case["x"], case["weight"], case["bias"], EPS
    )


def swiglu(case: Case) -> Iterator[Contender]:
    yield from _called(_swiglu, np.zeros_like(case["gate"]), ..., case["gate"], case["up"])
