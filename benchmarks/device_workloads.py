"""What is measured on devices: arrays, launches, what must move, what NumPy says.

Comes in: a size. Goes out: `Workload`s, whose arrays somebody puts on a device. `moved` are the bytes that must
move if every array is read or written once (T_eff = moved / time), `flops` what is computed where that is the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import device_kernels as k
import numpy as np

import pykern as pk


@dataclass(frozen=True)
class Workload:
    """`kernel` over `arrays` and `numbers`; the first array holds the result. Without a kernel, the driver copies."""

    name: str
    kernel: Any
    arrays: tuple[np.ndarray, ...]
    ndrange: int | tuple[int, ...]
    expected: Callable[[], np.ndarray]
    moved: int
    numbers: tuple[Any, ...] = ()
    flops: int = 0
    tolerance: float = 1e-5

    def launch(self, there: tuple[Any, ...], stream: Any = None) -> Any:
        """Launch over `there`, the arrays on a device; gives the event."""
        if self.kernel is None:
            return pk.copyto(*there, stream=stream)
        return self.kernel(*there, *self.numbers, ndrange=self.ndrange, stream=stream)

    def compile_ms(self, there: tuple[Any, ...]) -> float:
        """What the stages of the compiler take, whatever is cached. The driver's own compiler is not in it."""
        if self.kernel is None:
            return 0.0
        target = str(there[0].device.info.target)
        lowered = self.kernel.lower(*self.arrays, *self.numbers, ndrange=self.ndrange, target=target)
        return round(sum(stage.ms for stage in lowered.stages), 1)

    def check(self, there: tuple[Any, ...]) -> None:
        """Launch once over `there` and compare with NumPy."""
        pk.copyto(there[0], self.arrays[0])
        self.launch(there).wait()
        found, tolerance = there[0].numpy(), self.tolerance
        np.testing.assert_allclose(found, self.expected(), rtol=tolerance, atol=tolerance, err_msg=self.name)


def workloads(n: int, side: int, cube: int, product: int, rows: int) -> Iterator[Workload]:
    """Arrays of `n`, `side` x `side`, `cube`^3, `product`^2 and `rows` x 1024 elements of f32."""
    rng = np.random.default_rng(0)
    yield from _streams(rng, n)
    yield from _stencils(rng, side, cube)
    yield from _transposes(rng, side)
    yield from _sums(rng, n)
    yield from _products(rng, product)
    yield from _matrices(rng, product)
    yield from _rows(rng, rows)


def random(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.random(shape, np.float32)


def _streams(rng: np.random.Generator, n: int) -> Iterator[Workload]:
    a, b, c = (random(rng, n) for _ in range(3))
    s = np.float32(2.5)
    empty = np.zeros(n, np.float32)
    yield Workload("copy, the driver's", None, (empty, b), n, lambda: b, 2 * b.nbytes)
    yield Workload("copy", k.copy, (empty, b), n, lambda: b, 2 * b.nbytes)
    yield Workload("triad", k.triad, (empty, b, c), n, lambda: b + s * c, 3 * b.nbytes, (s,))
    yield Workload("saxpy", k.saxpy, (a, b), n, lambda: s * b + a, 3 * b.nbytes, (s,))


def _stencils(rng: np.random.Generator, side: int, cube: int) -> Iterator[Workload]:
    t = random(rng, side, side)
    yield Workload(
        "heat, 5 points", k.heat, (t.copy(), t), t.shape, lambda: heat_step(t), 2 * t.nbytes, (0.1,)
    )
    u, d = random(rng, cube, cube, cube), random(rng, cube, cube, cube)
    yield Workload(
        "3-D diffusion, 7 points", k.diffusion3, (u.copy(), u, d), u.shape, lambda: _diffusion(u, d), 3 * u.nbytes,
        (0.1,),
    )  # fmt: skip


def heat_step(t: np.ndarray) -> np.ndarray:
    new = t.copy()
    inner = t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2] - np.float32(4) * t[1:-1, 1:-1]
    new[1:-1, 1:-1] += np.float32(0.1) * inner
    return new


def _diffusion(u: np.ndarray, d: np.ndarray) -> np.ndarray:
    new = u.copy()
    i = slice(1, -1)
    around = u[2:, i, i] + u[:-2, i, i] + u[i, 2:, i] + u[i, :-2, i] + u[i, i, 2:] + u[i, i, :-2]
    new[i, i, i] += np.float32(0.1) * d[i, i, i] * (around - np.float32(6) * u[i, i, i])
    return new


def _transposes(rng: np.random.Generator, side: int) -> Iterator[Workload]:
    a = random(rng, side, side)
    out = np.zeros_like(a)
    yield Workload("transpose, naive", k.transpose, (out, a), a.shape, lambda: a.T, 2 * a.nbytes)
    whole = (pk.cdiv(side, k.TILE) * k.TILE,) * 2
    yield Workload("transpose, shared", k.transpose_shared, (out, a), whole, lambda: a.T, 2 * a.nbytes)


def _sums(rng: np.random.Generator, n: int) -> Iterator[Workload]:
    x = random(rng, n)
    items = pk.cdiv(n, k.ROW * k.PER_ITEM) * k.ROW
    yield Workload(
        "reduction", k.reduction, (np.zeros(1, np.float32), x), items,
        lambda: np.array([x.sum(dtype=np.float64)]), x.nbytes, tolerance=1e-3,
    )  # fmt: skip
    values = rng.integers(0, k.BINS, n, np.uint8)
    yield Workload(
        "histogram of u8", k.histogram, (np.zeros(k.BINS, np.int32), values), items,
        lambda: np.bincount(values, minlength=k.BINS), values.nbytes,
    )  # fmt: skip


def _products(rng: np.random.Generator, n: int) -> Iterator[Workload]:
    a, b = random(rng, n, n), random(rng, n, n)
    for name, kernel in (("matmul, naive", k.matmul), ("matmul, shared", k.matmul_shared)):
        yield Workload(
            name,
            kernel,
            (np.zeros_like(a), a, b),
            a.shape,
            lambda: a @ b,
            3 * a.nbytes,
            flops=2 * n**3,
            tolerance=1e-4,
        )


def _matrices(rng: np.random.Generator, n: int) -> Iterator[Workload]:
    """Products and causal attention of tile kernels, as tensor cores compute them and in f32."""
    for dtype in (np.float16, np.float32):
        a, b = random(rng, n, n).astype(dtype), random(rng, n, n).astype(dtype)
        yield Workload(
            f"product of tiles, {dtype.__name__}", k.tile_product, (np.zeros((n, n), np.float32), a, b), (n, n),
            lambda a=a, b=b: a.astype(np.float64) @ b, 2 * a.nbytes + 4 * n * n, flops=2 * n**3, tolerance=1e-4,
        )  # fmt: skip
        q, keys, v = (rng.standard_normal((16, n, 64), np.float32).astype(dtype) for _ in range(3))
        yield Workload(
            f"causal attention of tiles, {dtype.__name__}", k.tile_attention, (np.zeros_like(q), q, keys, v),
            (16, n), lambda q=q, keys=keys, v=v: attention(q, keys, v), 4 * q.nbytes, (0.125,),
            flops=16 * 2 * n**2 * 64, tolerance=4e-3 if dtype == np.float16 else 1e-5,
        )  # fmt: skip

    a, b = random(rng, 128, 16 * n).astype(np.float16), random(rng, 16 * n, 128).astype(np.float16)
    yield Workload(
        "product of tiles, float16, many terms", k.tile_product, (np.zeros((128, 128), np.float32), a, b), (128, 128),
        lambda a=a, b=b: a.astype(np.float64) @ b, 2 * a.nbytes, flops=2 * 128 * 128 * 16 * n, tolerance=1e-4,
    )  # fmt: skip
    x, y = (rng.integers(-128, 128, (n, n), np.int8) for _ in range(2))
    yield Workload(
        "product of tiles, int8", k.tile_product, (np.zeros((n, n), np.int32), x, y), (n, n),
        lambda x=x, y=y: x.astype(np.float64) @ y, 2 * x.nbytes + 4 * n * n, flops=2 * n**3,
    )  # fmt: skip


def attention(q: np.ndarray, keys: np.ndarray, v: np.ndarray) -> np.ndarray:
    found = []
    for a, b, c in zip(q.astype(np.float64), keys.astype(np.float64), v.astype(np.float64), strict=True):
        s = np.where(np.tri(len(a)) > 0, 0.125 * a @ b.T, -np.inf)
        e = np.exp(s - s.max(-1, keepdims=True))
        found.append(e / e.sum(-1, keepdims=True) @ c)
    return np.array(found)


def _rows(rng: np.random.Generator, rows: int) -> Iterator[Workload]:
    x = rng.standard_normal((rows, 1024), np.float32)
    weight, bias = random(rng, 1024), random(rng, 1024)
    y, items = np.zeros_like(x), rows * k.ROW
    yield Workload("softmax, a group a row", k.softmax, (y, x), items, lambda: _softmax(x), 2 * x.nbytes)
    yield Workload(
        "layernorm, a group a row", k.layernorm, (y, x, weight, bias), items,
        lambda: _layernorm(x, weight, bias), 2 * x.nbytes, (1e-5,), tolerance=1e-4,
    )  # fmt: skip


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _layernorm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + np.float32(1e-5)) * weight + bias
