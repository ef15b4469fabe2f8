"""Gradients of stencil steps against the transposed stencil of NumPy, at random offsets and lengths.

``PYKERN_FUZZ=N`` scales their number: N // 25 of each kind, so 4 unless told.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from tests.cases.count import PROGRAMS
from tests.cases.texts import imported

SEEDS = max(4, PROGRAMS // 25)
LINEAR = "{p} * u[{a}] + {q} * u[{b}] + {r} * u[{c}] + {s} * u[{d}]"
NONLINEAR = "{p} * u[{a}] * u[{b}] + {q} * u[{c}] * u[{c}] + {r} * u[{b}] + {s}"
PROGRAM = """
import pykern as pk

def program(x):
    u = pk.copy(x)
    for _ in pk.range({steps}):
        u[{a}] = {step}
    return u
"""


class Stencil:
    """A random step: the box `a` becomes a function of boxes of the same size."""

    def __init__(self, seed: int, scale: float) -> None:
        self.random = random = np.random.default_rng(seed)
        rank = 1 + seed % 3
        self.shape = tuple(int(n) for n in random.integers(1 + 12 // rank, 40 // rank, rank))
        room = [int(random.integers(0, min(5, n))) for n in self.shape]
        offsets = [[int(random.integers(0, r + 1)) for r in room] for _ in range(4)]
        sizes = [n - r for n, r in zip(self.shape, room, strict=True)]
        self.boxes = [[(o, o + n) for o, n in zip(one, sizes, strict=True)] for one in offsets]
        self.weights = [scale * float(w) for w in random.standard_normal(4)]

    def slices(self) -> list[tuple[slice, ...]]:
        return [tuple(slice(*ends) for ends in box) for box in self.boxes]

    def program(self, folder: Path, step: str, steps: int) -> Callable:
        texts = [", ".join(f"{a}:{b}" for a, b in box) for box in self.boxes]
        names = dict(zip("abcd", texts, strict=True)) | dict(zip("pqrs", self.weights, strict=True))
        file = folder / "made.py"
        return imported(file, PROGRAM.format(step=step.format(**names), steps=steps, **names)).program


@pytest.mark.parametrize("seed", range(SEEDS))
def test_gradient_of_a_linear_step(seed: int, tmp_path: Path) -> None:
    stencil = Stencil(seed, 1.0)
    program = pk.jit(stencil.program(tmp_path, LINEAR, 3))
    x, ct = stencil.random.standard_normal((2, *stencil.shape))
    slices = stencil.slices()
    expected = ct
    for _ in range(3):
        flowing, expected = expected[slices[0]], expected.copy()
        flowing = flowing.copy()
        expected[slices[0]] = 0
        for at, weight in zip(slices, stencil.weights, strict=True):
            expected[at] += weight * flowing
    _, back = pk.vjp(program, x)
    np.testing.assert_allclose(_only(back(ct)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_gradient_of_a_nonlinear_step(seed: int, tmp_path: Path) -> None:
    stencil = Stencil(100 + seed, 0.2)
    program = stencil.program(tmp_path, NONLINEAR, 4)
    x, ct = stencil.random.standard_normal((2, *stencil.shape))
    a, b, c, _ = stencil.slices()
    p, q, r, s = stencil.weights
    states = [x]
    for _ in range(4):
        u = states[-1].copy()
        u[a] = p * u[a] * u[b] + q * u[c] * u[c] + r * u[b] + s
        states.append(u)
    expected = ct
    for u in reversed(states[:-1]):
        flowing, expected = expected[a].copy(), expected.copy()
        expected[a] = 0
        expected[a] += p * u[b] * flowing
        expected[b] += (p * u[a] + r) * flowing
        expected[c] += 2 * q * u[c] * flowing
    value, back = pk.vjp(pk.jit(program), x)
    np.testing.assert_allclose(value, states[-1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(_only(back(ct)), expected, rtol=1e-11, atol=1e-12)


def test_second_derivatives() -> None:
    """The Hessian is the same by forward over reverse mode, by reverse over reverse, and by differences."""

    @pk.jit
    def program(x):
        u = pk.copy(x)
        for _ in pk.range(3):
            u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * u[1:-1, 1:-1] * (u[2:, 1:-1] + u[:-2, 1:-1] - u[1:-1, 2:])
        return pk.sum(u * u * u)

    random = np.random.default_rng(5)
    x, v = random.standard_normal((2, 14, 11))
    gradient, step = pk.grad(program), 1e-5
    expected = (gradient(x + step * v) - gradient(x - step * v)) / (2 * step)
    np.testing.assert_allclose(pk.hvp(program, (x,), (v,)), expected, rtol=1e-6, atol=1e-6)
    _, back = pk.vjp(gradient, x)
    np.testing.assert_allclose(_only(back(v)), expected, rtol=1e-6, atol=1e-6)


def test_infinity_stays_with_its_neighbours() -> None:
    """An infinite cotangent is multiplied by no zero on its way."""

    @pk.jit
    def program(x):
        u = pk.copy(x)
        u[1:-1] = u[1:-1] + 0.5 * (u[2:] + u[:-2])
        return u

    ct = np.ones(16)
    ct[0], ct[7] = np.inf, np.inf
    _, back = pk.vjp(program, np.ones(16))
    found = _only(back(ct))
    assert list(np.flatnonzero(np.isinf(found))) == [0, 6, 7, 8]
    assert not np.isnan(found).any()


def _only(value):
    return value[0] if isinstance(value, tuple | list) else value
