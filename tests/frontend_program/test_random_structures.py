"""Random programs that change dicts and lists, on paths, in loops and through functions: what Python gives, or refused.

Nothing is compiled wrong: a program that could tell a change in place from what is compiled has to be refused.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError
from tests.cases.texts import written

START = """\
def program(x, n):
    def set_a(q, v):
        q['a'] = v
        return q
    d = {'a': x, 'b': x * 2}
    e = {'a': x + 1, 'b': x}
    xs = [d, x]
    ys = [x, x * 3]
    c = 0.0
"""


class Writer:
    """Statements over two dicts, a list that holds one of them, a list of arrays, and a number."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        lines = [line for _ in range(self.random.randint(3, 7)) for line in self.statement(0)]
        return START + "".join(f"    {line}\n" for line in [*lines, "return d, e, xs, ys, c"])

    def held(self) -> str:
        return self.random.choice(["d", "e", "d", "e", "xs[0]"])

    def key(self) -> str:
        return self.random.choice(["'a'", "'b'"])

    def made(self) -> str:
        return self.random.choice(
            [self.held(), self.held(), "{'a': x * 5, 'b': x}", "dict(d)", "{**e}", "e.copy()"]
        )

    def value(self) -> str:
        item = f"{self.held()}[{self.key()}] * {self.random.randint(2, 4)}"
        return self.random.choice(
            [item, f"x + {self.random.randint(1, 5)}", "ys[0] - c", f"ys[{self.random.randint(-2, 1)}]"]
        )

    def statement(self, depth: int) -> list[str]:
        simple = [
            *3 * [[f"{self.held()}[{self.key()}] = {self.value()}"]],
            [f"{self.random.choice('de')} = {self.made()}"],
            [f"ys[{self.random.randint(-2, 1)}] = {self.value()}"],
            [f"xs[0] = {self.made()}"],
            [f"{self.held()}.update(a={self.value()})"],
            [f"set_a({self.made()}, {self.value()})"],
            ["c = c + 1.0"],
            [f"for k, v in {self.held()}.items():", f"    {self.held()}[k] = v * 0.5 + c"],
            ["for u in xs[:1]:", f"    u['b'] = {self.value()}"],
            ["for i, w in enumerate(ys):", f"    ys[i] = w + {self.value()}"],
        ]
        if depth == 2 or self.random.random() < 0.75:
            return self.random.choice(simple)
        first, second = (self.indented(depth + 1) for _ in range(2))
        return self.random.choice(
            [
                [f"if n > {self.random.randint(0, 3)}:", *first, "else:", *second],
                [f"if n > {self.random.randint(0, 3)}:", *first],
                [f"for k{depth} in range(n):", *first],
                [f"for k{depth} in range(2):", *first],
            ]
        )

    def indented(self, depth: int) -> list[str]:
        return [f"    {line}" for _ in range(self.random.randint(1, 3)) for line in self.statement(depth)]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in (key, *leaves(item))]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def runs_alike(seed, folder) -> bool:
    """Whether the program is compiled; then it gives what Python gives."""
    file = folder / f"program{seed}.py"
    scope = written(file, Writer(seed).text())
    program = scope["program"]
    compiled, x = pk.jit(program), np.array([0.5, -1.25])
    for n in (0, 1, 3):
        wanted = leaves(program(x.copy(), n))
        try:
            found = leaves(compiled(x.copy(), n))
        except KernelError:
            return False
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            if isinstance(b, str):
                assert a == b
            else:
                np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=file.read_text())
    return True


@pytest.mark.parametrize("part", range(4))
def test_as_python_or_refused(part, tmp_path):
    compiled = [runs_alike(seed, tmp_path) for seed in range(12 * part, 12 * part + 12)]
    assert sum(compiled) >= 4, "most programs are no matter of doubt"
