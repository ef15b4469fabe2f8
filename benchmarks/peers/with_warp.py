"""Warp on the CPU, where it uses one thread: a kernel a workload, one thread of Warp's an element or a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import warp as wp
from workloads import EPS, A, C, Case, Contender

wp.config.quiet = True
F, G = wp.array(dtype=wp.float32), wp.array2d(dtype=wp.float32)


def prepare(threads: int) -> None:
    wp.init()


@wp.kernel
def _saxpy(z: F, x: F, y: F, a: wp.float32):
    i = wp.tid()
    z[i] = a * x[i] + y[i]


@wp.kernel
def _heat(to: G, old: G, c: wp.float32):
    i, j = wp.tid()
    if i > 0 and i < old.shape[0] - 1 and j > 0 and j < old.shape[1] - 1:
        around = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
        to[i, j] = old[i, j] + c * (around - 4.0 * old[i, j])


@wp.kernel
def _softmax(y: G, x: G):
    i = wp.tid()
    largest = x[i, 0]
    for k in range(x.shape[1]):
        largest = wp.max(largest, x[i, k])
    total = wp.float32(0.0)
    for k in range(x.shape[1]):
        e = wp.exp(x[i, k] - largest)
        y[i, k] = e
        total += e
    for k in range(x.shape[1]):
        y[i, k] = y[i, k] / total


@wp.kernel
def _layernorm(y: G, x: G, weight: F, bias: F, eps: wp.float32):
    i = wp.tid()
    n = float(x.shape[1])
    total = wp.float32(0.0)
    for k in range(x.shape[1]):
        total += x[i, k]
    mean = total / n
    squares = wp.float32(0.0)
    for k in range(x.shape[1]):
        d = x[i, k] - mean
        squares += d * d
    scale = 1.0 / wp.sqrt(squares / n + eps)
    for k in range(x.shape[1]):
        y[i, k] = (x[i, k] - mean) * scale * weight[k] + bias[k]


@wp.kernel
def _swiglu(y: G, gate: G, up: G):
    i, j = wp.tid()
    y[i, j] = gate[i, j] / (1.0 + wp.exp(-gate[i, j])) * up[i, j]


def _launched(kernel: Any, dim: Any, out: np.ndarray, inner: Any, *inputs: Any) -> Iterator[Contender]:
    there = [
        wp.array(one, copy=False, device="cpu") if isinstance(one, np.ndarray) else one
        for one in (out, *inputs)
    ]
    yield Contender("warp", lambda: wp.launch(kernel, dim=dim, inputs=there, device="cpu"), (out[inner],))


def saxpy(case: Case) -> Iterator[Contender]:
    x = case["x"]
    yield from _launched(_saxpy, len(x), np.zeros_like(x), ..., x, np.ascontiguousarray(case["y"]), A)


def heat(case: Case) -> Iterator[Contender]:
    old = case["old"]
    yield from _launched(_heat, old.shape, np.zeros_like(old), (slice(1, -1), slice(1, -1)), old, C)


def softmax(case: Case) -> Iterator[Contender]:
    yield from _launched(_softmax, len(case["x"]), np.zeros_like(case["x"]), ..., case["x"])


def layernorm(case: Case) -> Iterator[Contender]:
    x, parameters = case["x"], (case["weight"], np.ascontiguousarray(case["bias"]), EPS)
    yield from _launched(_layernorm, len(x), np.zeros_like(x), ..., x, *parameters)


def swiglu(case: Case) -> Iterator[Contender]:
    gate = case["gate"]
    yield from _launched(_swiglu, gate.shape, np.zeros_like(gate), ..., gate, case["up"])
