"""What a GPU is measured with besides `device_workloads`: the library, gradients, and launches that a graph replays.

Comes in: the side of a square. Goes out: `Workload`s whose kernel is an `Operation`, which is called as kernels are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import device_kernels as k
import numpy as np
from device_workloads import Workload, attention, heat_step, random

import pykern as pk
import pykern.library as pl

STEPS = 9
"""Steps of a graph: an odd number, whose last one writes the first array."""
SCALE = 0.125


@pk.jit
def library_attention(q, keys, v):
    return pl.flash_attention(q, keys, v, causal=True, scale=SCALE)


@pk.jit
def library_norm(x, residual, weight):
    return pl.residual_rmsnorm(x, residual, weight)[0]


@pk.jit
def weighted_softmax(x, w):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum(e / np.sum(e, axis=-1, keepdims=True) * w)


softmax_gradient = pk.grad(weighted_softmax)


class Operation:
    """Called and compiled as a kernel is: `call` takes the arrays and a stream, `lower` the arrays."""

    def __init__(self, call: Callable[..., Any], lower: Callable[..., Any]) -> None:
        self._call, self._lower = call, lower

    def __call__(self, *arrays: Any, ndrange: Any, stream: Any = None) -> Any:
        return self._call(*arrays, stream=stream) or pk.Event().record(stream or pk.Stream(arrays[0].device))

    def lower(self, *arrays: Any, ndrange: Any, target: str) -> Any:
        return self._lower(*arrays, target=target)


def program(function: Any) -> Operation:
    """An array program that puts its result into the first array."""

    def call(out: Any, *given: Any, stream: Any) -> None:
        function(*given, out=out, stream=stream)

    return Operation(call, lambda _, *given, target: function.lower(*given, target=target))


def gradient_of_heat() -> Operation:
    """Adds to the first array the derivative by the old state, of what the third weighs in the new one."""
    gradient = pk.autodiff(k.heat)

    def call(d_old: Any, new: Any, d_new: Any, old: Any, *, stream: Any) -> Any:
        pairs = pk.Dup(new, d_new), pk.Dup(old, d_old)
        return gradient(*pairs, 0.1, ndrange=old.shape, stream=stream)

    def lower(d_old: Any, new: Any, d_new: Any, old: Any, *, target: str) -> Any:
        pairs = pk.Dup(new, d_new), pk.Dup(old, d_old)
        return gradient.lower(*pairs, 0.1, ndrange=old.shape, target=target)

    return Operation(call, lower)


def steps_in_a_graph() -> Operation:
    """`STEPS` launches between two arrays, captured when a pair first comes."""
    graphs: dict[int, Any] = {}

    def call(new: Any, old: Any, *, stream: Any) -> Any:
        if id(new) not in graphs:
            k.heat(new, old, 0.1, ndrange=old.shape).wait()  # compiled before it is captured
            with pk.graph() as graphs[id(new)]:
                for step in range(STEPS):
                    pair = (old, new) if step % 2 else (new, old)
                    k.heat(*pair, 0.1, ndrange=old.shape)
        return graphs[id(new)].replay(stream)

    return Operation(
        call, lambda new, old, target: k.heat.lower(new, old, 0.1, ndrange=old.shape, target=target)
    )


def gpu_workloads(side: int, heads: int) -> Iterator[Workload]:
    """Squares of `side`, and `heads` rows and columns of attention's scores."""
    rng = np.random.default_rng(1)
    yield from _library(rng, side, heads)
    yield from _gradients(rng, side)
    t = random(rng, side, side)
    moved = STEPS * 2 * t.nbytes
    yield Workload(
        f"{STEPS} steps of heat in a graph",
        steps_in_a_graph(),
        (t.copy(), t),
        t.shape,
        lambda: _steps(t),
        moved,
    )


def _library(rng: np.random.Generator, side: int, heads: int) -> Iterator[Workload]:
    q, keys, v = (rng.standard_normal((1, 16, heads, 64), np.float32).astype(np.float16) for _ in range(3))
    yield Workload(
        "causal attention of the library, float16", program(library_attention), (np.zeros_like(q), q, keys, v), 1,
        lambda: attention(q[0], keys[0], v[0])[None], 4 * q.nbytes, flops=16 * 2 * heads**2 * 64, tolerance=4e-3,
    )  # fmt: skip
    x, residual = random(rng, side, 1024), random(rng, side, 1024)
    weight = random(rng, 1024)
    yield Workload(
        "residual and RMS norm of the library", program(library_norm), (np.zeros_like(x), x, residual, weight), 1,
        lambda: _rmsnorm(x + residual, weight), 3 * x.nbytes, tolerance=1e-4,
    )  # fmt: skip


def _gradients(rng: np.random.Generator, side: int) -> Iterator[Workload]:
    t, seed = random(rng, side, side), random(rng, side, side)
    yield Workload(
        "gradient of heat", gradient_of_heat(), (np.zeros_like(t), np.zeros_like(t), seed, t), 1,
        lambda: _heat_back(seed), 3 * t.nbytes, tolerance=1e-4,
    )  # fmt: skip
    x, w = rng.standard_normal((side, 1024), np.float32), random(rng, side, 1024)
    yield Workload(
        "gradient of a softmax program", program(softmax_gradient), (np.zeros_like(x), x, w), 1,
        lambda: _softmax_back(x, w), 3 * x.nbytes, tolerance=1e-4,
    )  # fmt: skip


def _steps(t: np.ndarray) -> np.ndarray:
    """Two arrays take turns; only the inner elements change, which are all that differs."""
    for _ in range(STEPS):
        t = heat_step(t)
    return t


def _rmsnorm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight


def _heat_back(seed: np.ndarray) -> np.ndarray:
    """The transposed stencil: each inner cell gives to itself and to its four neighbours."""
    inner, back = seed[1:-1, 1:-1], np.zeros_like(seed)
    back[1:-1, 1:-1] += np.float32(1 - 4 * 0.1) * inner
    for part in ((slice(2, None), slice(1, -1)), (slice(None, -2), slice(1, -1)),
                 (slice(1, -1), slice(2, None)), (slice(1, -1), slice(None, -2))):  # fmt: skip
        back[part] += np.float32(0.1) * inner
    return back


def _softmax_back(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    s = e / e.sum(1, keepdims=True)
    return s * (w - (w * s).sum(1, keepdims=True))
