"""Random kernels whose indices are sums of what the launch decides, over random index spaces.

The reference device tells whether an access lies outside. Where it does, a compiled launch raises `OutOfBounds` if all
that decides it is known before, and always with ``debug=True``; where it does not, a launch is never refused, gives the
same numbers, and writes nothing beside its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.errors import OutOfBounds
from tests.cases.seeds import seeds
from tests.cases.texts import load

KERNELS, LAUNCHES, ROOM = 12, 6, 64


class Text:
    """A random kernel. `decided`: whether every access that lies outside is found before the launch."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rank = random.choice((1, 1, 2))
        self.names = ["i", "j"][: self.rank]
        self.decided = True
        self.loops = 0

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def place(self, name: str) -> str:
        return f"{name}[{', '.join(self.index(name, d) for d in range(self.rank))}]"

    def index(self, name: str, d: int) -> str:
        kind, variable, k = self.random.random(), self.pick(*self.names), self.random.randint(0, 3)
        if kind < 0.4:
            return f"{self.names[d]} {self.pick('+', '-')} {k}" if self.pick(0, 1) else self.names[d]
        if kind < 0.55:
            return f"{name}.shape[{d}] - 1 - {variable}"
        if kind < 0.7:
            return f"{self.pick(2, 3)} * {variable} {self.pick('+', '-')} {k}"
        if kind < 0.8:
            return f"{variable} // {self.pick(2, 3)}"
        if kind < 0.9:
            return self.pick("0", "-1", "2", "m - 1", "m")
        return self.pick(
            f"{variable} + {self.pick(*self.names)}", f"{variable} * m + {self.pick(*self.names)}"
        )

    def condition(self) -> str:
        variable = self.pick(*self.names)
        left = self.pick(variable, variable, f"2 * {variable}", f"{variable} + 1")
        right = self.pick("m", "x.shape[0]", "y.shape[0] - 1", "3")
        compared = f"{left} {self.pick('<', '<=', '>', '>=')} {right}"
        kind = self.random.random()
        if kind < 0.6:
            return compared
        if kind < 0.75:
            return f"{compared} and {variable} >= 1"
        self.decided = False
        return self.pick(
            f"{compared} or {variable} == 0",
            f"not ({compared})",
            f"v > 0.5 and {compared}",
            f"{variable} != 2",
        )

    def lines(self, indent: str, depth: int) -> list[str]:
        kind = self.random.random()
        if depth and kind < 0.2:
            name = f"k{self.loops}"
            self.loops += 1
            bounds = self.pick("3", "m", "1, m", "x.shape[0]", "0, y.shape[0] - 1", "0, m, 2", *self.names)
            head = [f"{indent}for {name} in range({bounds}):"]
            self.names.append(name)
            body = self.lines(indent + "    ", depth - 1)
            if self.random.random() < 0.2:
                self.decided = False
                body += [f"{indent}    if v > 0.9:", f"{indent}        break"]
            self.names.remove(name)
            return head + body
        if depth and kind < 0.5:
            return [f"{indent}if {self.condition()}:", *self.lines(indent + "    ", depth - 1)]
        if depth and kind < 0.6 and indent == "    ":
            return [f"{indent}if {self.condition()}:", f"{indent}    return", *self.lines(indent, depth - 1)]
        if kind < 0.65:
            self.decided = False
            return [
                f"{indent}{self.place('y')} = x[{', '.join(['0'] * self.rank)}] if v > 0.5 else {self.place('x')}"
            ]
        return [f"{indent}{self.place('y')} {self.pick('=', '+=')} {self.place('x')} + v"]

    def text(self) -> str:
        body = [line for _ in range(self.random.randint(1, 3)) for line in self.lines("    ", 2)]
        head = ["import pykern as pk", "", "", "@pk.kernel", "def p0(y, x, m, v):"]
        return "\n".join([*head, f"    {', '.join(self.names)} = pk.index()", *body, ""])


def guarded(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """An array, and the memory around it."""
    size = int(np.prod(shape))
    memory = np.full(size + 2 * ROOM, 7.25)
    memory[ROOM : ROOM + size] = np.arange(size) % 5
    return memory, memory[ROOM : ROOM + size].reshape(shape)


def outcome(
    kernel: Callable, shape: tuple[int, ...], x: np.ndarray, m: int, v: float, space: Any, device: str
) -> Any:
    """What `y` holds afterwards, or None where an access lies outside."""
    memory, y = guarded(shape)
    try:
        kernel(y, x, m, v, ndrange=space, device=device)
    except OutOfBounds:
        return None
    finally:
        size = y.size
        assert (memory[:ROOM] == 7.25).all(), "written before the array"
        assert (memory[ROOM + size :] == 7.25).all(), "written behind the array"
    return y.copy()


@pytest.mark.filterwarnings(
    "ignore:every work-item of:RuntimeWarning", "ignore:all work-items write:RuntimeWarning"
)
@pytest.mark.parametrize("seed", seeds(KERNELS))
def test_launches_are_refused_where_plain_python_goes_outside(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    made = Text(random)
    text = made.text()
    kernel = load(text, tmp_path).p0
    debug = pk.kernel(kernel.__wrapped__, debug=True)
    for _ in range(LAUNCHES):
        shape = tuple(random.randint(0, 7) for _ in range(made.rank))
        other = tuple(random.randint(1, 7) for _ in range(made.rank))
        dims = [
            random.choice((random.randint(0, 7), n, range(1, max(n - 1, 1)), range(n - 1, -1, -2)))
            for n in shape
        ]
        if random.random() < 0.6:
            dims = [random.randint(0, 7) for _ in dims]
        space = tuple(dims)
        m, v = random.randint(-1, 6), random.choice((0.25, 0.75, 0.95))
        x = np.random.default_rng(seed).random(other)
        told = f"seed {seed}: y {shape}, x {other}, m {m}, v {v}, ndrange {space}\n{text}"
        expected = outcome(kernel, shape, x, m, v, space, "python")
        checked = outcome(debug, shape, x, m, v, space, "cpu")
        assert (checked is None) == (expected is None), told
        if expected is None and not made.decided:
            continue  # an access outside may happen: not on purpose in this process
        found = outcome(kernel, shape, x, m, v, space, "cpu")
        assert (found is None) == (expected is None), told
        if expected is not None:
            np.testing.assert_array_equal(found, expected, err_msg=told)
            np.testing.assert_array_equal(checked, expected, err_msg=told)
