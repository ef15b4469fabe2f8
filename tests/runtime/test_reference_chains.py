"""What the reference device cuts in pieces does what Python does: the same values, evaluated in the same order."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import Any

import pytest

from pykern.launching.reference_chains import CHUNK, ChainRewriter

LONG = 3 * CHUNK + 5


class Noted:
    """A number that notes what is done with it."""

    def __init__(self, value: int, notes: list) -> None:
        self.value, self.notes = value, notes

    def _noted(self, what: str, other: Any = 0) -> Noted:
        number = other.value if isinstance(other, Noted) else other
        self.notes.append((what, self.value, number))
        return Noted((self.value * 31 + len(what) + 7 * number) % 1009, self.notes)

    def __add__(self, other: Any) -> Noted:
        return self._noted("+", other)

    def __sub__(self, other: Any) -> Noted:
        return self._noted("minus", other)

    def __neg__(self) -> Noted:
        return self._noted("neg")

    def __getitem__(self, index: Any) -> Noted:
        return self._noted("item", index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._noted("set", index)
        self._noted("to", value)

    def __call__(self, argument: Any) -> Noted:
        return self._noted("call", argument)

    @property
    def part(self) -> Noted:
        return self._noted("part")

    def __bool__(self) -> bool:
        self.notes.append(("bool", self.value))
        return self.value % 5 == 0


def ran(tree: ast.Module) -> tuple[Any, list]:
    """What the function `f` of a module gives for numbers that it makes, and all that was done on the way."""
    notes: list = []

    def n(value: int) -> Noted:
        notes.append(("made", value))
        return Noted(value, notes)

    scope: dict[str, Any] = {"n": n}
    exec(compile(ast.fix_missing_locations(tree), "<chains>", "exec"), scope)
    result = scope["f"]()
    return result.value if isinstance(result, Noted) else result, notes


def rewritten(text: str) -> ast.Module:
    tree = ast.parse(text)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = ChainRewriter().block(function.body)
    return tree


def depth(node: ast.AST) -> int:
    return 1 + max((depth(child) for child in ast.iter_child_nodes(node)), default=0)


def a_sum() -> str:
    terms = (
        f"({' + '.join(f'n({k * j})' for k in range(LONG))})" if j == 7 else f"n({j})" for j in range(LONG)
    )
    return f"return {' - '.join(terms)}"


def mixed() -> str:
    made = "n(1)"
    for j in range(LONG):
        made = [f"{made}.part", f"{made}[n({j})]", f"{made}(n({j}))", f"{made} + n({j})", f"(-{made})"][j % 5]
        made = f"({made})" if j % 5 == 3 else made
    return f"return {made}"


def choices() -> str:
    inner = " else ".join(f"n({j}) if n({j * 3 + 1})" for j in range(LONG))
    outer = " else ".join(f"({inner} else n(0)) if n({j + 1}) + n(2)" for j in range(2))
    return f"return {outer} else {' else '.join(f'n({j}) if n({j + 2})' for j in range(LONG))} else n(9)"


def no_choice() -> str:
    return f"return {' else '.join(f'n({j}) if n(1)' for j in range(LONG))} else n(77)"


def branches() -> str:
    """A chain in a chain, in a loop that is left and gone on with from inside of branches."""
    inner = "\n".join(f"                {'el' * (j > 0)}if n({j * 2 + t}):\n                    r = r + n({j})"
                      for t in (1,) for j in range(LONG))  # fmt: skip
    ends = {3: "break", 5: "continue"}
    outer = "\n".join(
        f"            {'el' * (j > 0)}if k == {j}:\n"
        + (inner if j == 2 else f"                r = r + n({j})\n                {ends.get(j, 'pass')}")
        for j in range(LONG)
    )
    loop = f"for k in (4, 2, 5, {LONG}, 90, 3, 1):\n        if True:\n{outer}\n        r = r + n(3)"
    return f"r = n(0)\n    {loop}\n    return r"


def assigned() -> str:
    return f"n(1){'.part' * LONG}[n(2)] = n(3){'[2]' * LONG}\n    return n(4)"


CASES: list[Callable[[], str]] = [a_sum, mixed, choices, no_choice, branches, assigned]


@pytest.mark.parametrize("case", CASES)
def test_the_same_in_the_same_order(case: Callable[[], str]) -> None:
    text = f"def f():\n    {case()}\n"
    plain = ast.parse(text)
    assert depth(plain) > LONG
    cut = rewritten(text)
    assert depth(cut) < LONG
    assert ran(cut) == ran(plain)


def test_random_choices() -> None:
    """Which branch is taken, at every place of a chain and after it."""
    chosen = random.Random(5)
    for _ in range(20):
        numbers = [chosen.randrange(1000) for _ in range(2 * LONG)]
        expression = " else ".join(f"n({v}) if n({t})" for v, t in zip(*[iter(numbers)] * 2, strict=True))
        text = f"def f():\n    return {expression} else n(3)\n"
        assert ran(rewritten(text)) == ran(ast.parse(text))


def test_what_is_short_stays_as_it_is() -> None:
    text = "def f():\n    if n(1) + n(2) - -n(3):\n        return n(4)\n    elif n(5):\n"
    text += "        return n(1) if n(2) else n(3)\n"
    assert ast.dump(rewritten(text)) == ast.dump(ast.parse(text))


def test_places_stay() -> None:
    """An error in a term is at the line of the term."""
    lines = " +\n        ".join(f"n({j})" if j != 60 else "missing" for j in range(LONG))
    text = f"def f():\n    return ({lines})\n"
    with pytest.raises(NameError, match="missing") as caught:
        ran(rewritten(text))
    assert caught.traceback[-1].lineno == 1 + 60
