"""Random programs that write their arguments in place, each beside the same in JAX, which writes none.

Comes in: a `Random`. Goes out: the text of a module with a program `f` and a function `reference` over jax.numpy, and
what the program's parameters are. Arrays have N elements, so that views of one array fit each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

N = 7
HEAD = """import pykern as pk

N = 7


@pk.kernel
def scale(a, b):
    i = pk.index()
    a[i] = a[i] * b[i] + 0.5


@pk.kernel
def shifted(a, b):
    i = pk.index()
    a[i] = b[i] * b[i + 1]


def damped(a, b):
    a *= pk.sin(b)
    return a.sum()

"""


@dataclass(frozen=True)
class RandomProgram:
    """`arrays`: how many of the parameters a, b, c; behind them are `s`, a float, and `n`, a whole number."""

    text: str
    arrays: int
    written: frozenset[str]
    loops: bool


def random_program(random: Random) -> RandomProgram:
    """A program of two to five statements."""
    names = list("abc")[: random.randint(1, 3)]
    made = _Statements(random, names)
    for _ in range(random.randint(2, 5)):
        made.statement(1)
    value = made.value()
    parameters = ", ".join([*names, "s", "n: pk.static"])
    text = HEAD + f"\n@pk.jit\ndef f({parameters}):\n" + "".join(made.program) + f"    return {value}\n"
    text += "\n\ndef reference(pk, " + ", ".join([*names, "s", "n"]) + "):\n"
    text += "    t = 0.0\n" + "".join(made.reference) + f"    return {value}\n"
    text = text.replace("n: pk.static):\n", "n: pk.static):\n    t = 0.0\n", 1)
    return RandomProgram(text, len(names), frozenset(made.written), made.loops)


class _Statements:
    """Both texts grow together."""

    def __init__(self, random: Random, names: list[str]) -> None:
        self.random, self.names = random, names
        self.program: list[str] = []
        self.reference: list[str] = []
        self.written: set[str] = set()
        self.loops = False

    def add(self, depth: int, program: str, reference: str) -> None:
        self.program.append("    " * depth + program + "\n")
        self.reference.append("    " * depth + reference + "\n")

    def statement(self, depth: int) -> None:
        kinds = [
            self._whole,
            self._whole,
            self._part,
            self._element,
            self._kernel,
            self._number,
            self._reverse,
        ]
        if depth == 1:
            kinds += [self._loop, self._helper]
        self.random.choice(kinds)(depth)

    def _target(self) -> str:
        name = self.random.choice(self.names)
        self.written.add(name)
        return name

    def _whole(self, depth: int) -> None:
        x, value, op = self._target(), self.expression(), self.random.choice("*+-")
        self.add(depth, f"{x} {op}= {value}", f"{x} = {x} {op} ({value})")

    def _part(self, depth: int) -> None:
        x, y = self._target(), self.random.choice(self.names)
        low = self.random.randint(0, 2)
        high = self.random.randint(low + 1, N)
        op, name = self.random.choice([("*", "multiply"), ("+", "add")])
        value = f"pk.cos({y}[{low}:{high}])"
        self.add(depth, f"{x}[{low}:{high}] {op}= {value}", f"{x} = {x}.at[{low}:{high}].{name}({value})")

    def _element(self, depth: int) -> None:
        x, y, i, j = self._target(), self.random.choice(self.names), self._place(), self._place()
        self.add(depth, f"{x}[{i}] = {y}[{j}] * {y}[{i}]", f"{x} = {x}.at[{i}].set({y}[{j}] * {y}[{i}])")

    def _place(self) -> int:
        return self.random.randrange(N)

    def _reverse(self, depth: int) -> None:
        x, y = self._target(), self.random.choice(self.names)
        value = f"{y}[::-1] * 0.5 + {x}"
        self.add(depth, f"{x}[:] = {value}", f"{x} = {value}")

    def _kernel(self, depth: int) -> None:
        x = self._target()
        others = [y for y in self.names if y != x]
        if not others:
            self._whole(depth)
            return
        y = self.random.choice(others)
        if self.random.random() < 0.5:
            self.add(depth, f"scale({x}, {y}, ndrange=N)", f"{x} = {x} * {y} + 0.5")
        else:
            self.add(depth, f"shifted({x}, {y}, ndrange=N - 1)", f"{x} = {x}.at[:-1].set({y}[:-1] * {y}[1:])")

    def _number(self, depth: int) -> None:
        x = self.random.choice(self.names)
        text = f"t = t + pk.sin({x}).sum() * s"
        self.add(depth, text, text)

    def _helper(self, depth: int) -> None:
        x, y = self._target(), self.random.choice(self.names)
        if x == y:
            self._number(depth)
            return
        self.add(depth, f"t = t + damped({x}, {y})", f"{x} = {x} * pk.sin({y}); t = t + {x}.sum()")

    def _loop(self, depth: int) -> None:
        self.loops = True
        trips = self.random.choice(["4", "n", "n + 1"])
        self.add(depth, f"for i in pk.range({trips}):", f"for i in range({trips}):")
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth + 1)

    def expression(self) -> str:
        x, y = self.random.choice(self.names), self.random.choice(self.names)
        forms = [
            "pk.sin({x})",
            "{x} * {y}",
            "({x} + s)",
            "pk.exp(-{x} * {x})",
            "(0.5 + 0.1 * {y} * s)",
            "pk.tanh({x} * {y})",
        ]
        return self.random.choice(forms).format(x=x, y=y)

    def value(self) -> str:
        x, y = self.random.choice(self.names), self.random.choice(self.names)
        return self.random.choice([
            f"({x} * {y}).sum() + t", f"{x} * s + t", f"({x} * {y}, t + s)",
            f"{{'u': {x} + t, 'v': ({y} * {y}).sum()}}",
            f"({x} * 1.0, {x} * 2.0 + t, 3)",
        ])  # fmt: skip
