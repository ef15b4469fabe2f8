"""Kernels people port, as workloads: arrays, NumPy's results, bytes and operations.

Comes in: sizes. Goes out: `LARGE` and, for tests, `SMALL`. A workload's arrays stand in the order of its functions'
parameters. Read next: `kernels_pykern`, `peers/kernels_numba`.
"""

from __future__ import annotations

import math
from typing import Any

import kernels_pykern as k
import numpy as np
from kernels_setting import random, random_bytes, windows, workload

from pykern.benchmarking.workload import Arrays, Workload

f32, i32, u8, u32 = np.float32, np.int32, np.uint8, np.uint32


# -- images --------------------------------------------------------------------------------------


def median(n: int) -> Workload:
    return workload(
        k.median, f"{n}^2", "out", lambda: {"out": np.zeros((n, n), f32), "image": random(n + 2, n + 2)},
        (n, n), lambda a: np.median(windows(a["image"], 3, 3).reshape(n, n, 9), -1), bytes=8 * n * n,
    )  # fmt: skip


def bilateral(n: int, near: float = 0.1, alike: float = 8.0) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        w = windows(a["image"].astype(float), 5, 5)
        y, x = np.mgrid[-2:3, -2:3]
        e = np.exp(-alike * (w - w[..., 2:3, 2:3]) ** 2 - near * (y * y + x * x))
        return (w * e).sum((-1, -2)) / e.sum((-1, -2))

    return workload(
        k.bilateral, f"{n}^2", "out", lambda: {"out": np.zeros((n, n), f32), "image": random(n + 4, n + 4)},
        (n, n), expected, near, alike, bytes=8 * n * n, flops=25 * 9 * n * n, fastmath=True, tolerance=1e-5,
    )  # fmt: skip


def gray(n: int) -> Workload:
    return workload(
        k.gray, f"{n}^2", "out", lambda: {"out": np.zeros((n, n), u8), "image": random_bytes(n, n, 3)},
        (n, n), lambda a: (a["image"].astype(int) @ np.array([77, 150, 29]) >> 8).astype(u8), bytes=4 * n * n,
    )  # fmt: skip


def life(n: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        alive = a["old"][1:-1, 1:-1]
        around = windows(a["old"], 3, 3).sum((-1, -2)) - alive
        return ((around == 3) | ((around == 2) & (alive == 1))).astype(u8)

    return workload(
        k.life, f"{n}^2", "new",
        lambda: {"new": np.zeros((n, n), u8), "old": random_bytes(n + 2, n + 2, values=2)},
        (n, n), expected, bytes=2 * n * n,
    )  # fmt: skip


def histogram(n: int) -> Workload:
    return workload(
        k.histogram, f"{n}^2", "bins", lambda: {"bins": np.zeros(256, i32), "image": random_bytes(n, n)},
        (n, n), lambda a: np.bincount(a["image"].ravel(), minlength=256), bytes=n * n, restored=True,
    )  # fmt: skip


# -- loops that end where each likes ---------------------------------------------------------------


def collatz(n: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        x = np.arange(1, n + 1)
        steps = np.zeros(n, i32)
        while (x != 1).any():
            steps += x != 1
            x = np.where(x == 1, 1, np.where(x % 2 == 0, x // 2, 3 * x + 1))
        return steps

    return workload(
        k.collatz, n, "steps", lambda: {"steps": np.zeros(n, i32)}, n, expected, bytes=4 * n
    )  # fmt: skip


def mandelbrot(n: int, most: int = 200) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        cx = f32(-2) + f32(3 / n) * np.arange(n, dtype=f32)[None]
        cy = f32(-1.25) + f32(2.5 / n) * np.arange(n, dtype=f32)[:, None]
        x = y = np.zeros((n, n), f32)
        count = np.zeros((n, n), i32)
        for _ in range(most):
            inside = x * x + y * y < 4
            count += inside
            x, y = np.where(inside, x * x - y * y + cx, x), np.where(inside, 2 * x * y + cy, y)
        return count[: n // 16]

    return workload(
        k.mandelbrot, f"{n}^2", "count", lambda: {"count": np.zeros((n, n), i32)}, (n, n), expected, most,
        bytes=4 * n * n, shown=np.s_[: n // 16],  # elsewhere counts turn with the last bit
    )  # fmt: skip


def search(n: int) -> Workload:
    return workload(
        k.search, n, "place",
        lambda: {"place": np.zeros(n, i32), "values": np.sort(random(n // 4)), "wanted": random(n)},
        n, lambda a: np.searchsorted(a["values"], a["wanted"]), bytes=8 * n + n,
    )  # fmt: skip


def matches(n: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        return (windows(a["text"], len(a["pattern"])) == a["pattern"]).all(-1)

    return workload(
        k.matches, n, "found",
        lambda: {"found": np.zeros(n, u8), "text": random_bytes(n + 5, values=4), "pattern": random_bytes(6, values=4)},
        n, expected, bytes=2 * n,
    )  # fmt: skip


# -- random numbers ------------------------------------------------------------------------------


def _next(state: np.ndarray) -> np.ndarray:
    state = state ^ (state << u32(13))
    state = state ^ (state >> u32(17))
    return state ^ (state << u32(5))


def _seeds(n: int) -> np.ndarray:
    return np.arange(n, dtype=u32) * u32(747796405) + u32(2891336453)


def darts(n: int, samples: int = 100) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        state, count = _seeds(n), np.zeros(n, i32)
        for _ in range(samples):
            state = _next(state)
            x = (state >> u32(8)).astype(f32) * f32(2.0**-24)
            state = _next(state)
            y = (state >> u32(8)).astype(f32) * f32(2.0**-24)
            count += x * x + y * y < 1
        return count

    return workload(
        k.darts, f"{n} x {samples}", "inside", lambda: {"inside": np.zeros(n, i32)}, n, expected, samples,
        bytes=4 * n, tolerance=0.02,
    )  # fmt: skip


def walk(n: int, steps: int = 100) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        state, place = _seeds(n), np.zeros((n, 2), i32)
        ways = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        for _ in range(steps):
            state = _next(state)
            place += ways[state >> u32(30)]
        return place

    return workload(
        k.walk, f"{n} x {steps}", "place", lambda: {"place": np.zeros((n, 2), i32)}, n, expected, steps,
        bytes=8 * n,
    )  # fmt: skip


# -- particles and grids -------------------------------------------------------------------------


def move(n: int, dt: float = 0.01) -> Workload:
    def expected(a: Arrays) -> Any:
        p = a["p"] + f32(dt) * a["v"]
        return np.clip(p, 0, 1), np.where((p < 0) | (p > 1), -a["v"], a["v"])

    return workload(
        k.move, n, "p v", lambda: {"p": random(n, 2), "v": random(n, 2) - f32(0.5)}, n, expected, dt,
        bytes=32 * n, flops=4 * n, restored=True, tolerance=1e-6,
    )  # fmt: skip


def bodies(n: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        p = a["p"].astype(float)
        d = p[None] - p[:, None]
        w = a["m"] * ((d * d).sum(-1) + 1e-3) ** -1.5
        return (w[..., None] * d).sum(1)

    return workload(
        k.bodies, n, "a", lambda: {"a": np.zeros((n, 3), f32), "p": random(n, 3), "m": random(n)}, n,
        expected, bytes=28 * n, flops=20 * n * n, fastmath=True, tolerance=1e-4,
    )  # fmt: skip


def heat3d(n: int, c: float = 0.1) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        m, o = slice(1, -1), a["old"].astype(float)
        around = o[2:, m, m] + o[:-2, m, m] + o[m, 2:, m] + o[m, :-2, m] + o[m, m, 2:] + o[m, m, :-2]
        return o[m, m, m] + c * (around - 6 * o[m, m, m])

    return workload(
        k.heat3d, f"{n}^3", "new", lambda: {"new": np.zeros((n, n, n), f32), "old": random(n, n, n)},
        (n, n, n), expected, c, bytes=8 * n**3, flops=8 * n**3, tolerance=1e-6, shown=np.s_[1:-1, 1:-1, 1:-1],
    )  # fmt: skip


def box27(n: int) -> Workload:
    return workload(
        k.box27, f"{n}^3", "new",
        lambda: {"new": np.zeros((n, n, n), f32), "old": random(n + 2, n + 2, n + 2)}, (n, n, n),
        lambda a: windows(a["old"].astype(float), 3, 3, 3).mean((-1, -2, -3)), bytes=8 * n**3,
        flops=27 * n**3, tolerance=1e-6,
    )  # fmt: skip


def gather(n: int) -> Workload:
    def make() -> Arrays:
        index = np.random.default_rng(n).permutation(n).astype(i32)
        return {"y": random(n), "x": random(n), "index": index, "w": random(n)}

    return workload(
        k.gather, n, "y", make, n, lambda a: a["w"] * a["x"][a["index"]] + a["y"] * (a["index"] & 7),
        bytes=20 * n, flops=3 * n, restored=True, tolerance=1e-6,
    )  # fmt: skip


# -- rows, matrices, transforms ------------------------------------------------------------------


def running(rows: int, columns: int) -> Workload:
    size = rows * columns
    return workload(
        k.running, f"{rows}x{columns}", "out",
        lambda: {"out": np.zeros((rows, columns), f32), "x": random(rows, columns)}, rows,
        lambda a: a["x"].cumsum(1), bytes=8 * size, flops=size, tolerance=1e-4,
    )  # fmt: skip


def butterflies(n: int, half: int) -> Workload:
    def make() -> Arrays:
        angle = -np.pi * np.arange(half) / half
        turn = {"wr": np.cos(angle).astype(f32), "wi": np.sin(angle).astype(f32)}
        return {"re": random(n), "im": random(n, 1)[:, 0], **turn}

    def expected(a: Arrays) -> Any:
        z = (a["re"] + 1j * a["im"]).reshape(-1, 2, half)
        low, high = z[:, 0], z[:, 1] * (a["wr"] + 1j * a["wi"])
        z = np.stack([low + high, low - high], 1).ravel()
        return np.real(z), np.imag(z)

    return workload(
        k.butterflies, f"{n}, {half} apart", "re im", make, (n // (2 * half), half), expected, half,
        bytes=16 * n, flops=5 * n, restored=True, tolerance=1e-5,
    )  # fmt: skip


def black_scholes(n: int, rate: float = 0.02, volatility: float = 0.3) -> Workload:
    def make() -> Arrays:
        r = np.random.default_rng(n)
        price, strike, years = (r.uniform(*ends, n).astype(f32) for ends in ((5, 30), (1, 100), (0.25, 10)))
        return {
            "call": np.zeros(n, f32),
            "put": np.zeros(n, f32),
            "price": price,
            "strike": strike,
            "years": years,
        }

    def expected(a: Arrays) -> Any:
        s, x, t = (a[name].astype(float) for name in ("price", "strike", "years"))
        erf = np.vectorize(math.erf)
        d1 = (np.log(s / x) + (rate + 0.5 * volatility**2) * t) / (volatility * np.sqrt(t))
        n1, n2 = (0.5 + 0.5 * erf(d / 2**0.5) for d in (d1, d1 - volatility * np.sqrt(t)))
        later = x * np.exp(-rate * t)
        return s * n1 - later * n2, later * (1 - n2) - s * (1 - n1)

    return workload(
        k.black_scholes, n, "call put", make, n, expected, rate, volatility, bytes=20 * n, flops=60 * n,
        fastmath=True, tolerance=1e-5,
    )  # fmt: skip


def assign(n: int, d: int, centres: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        return ((a["x"][:, None] - a["centres"]) ** 2).sum(-1).argmin(1)

    return workload(
        k.assign, f"{n}x{d}, {centres}", "cluster",
        lambda: {"cluster": np.zeros(n, i32), "x": random(n, d), "centres": random(centres, d)}, n, expected,
        bytes=4 * n * d, flops=3 * n * d * centres, fastmath=True,
    )  # fmt: skip


def spmv(n: int, a_row: int) -> Workload:
    def make() -> Arrays:
        r = np.random.default_rng(n)
        counts = r.integers(1, 2 * a_row, n)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(i32)
        columns = r.integers(0, n, starts[-1]).astype(i32)
        return {
            "y": np.zeros(n, f32), "starts": starts, "columns": columns,
            "values": random(len(columns)), "x": random(n),
        }  # fmt: skip

    def expected(a: Arrays) -> np.ndarray:
        rows = np.repeat(np.arange(n), np.diff(a["starts"]))
        return np.bincount(rows, a["values"] * a["x"][a["columns"]], n)

    return workload(
        k.spmv, f"{n}, {a_row} a row", "y", make, n, expected, bytes=8 * n * a_row + 8 * n, flops=2 * n * a_row,
        fastmath=True, tolerance=1e-5,
    )  # fmt: skip


def _systems(n: int) -> np.ndarray:
    return random(n, 6, 6) + 6 * np.eye(6, dtype=f32)


def solve(n: int) -> Workload:
    return workload(
        k.solve, f"{n} of 6", "x", lambda: {"x": np.zeros((n, 6), f32), "a": _systems(n), "b": random(n, 6)}, n,
        lambda a: np.linalg.solve(a["a"].astype(float), a["b"][..., None])[..., 0], bytes=192 * n,
        flops=180 * n, tolerance=1e-4,
    )  # fmt: skip


def factor(n: int) -> Workload:
    def expected(a: Arrays) -> np.ndarray:
        m = a["a"].astype(float)
        for c in range(6):
            m[:, c + 1 :, c] /= m[:, c : c + 1, c]
            m[:, c + 1 :, c + 1 :] -= m[:, c + 1 :, c : c + 1] * m[:, c : c + 1, c + 1 :]
        return m

    return workload(
        k.factor, f"{n} of 6", "a", lambda: {"a": _systems(n)}, n, expected, bytes=288 * n, flops=130 * n,
        restored=True, tolerance=1e-4,
    )  # fmt: skip


LARGE = (
    median(1024), bilateral(1024), gray(2048), life(2048), histogram(2048),
    collatz(300_000), mandelbrot(768), search(1 << 18), matches(1 << 22),
    darts(100_000), walk(100_000),
    move(1 << 20), bodies(2048), heat3d(192), box27(128), gather(1 << 20),
    running(4096, 1024), butterflies(1 << 20, 1 << 10), black_scholes(1 << 20), assign(100_000, 8, 32),
    spmv(100_000, 16), solve(50_000), factor(50_000),
)  # fmt: skip
SMALL = (
    median(21), bilateral(21), gray(21), life(21), histogram(21),
    collatz(210), mandelbrot(48), search(210), matches(210),
    darts(210, 9), walk(210, 9),
    move(21), bodies(21), heat3d(9), box27(9), gather(21),
    running(9, 21), butterflies(64, 8), black_scholes(210), assign(210, 3, 5),
    spmv(210, 4), solve(21), factor(21),
)  # fmt: skip
