"""Random programs that bind, write and swap names of arrays: what NumPy leaves in them, or a refusal.

A program may be refused, as names are followed with care rather than cleverness; it may not be wrong.
"""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError
from tests.frontend_program.execute import run
from tests.frontend_program.test_programs import close

NAMES = ("a", "b", "c")
STATEMENTS = (
    "{x} = {y}", "{x} = {y} * 2 + {z}", "{x}[0] = {y}[1]", "{x}[1:] = {y}[:-1]", "{x} += {y}", "{x}, {y} = {y}, {x}",
    "{x}, {y}, {z} = {y}, {z}, {x}", "{x} = {y}.copy()", "{x}[...] = {y} + 1", "{x} = {y}[::-1]",
    "{x} = {y} if n > 1 else {z}",
    "pair = ({x}, {y})\n{x}, {z} = pair", "k({x}, {y}, ndrange=3)", "{x} = f({y}, {z})", "{x}[n % 3] = n",
    "{x}[:2], {y}[1:] = {y}[1:], {x}[:2]", "{x} = {y}[:3] + f({y}, {z})", "{x} = {y}[[2, 0, 1]]",
)  # fmt: skip
BLOCKS = (
    "for i in pk.range(n):",
    "for i in pk.range(2):",
    "if n > 1:",
    "for i in range(2):",
    "if {x}[0] > {y}[1]:",
)
HEAD = """def f(p, q):
    p[2] = q[0]
    return q

def program(a, b, c, n):
"""


@pk.kernel
def k(y, x):
    i = pk.index()
    y[i] = x[i] * 0.5


def k_in_numpy(y, x, ndrange):
    y[:ndrange] = x[:ndrange] * 0.5


def body(choose: random.Random, depth: int, size: int) -> list[str]:
    lines: list[str] = []
    for _ in range(size):
        x, y, z = (choose.choice(NAMES) for _ in range(3))
        if depth < 2 and choose.random() < 0.25:
            lines.append(choose.choice(BLOCKS).format(x=x, y=y))
            block = lines[-1]
            inner = body(choose, depth + 1, choose.randint(1, 3))
            if block.startswith("for") and choose.random() < 0.2:
                inner = [*inner, "if i == 1: break", *body(choose, 3, 1)]
            lines += ["    " + line for line in inner]
            if block.startswith("if") and choose.random() < 0.4:
                lines += ["else:", *("    " + line for line in body(choose, 3, 1))]
        else:
            text = choose.choice(STATEMENTS).format(x=x, y=y, z=z)
            lines += [] if names_one_twice(text) else text.split("\n")
    return lines or ["pass"]


def names_one_twice(text: str) -> bool:
    """Whether an assignment has a name among its targets more than once: CPython 3.11.2 gives it the wrong one."""
    targets = [name.strip() for name in text.split("\n")[-1].partition("=")[0].split(",")]
    return len(set(targets)) < len(targets)


def program_text(seed: int) -> str:
    choose = random.Random(seed)
    lines = body(choose, 0, choose.randint(2, 5))
    return HEAD + "".join(f"    {line}\n" for line in lines) + "    return a, b, c\n"


def compare(seed: int) -> bool:
    """Whether the program was accepted; then it does what NumPy does."""
    text = program_text(seed)
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    ours: dict = {"pk": pk, "k": k}
    theirs: dict = {"pk": pk, "k": k_in_numpy}
    for scope in (ours, theirs):
        exec(compile(text, name, "exec"), scope)
    for n in (0, 1, 3):
        args = [np.arange(3.0) + 10 * j + 1 for j in range(3)]
        reference = [a.copy() for a in args]
        try:
            got = run(ours["program"], *args, n)
        except KernelTypeError:
            return False
        expected = theirs["program"](*reference, n)
        close(got, expected)
        close(args, reference)
    return True


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_random_programs(seed):
    accepted = sum(compare(s) for s in range(seed, seed + 20))
    assert accepted >= 6


def test_a_view_of_a_carried_array_is_written():
    @pk.jit
    def turned(x):
        a = x
        for _ in pk.range(3):
            a = a[::-1]
            a[0] = a[0] * 0.5 + 1
        return a.sum()

    with pytest.raises(KernelTypeError, match="bound anew in this loop"):
        turned(np.arange(3.0))
