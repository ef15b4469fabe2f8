"""Random smooth kernels through `pk.autodiff`: against differences, and forward against reverse.

Every other one at level "auto", which tries to raise it first; kernels that raise are in `test_random_arrays`.

``PYKERN_FUZZ=N`` scales the number of kernels as in `tests/fuzz`: N // 50, so 1 unless told, for each of
them takes three compilations. A failure prints the kernel and its number, which makes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.cases.count import PROGRAMS
from tests.cases.texts import imported

KERNELS = max(1, PROGRAMS // 50)
BATCH = 3
TAPS, SLOTS, ROW, PRIVATE = 5, 6, 3, 4
HEADER = """import pykern as pk


@pk.func
def twist(a, b):
    if a > b:
        return pk.sin(a) * b
    return a * 0.5 + pk.cos(b * a)


@pk.func
def series(a, m):
    total = a
    for q in range(m):
        total = total * 0.6 + pk.sin(a + q)
    return total


@pk.kernel
def run(out, y, t, x, c, k, n, s, r):
    i = pk.index()
    p = pk.private(4, pk.f64)
    for q in range(4):
        p[q] = x[i] * (q + 1) * 0.3
    f = x[i] * s
    g = c[i % len(c)] + r
    v = k[i]
    pk.atomic_add(t, i % len(t), x[i] * s + g * r + 0.3 * y[i, 0] + 0.2 * out[i])
"""


class RandomKernel:
    """One kernel. Floats `f` and `g` and the cells stay within [-2, 2]: every assignment is bounded."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines, self.counters = random, [], 0
        self.integers = ["i", "v", "n"]
        self.statements: dict[str, Callable[[str, bool], None]] = {
            "assign": self.assign, "store": self.store, "private": self.private, "atomic": self.atomic,
            "integer": self.integer_, "if": self.if_, "for": self.for_, "while": self.while_,
            "leave": self.leave, "return": self.return_,
        }  # fmt: skip

    def text(self) -> str:
        for _ in range(self.random.randint(3, 6)):
            self.statement("    ", in_loop=False)
        self.lines.append(f"    out[i] = out[i] * 0.5 + {self.bounded(1)} + f * g + p[v % 4]")
        return HEADER + "\n".join(self.lines) + "\n"

    def statement(self, indent: str, in_loop: bool) -> None:
        kinds = ["assign"] * 4 + ["store"] * 2 + ["private"] * 2 + ["atomic", "integer"]
        if len(indent) < 16:
            kinds += ["if", "if", "for", "for", "for", "while", "return"]
        if in_loop:
            kinds.append("leave")
        self.statements[self.random.choice(kinds)](indent, in_loop)

    def block(self, indent: str, in_loop: bool) -> None:
        """Loop variables are names of their block only."""
        known = list(self.integers)
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, in_loop)
        self.integers = known

    # -- statements ------------------------------------------------------------------------------------

    def assign(self, indent: str, in_loop: bool) -> None:
        name = self.random.choice("fg")
        form = self.random.choice(("{0} = {1}", "{0} = {1}", "{0} = 0.7 * {0} + 0.4 * {1}", "f, g = g, {1}"))
        self.lines.append(indent + form.format(name, self.bounded(2)))

    def store(self, indent: str, in_loop: bool) -> None:
        """In place, to cells of its own."""
        cell = self.random.choice(("out[i]", f"y[i, {self.index(ROW)}]"))
        form = self.random.choice(
            ("{0} = {1}", "{0} = pk.sin({0} + {1})", "{0} *= {1}", "{0} = pk.tanh({0} * g + {1})")
        )
        self.lines.append(indent + form.format(cell, self.bounded(1)))

    def private(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}p[{self.index(PRIVATE)}] = {self.bounded(2)}")

    def atomic(self, indent: str, in_loop: bool) -> None:
        operation = self.random.choice(("add", "sub"))
        self.lines.append(f"{indent}pk.atomic_{operation}(t, {self.index(SLOTS)}, {self.bounded(1)})")

    def integer_(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}v = (v * 3 + {self.random.choice(self.integers)} + 1) % 11")

    def if_(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}if {self.condition()}:")
        self.block(indent + "    ", in_loop)
        if self.random.random() < 0.3:
            self.lines.append(f"{indent}elif {self.condition()}:")
            self.block(indent + "    ", in_loop)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", in_loop)

    def for_(self, indent: str, in_loop: bool) -> None:
        self.counters += 1
        j, outer = f"j{self.counters}", self.random.choice(self.integers)
        spans = (
            "n",
            "4",
            f"{outer} % 4 + 1",
            f"{outer}, n",
            "n, 0, -1",
            "v % 3, 7, 2",
            "k[i] % 5",
            "x.shape[0]",
        )
        self.lines.append(f"{indent}for {j} in range({self.random.choice(spans)}):")
        self.integers.append(j)
        self.block(indent + "    ", True)
        self.integers.remove(j)

    def while_(self, indent: str, in_loop: bool) -> None:
        self.counters += 1
        w = f"w{self.counters}"
        self.lines += [
            f"{indent}{w} = 0",
            f"{indent}while {w} < {self.random.choice(('5', 'n', 'k[i]'))} and {self.condition()}:",
            f"{indent}    {w} += 1",
        ]
        self.integers.append(w)
        self.block(indent + "    ", True)
        self.integers.remove(w)

    def leave(self, indent: str, in_loop: bool) -> None:
        how = self.random.choice(("break", "continue"))
        self.lines += [f"{indent}if {self.condition()}:", f"{indent}    {how}"]

    def return_(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}if {self.condition()}:")
        if self.random.random() < 0.5:
            self.store(indent + "    ", in_loop)
        self.lines.append(f"{indent}    return")

    # -- expressions -----------------------------------------------------------------------------------

    def index(self, length: int) -> str:
        return f"({self.random.choice(self.integers)} + {self.random.randint(0, 4)}) % {length}"

    def bounded(self, depth: int) -> str:
        return f"pk.{self.random.choice(('tanh', 'sin', 'cos', 'atan'))}({self.number(depth)})"

    def number(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice(
                (
                    "f", "g", "f", "g", "s", "r", "x[i]", f"x[{self.index(99)} % len(x)]", f"c[{self.index(TAPS)}]",
                    f"c[k[({self.random.choice(self.integers)}) % len(k)] % len(c)]", "out[i]",
                    f"y[i, {self.index(ROW)}]", f"p[{self.index(PRIVATE)}]",
                    f"{self.random.choice(self.integers)} * 0.25",
                )
            )  # fmt: skip
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.random.choice(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / (3.0 + pk.sin({b})))", f"-{a} * 0.5",
                f"pk.sqrt(1.0 + {a} ** 2)", f"pk.exp(-({a}) ** 2)", f"pk.log(2.5 + pk.cos({a}))", f"twist({a}, {b})",
                f"series({a}, {self.random.choice(self.integers)} % 3)", f"({a} if {self.condition()} else {b})",
                f"pk.where({self.condition()}, {a}, {b})", f"max({a}, {b} * 0.7)", f"pk.fma({a}, 0.5, {b})",
            )
        )  # fmt: skip

    def condition(self) -> str:
        number = self.random.uniform(-0.9, 0.9)
        a, b = self.random.choice(self.integers), self.random.choice(self.integers)
        return self.random.choice(
            (f"f > {number:.3f}", f"g < {number:.3f}", f"f * g < {number:.3f}", f"x[i] > {number:.3f}", "f < g",
             f"p[{self.index(PRIVATE)}] > {number:.3f}", f"{a} < {b}", f"({a} + {b}) % 3 == 1", f"{a} % 2 != 0",
             f"({a} % 2 == 0 and f > {number:.3f})")
        )  # fmt: skip


def arguments(items: int, seed: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    return (
        random.uniform(-1, 1, items), random.uniform(-1, 1, (items, ROW)), random.uniform(-1, 1, SLOTS),
        random.uniform(-1, 1, items), random.uniform(-1, 1, TAPS), random.integers(0, 9, items),
        int(random.integers(1, 5)), float(random.uniform(0.4, 1.2)), float(random.uniform(0.4, 1.2)),
    )  # fmt: skip


def load(text: str, path: Path) -> Any:
    return imported(path, text).run


def check(number: int, folder: Path) -> pk.GradientCheck:
    """Differences see a kink that a step crosses; one is not met again at other numbers, a wrong rule is."""
    random = Random(number)
    text = RandomKernel(random).text()
    run, items = load(text, folder / f"random_{number}.py"), random.choice((1, 5, 37))
    failures: list[str] = []
    for seed in range(3):
        given = arguments(items, 3 * number + seed)
        try:
            level = "auto" if number % 2 else "direct"
            return pk.check_grads(run, given, ndrange=items, level=level, dot_rtol=1e-11)
        except AssertionError as error:
            failures.append(str(error))
            if "forward and reverse" in str(error):
                break
        except pk.KernelError as error:
            failures.append(f"{type(error).__name__}: {error}")
            break
    raise AssertionError("\n".join([f"kernel {number}, {items} items", text, *failures]))


@pytest.mark.parametrize("first", range(0, KERNELS, BATCH))
def test_random_kernels(first: int, tmp_path: Path) -> None:
    for number in range(first, min(first + BATCH, KERNELS)):
        check(number, tmp_path)
