"""Random kernels that may raise, through ``level="raised"`` and ``level="auto"``.

The gradient by way of whole arrays is checked against differences and against forward mode, which is work-item by
work-item. ``PYKERN_FUZZ=N`` scales the number as in `test_random_kernels`: 8 unless told. What does not raise is
differentiated by ``"auto"`` all the same. A failure prints the kernel and its number, which makes it again.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.autodiff.test_random_kernels import load
from tests.cases.count import PROGRAMS

KERNELS = max(8, PROGRAMS * 24 // 1000)
BATCH = 4
N = 6
"""Length of each dimension: arrays are square, so that they can be read transposed."""

HEADS = {
    1: "import pykern as pk\n\n\n@pk.kernel\ndef run(out, t, a, b, x, y, k, s):\n    i = pk.index()\n",
    2: "import pykern as pk\n\n\n@pk.kernel\ndef run(out, t, a, b, x, y, k, s):\n    i, j = pk.index()\n",
}


class RandomArrays:
    """A kernel over one or two dimensions. `f` and `g` stay within [-2, 2]."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines, self.loops = random, [], 0
        self.rank = random.choice((1, 2))
        self.own = "i" if self.rank == 1 else "i, j"
        self.indices = ["i", "j"][: self.rank]
        self.stencil = random.random() < 0.3

    def text(self) -> str:
        self.lines = [f"    f = {self.bounded(1)}", f"    g = {self.leaf()} * s"]
        for _ in range(self.random.randint(1, 4)):
            self.statement("    ")
        last = f"out[{self.own}] = " if self.random.random() < 0.7 else f"out[{self.own}] += "
        end = f"{last}{self.bounded(2)} + f * g"
        if self.stencil:
            self.lines = ["    " + line for line in self.lines]
            inside = " and ".join(f"0 < {v} < {N - 1}" for v in self.indices)
            self.lines = [f"    if {inside}:", *self.lines, f"        {end}"]
        else:
            self.lines.append(f"    {end}")
        return HEADS[self.rank] + "\n".join(self.lines) + "\n"

    def statement(self, indent: str) -> None:
        kind = self.random.choice(("assign", "assign", "if", "for", "for", "atomic", "in place"))
        if kind == "assign":
            form = self.random.choice(("{0} = {1}", "{0} = 0.7 * {0} + 0.4 * {1}", "f, g = g, {1}"))
            self.lines.append(indent + form.format(self.random.choice("fg"), self.bounded(2)))
        elif kind == "if":
            self.lines += [f"{indent}if {self.condition()}:", f"{indent}    f = {self.bounded(1)}"]
            if self.random.random() < 0.5:
                self.lines += [f"{indent}else:", f"{indent}    g = {self.bounded(1)}"]
        elif kind == "for":
            self.reduction(indent)
        elif kind == "atomic":
            cell = self.random.choice(("0", "i", "i // 2", "k[i]"))
            self.lines.append(f"{indent}pk.atomic_add(t, {cell}, {self.bounded(1)})")
        else:
            self.lines.append(f"{indent}out[{self.own}] = pk.sin(out[{self.own}] * {self.bounded(1)})")

    def reduction(self, indent: str) -> None:
        self.loops += 1
        q = f"q{self.loops}"
        span = self.random.choice((f"x.shape[{self.random.choice('01')}]", "3", f"1, {N - 1}", f"0, {N}, 2"))
        step = self.random.choice(
            ("f += 0.3 * {0}", "f = max(f, {0})", "g = min(g, {0})", "g += {0} * {1}", "f *= 0.9 + 0.1 * {0}")
        )
        start = self.random.choice((f"    f, g = {self.leaf()}, 0.0", "    f = 0.0", "    f, g = 1.0, 1.0"))
        self.lines.append(indent + start.strip())
        self.lines.append(f"{indent}for {q} in range({span}):")
        self.indices.append(q)
        self.lines.append(f"{indent}    {step.format(self.bounded(1), self.leaf())}")
        self.indices.remove(q)
        self.lines += [f"{indent}f = pk.tanh(f)", f"{indent}g = pk.sin(g)"]

    def bounded(self, depth: int) -> str:
        return f"pk.{self.random.choice(('tanh', 'sin', 'cos'))}({self.number(depth)})"

    def number(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf()
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.random.choice(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / (3.0 + pk.sin({b})))", f"-{a} * 0.5",
                f"pk.sqrt(1.0 + {a} ** 2)", f"pk.exp(-({a}) ** 2)", f"abs({a})", f"max({a}, {b} * 0.7)",
                f"pk.where({self.condition()}, {a}, {b})", f"({a} if {self.condition()} else {b})",
            )
        )  # fmt: skip

    def index(self) -> str:
        v = self.random.choice(self.indices)
        if self.stencil and v in "ij" and self.random.random() < 0.5:
            return f"{v} + 1" if self.random.random() < 0.5 else f"{v} - 1"
        return self.random.choice((v, v, v, v, f"{N - 1} - {v}", "2", f"k[{v}]", f"{v} // 2"))

    def leaf(self) -> str:
        one, two = self.random.choice("ab"), self.random.choice("xy")
        known = ["s", "f", "g"] if self.lines else ["s"]
        return self.random.choice(
            [f"{one}[{self.index()}]"] * 3
            + [f"{two}[{self.index()}, {self.index()}]"] * 4
            + [*known, f"{self.random.choice(self.indices)} * 0.25"]
        )

    def condition(self) -> str:
        v, number = self.random.choice(self.indices), self.random.uniform(-0.9, 0.9)
        return self.random.choice(
            (
                f"{self.leaf()} > {number:.3f}",
                f"{v} < 3",
                f"{v} % 2 == 0",
                f"k[{v}] > 2",
                f"{self.leaf()} < s",
            )
        )


def arguments(rank: int, seed: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    return (
        random.uniform(-1, 1, (N,) * rank), random.uniform(-1, 1, N), random.uniform(-1, 1, N),
        random.uniform(-1, 1, N), random.uniform(-1, 1, (N, N)), random.uniform(-1, 1, (N, N)),
        random.integers(0, N, N), float(random.uniform(0.4, 1.2)),
    )  # fmt: skip


def check(number: int, folder: Path, level: str) -> bool:
    """Whether the kernel has this level. A kink that a difference crosses is not met again at other numbers."""
    made = RandomArrays(Random(number))
    text = made.text()
    run = load(text, folder / f"arrays_{number}.py")
    failures: list[str] = []
    for seed in range(3):
        given = arguments(made.rank, 3 * number + seed)
        try:
            pk.check_grads(run, given, ndrange=(N,) * made.rank, level=level, dot_rtol=1e-11, entries=12)
        except AssertionError as error:
            failures.append(str(error))
            if "forward and reverse" in str(error):
                break
        except pk.NotRaisable:
            return False
        except pk.KernelError as error:
            failures.append(f"{type(error).__name__}: {error}")
            break
        else:
            return True
    raise AssertionError("\n".join([f"kernel {number}, level {level}", text, *failures]))


@pytest.mark.parametrize("first", range(0, KERNELS, BATCH))
def test_random_arrays(first: int, tmp_path: Path) -> None:
    raised = [check(number, tmp_path, "raised") for number in range(first, min(first + BATCH, KERNELS))]
    assert any(raised)
    for number, held in zip(range(first, first + 3), raised, strict=False):
        if not held:
            check(number, tmp_path, "auto")
