"""Attention without its matrix of scores, as an array program and as a kernel, in heads that share keys.

The program is written as in a textbook, softmax(q k' / sqrt(d)) v. The compiler sees the two products with a softmax
between them and makes tiles of it, with a running maximum and sum [Milakov and Gimelshein 2018; Dao et al. 2022].
The kernel says the same by hand: a work-item is one query, which meets the keys eight at a time. Its work-items run in
the lanes of vectors, so that a key is loaded once for 32 queries.

    python examples/attention.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import pykern as pk

DEPTH, KEYS = 64, 8


@pk.jit
def program(q, k, v, scale):
    """q [batch, key heads, queries a key head, s, d]; k and v [batch, key heads, s, d]."""
    scores = q @ k[:, :, None].transpose(0, 1, 2, 4, 3) * scale
    rows, columns = pk.arange(q.shape[3]), pk.arange(k.shape[2])
    scores = pk.where(rows[:, None] >= columns[None, :], scores, -np.inf)
    powers = pk.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ v[:, :, None]


@pk.kernel(fastmath=True)
def kernel(out, q, k, v, scale):
    """One query of one head: q and out [heads, s, d], k and v [key heads, s, d]."""
    head, i = pk.index()
    shared = head // (q.shape[0] // k.shape[0])
    result, power = pk.private(DEPTH, pk.f32), pk.private(KEYS, pk.f32)
    for d in range(DEPTH):
        result[d] = 0.0
    top, total = pk.f32(-np.inf), pk.f32(0.0)
    for first in range(0, k.shape[1], KEYS):
        for j in range(KEYS):
            power[j] = 0.0
        for d in range(DEPTH):
            x = q[head, i, d]
            for j in pk.unroll(range(KEYS)):
                power[j] += x * k[shared, first + j, d]
        before = top
        for j in range(KEYS):
            score = power[j] * scale
            top = max(top, score if first + j <= i else -np.inf)
        shrink = pk.exp(before - top)  # what was summed up with a smaller maximum
        total *= shrink
        for j in range(KEYS):
            weight = pk.exp(power[j] * scale - top)
            weight = weight if first + j <= i else 0.0
            power[j] = weight
            total += weight
        for d in range(DEPTH):
            x = result[d] * shrink
            for j in pk.unroll(range(KEYS)):
                x += power[j] * v[shared, first + j, d]
            result[d] = x
    for d in range(DEPTH):
        out[head, i, d] = result[d] / total


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float) -> np.ndarray:
    """In double precision, with all of the scores."""
    q, k, v = (a.astype(np.float64) for a in (q, k[:, :, None], v[:, :, None]))
    scores = q @ np.swapaxes(k, -1, -2) * scale
    scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main() -> None:
    rng = np.random.default_rng(0)
    scale = DEPTH**-0.5
    for heads, shared, length in ((8, 8, 512), (8, 2, 512), (4, 1, 200)):
        q = rng.standard_normal((1, shared, heads // shared, length, DEPTH), dtype=np.float32)
        k, v = (rng.standard_normal((1, shared, length, DEPTH), dtype=np.float32) for _ in range(2))
        found = program(q, k, v, scale)
        flat = np.empty((heads, length, DEPTH), np.float32)
        arguments = (flat, q.reshape(flat.shape), k[0], v[0], scale)
        kernel(*arguments, ndrange=(heads, length))

        times = []
        for call in (lambda: program(q, k, v, scale), lambda: kernel(*arguments, ndrange=(heads, length))):  # noqa: B023
            times.append(min(seconds(call) for _ in range(3)))
        right = reference(q, k, v, scale)
        errors = [np.abs(a.reshape(right.shape) - right).max() for a in (found, flat)]
        assert max(errors) < 1e-5
        print(
            f"{heads} heads over {shared}, {length} queries: program {1e3 * times[0]:.1f} ms, "
            f"kernel {1e3 * times[1]:.1f} ms; off by {errors[0]:.1e}, {errors[1]:.1e}"
        )
    print("same as NumPy")


if __name__ == "__main__":
    main()
