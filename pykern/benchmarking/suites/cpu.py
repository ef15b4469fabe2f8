"""``pykern bench --suite cpu``: what this machine's CPU does with memory, with arithmetic, and with launches.

Comes in: nothing. Goes out: declarations, NumPy and, where they are installed, Numba and torch beside pykern. The
project's own tables, with every peer, are in the repository's ``benchmarks/`` folder.
"""

from __future__ import annotations

import importlib.util

import numpy as np

import pykern as pk
from pykern.benchmarking import kernels

HAS_TORCH = importlib.util.find_spec("torch") is not None
A = np.float32(2.5)


def _torch(function):
    """`function` over tensors on the memory of its arrays, or why it is missing."""
    if not HAS_TORCH:
        return "not installed"

    def run(*arrays):
        torch = importlib.import_module("torch")
        return function(torch, *(torch.from_numpy(a) for a in arrays))

    return run


@pk.benchmark(
    x="n",
    values=[1 << 6, 1 << 12, 1 << 16, 1 << 20, 1 << 24],
    lines={
        "pykern": lambda z, x, y: kernels.saxpy(z, x, y, 2.5, ndrange=len(z)),
        "numpy": lambda z, x, y: np.add(np.multiply(x, A, out=z), y, out=z),
        "torch": _torch(lambda torch, z, x, y: torch.add(y, x, alpha=2.5, out=z)),
    },
    metric="GB/s", bytes=lambda n: 12 * n, flops=lambda n: 2 * n,
)  # fmt: skip
def saxpy(n):
    rng = np.random.default_rng(0)
    return np.zeros(n, np.float32), rng.random(n, np.float32), rng.random(n, np.float32)


@pk.benchmark(
    x="n",
    values=[256, 1024, 4096],
    lines={"pykern": lambda new, old: kernels.heat(new, old, 0.1, ndrange=old.shape)},
    metric="GB/s", bytes=lambda n: 8 * n * n, flops=lambda n: 7 * n * n,
)  # fmt: skip
def heat(n):
    old = np.random.default_rng(0).random((n, n), np.float32)
    return np.zeros_like(old), old


def _numpy_softmax(y, x):
    np.subtract(x, x.max(1, keepdims=True), out=y)
    np.exp(y, out=y)
    return np.divide(y, y.sum(1, keepdims=True), out=y)


@pk.benchmark(
    x="rows",
    values=[64, 512, 4096],
    lines={
        "pykern": lambda y, x: kernels.softmax(y, x, ndrange=len(x)),
        "numpy": _numpy_softmax,
        "torch": _torch(lambda torch, y, x: torch.softmax(x, -1, out=y)),
    },
    metric="GB/s", bytes=lambda rows: 8 * rows * 1024, flops=lambda rows: 5 * rows * 1024,
)  # fmt: skip
def softmax(rows):
    x = np.random.default_rng(0).standard_normal((rows, 1024), np.float32)
    return np.zeros_like(x), x


@pk.benchmark(
    x="n",
    values=[64, 256, 1024],
    lines={
        "pykern": lambda c, a, b: kernels.matmul(a, b, out=c),
        "numpy": lambda c, a, b: np.matmul(a, b, out=c),
        "torch": _torch(lambda torch, c, a, b: torch.matmul(a, b, out=c)),
    },
    metric="GFLOP/s", bytes=lambda n: 12 * n * n, flops=lambda n: 2 * n**3,
)  # fmt: skip
def matmul(n):
    rng = np.random.default_rng(0)
    return np.zeros((n, n), np.float32), rng.random((n, n), np.float32), rng.random((n, n), np.float32)
