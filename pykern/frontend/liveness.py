"""Whether a name is read after a statement, before it gets another value: what loops need not carry otherwise.

Comes in: a function's AST, a statement in it, a name. Goes out: true where some path may read what the statement left.
Answers true where in doubt. Read next: `control`, which asks it of loops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pykern.data.scopes import FUNCTIONS

READ, STORED, NEITHER = "read", "stored", "neither"


def read_after(function: ast.FunctionDef, statement: ast.stmt, name: str) -> bool:
    """Whether the value that `name` has after `statement` may be read."""
    return bool(names_read_after(function, statement, [name]))


def names_read_after(function: ast.FunctionDef, statement: ast.stmt, names: Iterable[str]) -> frozenset[str]:
    """Which of the names have a value after `statement` that may be read."""
    reads, way = _Reads(), _way(function.body, statement)
    inner = (part for part in ast.walk(function) if isinstance(part, FUNCTIONS) and part is not function)
    called = {
        name for part in inner for name in reads.loaded(part)
    }  # they read names as they are when they are called
    return frozenset(name for name in names if name in called or way is None or reads.on_the_way(way, name))


def read_first(statements: list[ast.stmt], name: str) -> bool:
    """Whether the value that `name` has in front of these statements may be read by them."""
    return _Reads().first(statements, name) == READ


Block = tuple[list[ast.stmt], "ast.For | ast.While | None"]


def _way(body: list[ast.stmt], statement: ast.stmt, around: ast.stmt | None = None) -> list[Block] | None:
    """What follows the statement in each block around it, the outermost first, with the loop that the block is of."""
    loop = around if isinstance(around, ast.For | ast.While) else None
    for position, one in enumerate(body):
        rest = body[position + 1 :]
        if type(one) is type(statement) and _place(one) == _place(statement):
            return [(rest, loop)]
        for inner, owner in _blocks(one):
            found = _way(inner, statement, owner)
            if found is not None:
                return [(rest, loop), *found]
    return None


def _blocks(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], ast.stmt | None]]:
    """The blocks of a statement, with the loop that runs them again."""
    yield getattr(statement, "body", []), statement
    yield getattr(statement, "orelse", []), None


def _place(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


class _Reads:
    """What statements do to names. Each part of the tree is walked once, however many names are asked for."""

    def __init__(self) -> None:
        self._loaded: dict[ast.AST, frozenset[str]] = {}
        self._leaves: dict[ast.AST, bool] = {}

    def on_the_way(self, way: list[Block], name: str) -> bool:
        """Whether what follows in these blocks may read the name."""
        for rest, loop in reversed(way):
            found = self.first(rest, name)
            if found == NEITHER and loop is not None:  # the loop around it goes on with its next iteration
                head = loop.test if isinstance(loop, ast.While) else loop.iter
                again = name in self.loaded(head) or self.first(loop.body, name) == READ
                found = READ if again or self.first(loop.orelse, name) == READ else NEITHER
            if found != NEITHER:
                return found == READ
        return False

    def first(self, statements: list[ast.stmt], name: str) -> str:
        """What happens first to the name: it may be read, it surely gets another value, or neither is sure."""
        leaves = False
        for statement in statements:
            found = self._of(statement, name)
            if found == READ:
                return READ
            if found == STORED:
                return NEITHER if leaves else STORED
            if isinstance(statement, ast.Break | ast.Continue):
                return NEITHER
            leaves = leaves or self._may_leave(statement)
        return NEITHER

    def loaded(self, node: ast.AST) -> frozenset[str]:
        """The names that a part of the tree reads."""
        if node not in self._loaded:
            self._loaded[node] = frozenset(
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
            )
        return self._loaded[node]

    def _may_leave(self, statement: ast.stmt) -> bool:
        if statement not in self._leaves:
            parts = ast.walk(statement)
            self._leaves[statement] = any(isinstance(part, ast.Break | ast.Continue) for part in parts)
        return self._leaves[statement]

    def _of(self, statement: ast.stmt, name: str) -> str:
        if isinstance(statement, ast.If):
            if name in self.loaded(statement.test):
                return READ
            sides = {self.first(statement.body, name), self.first(statement.orelse, name)}
            return READ if READ in sides else STORED if sides == {STORED} else NEITHER
        if isinstance(
            statement, ast.For | ast.While
        ):  # which may run no iteration: it stores nothing for sure
            head = statement.test if isinstance(statement, ast.While) else statement.iter
            inside = (
                NEITHER
                if name in _stored(getattr(statement, "target", None))
                else self.first(statement.body, name)
            )
            parts = (name in self.loaded(head), inside == READ, self.first(statement.orelse, name) == READ)
            return READ if any(parts) else NEITHER
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            is_read = statement.target.id == name or name in self.loaded(statement.value)
            return READ if is_read else NEITHER
        if name in self.loaded(statement):
            return READ
        if isinstance(statement, ast.Return):
            return STORED  # nobody reads it any more
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        return STORED if any(name in _stored(target) for target in targets) else NEITHER


def _stored(target: ast.expr | None) -> set[str]:
    """The names in what is assigned to."""
    return (
        {part.id for part in ast.walk(target) if isinstance(part, ast.Name)} if target is not None else set()
    )
