"""Tile kernels beside the same array programs: a product, a softmax of rows, attention with a running softmax.

    python benchmarks/tiles.py

Prints the least times of alternating runs, and their ratio: both are one form for the compiler, so it is near 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import alternating

import pykern as pk

ROUNDS = 15


@pk.kernel
def matmul(c, a, b):
    i, j = pk.tile()
    acc = pk.zeros((i, j), pk.f32)
    for k in pk.tiles(a.shape[1]):
        acc += a[i, k] @ b[k, j]
    c[i, j] = acc


@pk.jit
def matmul_program(a, b):
    return a @ b


@pk.kernel
def softmax(o, x):
    i = pk.tile()
    e = pk.exp(x[i] - x[i].max(-1, keepdims=True))
    o[i] = e / e.sum(-1, keepdims=True)


@pk.jit
def softmax_program(x):
    e = pk.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pk.kernel
def attention(o, q, k, v):
    b, h, i = pk.tile(1, 1, None)
    m = pk.full((i, 1), -pk.inf, pk.f32)
    total = pk.zeros((i, 1), pk.f32)
    acc = pk.zeros((i, v.shape[3]), pk.f32)
    for j in pk.tiles(k.shape[2]):
        s = q[b, h, i] @ k[b, h, j].T * 0.125
        s = pk.where(pk.positions(i)[:, None] >= pk.positions(j), s, -pk.inf)
        new = pk.maximum(m, s.max(-1, keepdims=True))
        p = pk.exp(s - new)
        rest = pk.exp(m - new)
        total = total * rest + p.sum(-1, keepdims=True)
        acc = acc * rest + p @ v[b, h, j]
        m = new
    o[b, h, i] = acc / total


@pk.jit
def attention_program(q, k, v):
    s = q @ k.swapaxes(-1, -2) * 0.125
    n = s.shape[-1]
    s = pk.where(pk.arange(n)[:, None] >= pk.arange(n), s, -pk.inf)
    e = pk.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ v


def show(name: str, kernel: Any, program: Any, o: np.ndarray, given: tuple, ndrange: Any) -> None:
    def tiles() -> None:
        kernel(o, *given, ndrange=ndrange)

    def whole() -> None:
        program(*given, out=o)

    for run in (tiles, whole) * 3:
        run()
    a, b = alternating({"tiles": tiles, "program": whole}, ROUNDS, at_least=0, summary=min).values()
    print(f"{name:28} {a * 1e3:10.4f} {b * 1e3:10.4f} {a / b:8.2f}")


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{'':28} {'tiles ms':>10} {'program ms':>10} {'ratio':>8}")
    for n in (64, 512, 1000):
        a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
        show(f"product {n}", matmul, matmul_program, np.empty_like(a), (a, b), a.shape)
    for rows, width in ((4, 4), (2000, 1000)):
        x = rng.random((rows, width), np.float32)
        show(f"softmax {rows} x {width}", softmax, softmax_program, np.empty_like(x), (x,), rows)
    for n in (256, 1024):
        q, k, v = (rng.standard_normal((2, 4, n, 64), np.float32) for _ in range(3))
        show(f"causal attention {n}", attention, attention_program, np.empty_like(q), (q, k, v), q.shape[:3])


if __name__ == "__main__":
    main()
