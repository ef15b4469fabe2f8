"""Random tile kernels as text: elementwise operations, rows' reductions, products over loops of tiles, masks, look-ups.

Comes in: a random generator. Goes out: the source of a kernel ``k(o, r, x, y, w, v, index)`` and its arguments. Values
stay small, so that results on different devices differ by roundings alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    text: str
    arguments: tuple[np.ndarray, ...]
    rows: int


class Writer:
    """Writes one kernel. `wide` are names of values of shape (i, d), `thin` those of shape (i, 1)."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.lines = ["i = pk.tile()", "a0 = x[i]"]
        self.wide, self.thin = ["a0"], ["pk.positions(i)[:, None] * 0.1"]

    def name(self, prefix: str) -> str:
        return f"{prefix}{len(self.lines)}"

    def add(self) -> None:
        """One more statement."""
        self.pick.choice(
            [self.elementwise, self.elementwise, self.reduction, self.product, self.masked, self.running]
        )()

    def wide_value(self) -> str:
        return self.pick.choice([*self.wide, "x[i]", "y[i]", "v", "w[index[i]]", self.pick.choice(self.thin)])

    def keep(self, value: str) -> None:
        name = self.name("a")
        self.lines.append(f"{name} = {value}")
        self.wide.append(name)

    def elementwise(self) -> None:
        a, b = self.pick.choice(self.wide), self.wide_value()
        form = self.pick.choice(
            ["pk.tanh({a} + {b})", "{a} * 0.5 - {b} * 0.25", "pk.maximum({a}, {b})", "pk.sin({a}) * 0.5 + pk.cos({b})",
             "pk.where({a} > {b}, {a}, 0.5 * {b})", "pk.exp(-pk.abs({a})) + 0 * {b}"]
        )  # fmt: skip
        self.keep(form.format(a=a, b=b))

    def reduction(self) -> None:
        a = self.pick.choice(self.wide)
        form = self.pick.choice(
            ["{a}.sum(-1, keepdims=True) * 0.1", "{a}.max(axis=1)[:, None]", "{a}.mean(1, keepdims=True)",
             "pk.min({a}, axis=-1, keepdims=True)", "pk.tanh({a}).prod(-1).reshape((i, 1))"]
        )  # fmt: skip
        name = self.name("t")
        self.lines.append(f"{name} = {form.format(a=a)}")
        self.thin.append(name)

    def product(self) -> None:
        name = self.name("p")
        other = self.pick.choice(["w[k, :]", "w[:, k].T"])
        factor = self.pick.choice(["x[i, k]", "pk.tanh(y[i, k])", "x[i, k] * v[k]"])
        self.lines += [
            f"{name} = pk.zeros((i, x.shape[1]), pk.f64)",
            "for k in pk.tiles(x.shape[1]):",
            f"    {name} += {factor} @ {other} * 0.1",
        ]
        self.wide.append(name)

    def masked(self) -> None:
        a = self.pick.choice(self.wide)
        self.keep(f"pk.where(pk.positions(i)[:, None] >= pk.arange(x.shape[1]), {a}, {self.wide_value()})")

    def running(self) -> None:
        """Online softmax of a row."""
        m, total, new = self.name("m"), self.name("s"), self.name("n")
        self.lines += [
            f"{m} = pk.full((i, 1), -pk.inf, pk.f64)",
            f"{total} = pk.zeros((i, 1), pk.f64)",
            "for k in pk.tiles(x.shape[1]):",
            f"    {new} = pk.maximum({m}, y[i, k].max(-1, keepdims=True))",
            f"    {total} = {total} * pk.exp({m} - {new}) + pk.exp(y[i, k] - {new}).sum(-1, keepdims=True)",
            f"    {m} = {new}",
        ]
        self.thin += [f"pk.log({total})", m]


def random_kernel(seed: int) -> Case:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    writer = Writer(pick)
    for _ in range(pick.randint(2, 7)):
        writer.add()
    body = [
        *writer.lines,
        f"o[i] {pick.choice(['=', '+='])} {writer.wide[-1]}",
        f"r[i] = ({writer.thin[-1]}).sum(1)",
    ]
    text = (
        "\n    ".join(["import pykern as pk\n\n\n@pk.kernel\ndef k(o, r, x, y, w, v, index):", *body]) + "\n"
    )
    rows, width = pick.randint(1, 23), pick.randint(1, 9)
    x, y, o = (numbers.standard_normal((rows, width)) for _ in range(3))
    w, v = numbers.standard_normal((width, width)), numbers.standard_normal(width)
    index = numbers.integers(0, width, rows)
    return Case(text, (o, np.zeros(rows), x, y, w, v, index), rows)
