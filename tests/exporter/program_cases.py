"""Array programs that are exported, each with arguments; NumPy's results are those of the plain function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pykern as pk

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class ProgramCase:
    """A program and its arguments. `expected` computes the results where the program itself is no plain function.
    `decides`: what the host does depends on numbers that it computes."""

    program: Any
    arguments: Callable[[np.random.Generator], Arguments]
    expected: Callable[..., Any] | None = None
    decides: bool = False

    def given(self) -> Arguments:
        """The arguments, the same at each call."""
        return self.arguments(np.random.default_rng(5))

    def results(self) -> list[np.ndarray]:
        """What NumPy computes, one array after the other; behind the results what was updated."""
        given = [each.copy() if isinstance(each, np.ndarray) else each for each in self.given()]
        found = flat((self.expected or self.program.__wrapped__)(*given))
        arrays = [(a, b) for a, b in zip(given, self.given(), strict=True) if isinstance(a, np.ndarray)]
        return [*found, *(after for after, before in arrays if not np.array_equal(after, before))]


def flat(value: Any) -> list[np.ndarray]:
    """The arrays of a result."""
    return (
        [np.asarray(a) for each in value for a in flat(each)]
        if isinstance(value, tuple)
        else [np.asarray(value)]
    )


def floats(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return generator.standard_normal(shape).astype(np.float32)


@pk.jit
def layer(x, w):
    h = np.maximum(x @ w, 0)
    return (h * h).sum() / 8


def layer_gradient(x, w):
    h = np.maximum(x @ w, 0)
    return h @ w.T / 4, x.T @ h / 4


@pk.jit
def heat(x, rate):
    for _ in range(6):
        y = x.copy()
        y[1:-1] = x[1:-1] + rate * (x[:-2] + x[2:] - 2 * x[1:-1])
        x = y
    return x


@pk.jit
def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True), x > 0


@pk.kernel
def scaled(out, x, a):
    i = pk.index()
    out[i] = a * x[i]


@pk.jit
def launched(x, a):
    out = np.empty_like(x)
    scaled(out, x, a, ndrange=len(x))
    return out[::-1] + x


def launched_by_numpy(x, a):
    return (np.float32(a) * x)[::-1] + x


@pk.jit
def shifted(x, steps):
    for _ in range(steps):
        x = 0.5 * x + np.flip(x)
    return x


@pk.jit
def root(x):
    error = 1.0
    while error > 1e-4:
        y = 0.5 * (x + 2 / x)
        error = np.abs(y - x).max()
        x = y
    return x


@pk.jit
def chosen(x, flag):
    if flag > 0:
        x = x * 2
    else:
        x = x + 1
    return x


@pk.jit
def updated(x, y):
    x[1:] += y[:-1]
    return x.sum()


@pk.jit
def running(x):
    out = np.zeros_like(x)
    for k in range(x.shape[0]):
        out[k] = x[k] * k + out[k - 1]
    return out


@pk.jit
def energy(x):
    y = x
    for _ in range(5):
        y = np.sin(y) * x
    return (y * y).sum()


def energy_gradient(x):
    ys = [x]
    for _ in range(5):
        ys.append(np.sin(ys[-1]) * x)
    back, found = 2 * ys[-1], np.zeros_like(x)
    for y in reversed(ys[:-1]):
        found += back * np.sin(y)
        back = back * np.cos(y) * x
    return found + back


CASES = {
    "layer": ProgramCase(layer, lambda g: (floats(g, 8, 6), floats(g, 6, 5))),
    "gradient of layer": ProgramCase(
        pk.grad(layer, (0, 1)), lambda g: (floats(g, 8, 6), floats(g, 6, 5)), layer_gradient
    ),
    "heat": ProgramCase(heat, lambda g: (floats(g, 64), 0.1)),
    "softmax": ProgramCase(softmax, lambda g: (floats(g, 17, 33),)),
    "kernel": ProgramCase(launched, lambda g: (floats(g, 99), 0.3), launched_by_numpy),
    "counted loop": ProgramCase(shifted, lambda g: (floats(g, 40), 7), decides=True),
    "loop until": ProgramCase(root, lambda g: (abs(floats(g, 40)) + 1,), decides=True),
    "branch": ProgramCase(chosen, lambda g: (floats(g, 5, 3), -1), decides=True),
    "updated": ProgramCase(updated, lambda g: (floats(g, 30), floats(g, 30))),
    "rows": ProgramCase(running, lambda g: (floats(g, 9, 7),)),
    "gradient of a loop": ProgramCase(pk.grad(energy), lambda g: (floats(g, 50),), energy_gradient),
}
