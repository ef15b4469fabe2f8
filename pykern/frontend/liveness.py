"""Whether a name is read after a statement, before it gets another value: what loops need not carry otherwise.

Comes in: a function's AST, a statement in it, a name. Goes out: true where some path may read what the statement left.
Answers true where in doubt. Read next: `control`, which asks it of loops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pykern.data.scopes import FUNCTIONS

READ, STORED, NEITHER = "read", "stored", "neither"


def read_after(function: ast.FunctionDef, statement: ast.stmt, name: str) -> bool:
    """Whether the value that `name` has after `statement` may be read."""
    inner = (part for part in ast.walk(function) if isinstance(part, FUNCTIONS) and part is not function)
    if any(_loads(part, name) for part in inner):  # they read names as they are when they are called
        return True
    way = _way(function.body, statement)
    if way is None:
        return True
    for rest, loop in reversed(way):
        found = _first(rest, name)
        if found == NEITHER and loop is not None:  # the loop around it goes on with its next iteration
            heads = [loop.test] if isinstance(loop, ast.While) else [loop.iter]
            again = any(_loads(head, name) for head in heads) or _first(loop.body, name) == READ
            found = READ if again or _first(loop.orelse, name) == READ else NEITHER
        if found != NEITHER:
            return found == READ
    return False


def read_first(statements: list[ast.stmt], name: str) -> bool:
    """Whether the value that `name` has in front of these statements may be read by them."""
    return _first(statements, name) == READ


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


def _first(statements: list[ast.stmt], name: str) -> str:
    """What happens first to the name: it may be read, it surely gets another value, or neither is sure."""
    leaves = False
    for statement in statements:
        found = _of(statement, name)
        if found == READ:
            return READ
        if found == STORED:
            return NEITHER if leaves else STORED
        if isinstance(statement, ast.Break | ast.Continue):
            return NEITHER
        leaves = leaves or any(isinstance(part, ast.Break | ast.Continue) for part in ast.walk(statement))
    return NEITHER


def _of(statement: ast.stmt, name: str) -> str:
    if isinstance(statement, ast.If):
        if _loads(statement.test, name):
            return READ
        sides = {_first(statement.body, name), _first(statement.orelse, name)}
        return READ if READ in sides else STORED if sides == {STORED} else NEITHER
    if isinstance(statement, ast.For | ast.While):  # which may run no iteration: it stores nothing for sure
        head = statement.test if isinstance(statement, ast.While) else statement.iter
        targets = {
            n.id for n in ast.walk(getattr(statement, "target", ast.Pass())) if isinstance(n, ast.Name)
        }
        inside = NEITHER if name in targets else _first(statement.body, name)
        parts = (_loads(head, name), inside == READ, _first(statement.orelse, name) == READ)
        return READ if any(parts) else NEITHER
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return READ if statement.target.id == name or _loads(statement.value, name) else NEITHER
    if _loads(statement, name):
        return READ
    if isinstance(statement, ast.Return):
        return STORED  # nobody reads it any more
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    stored = (part for target in targets if target is not None for part in ast.walk(target))
    return STORED if any(isinstance(part, ast.Name) and part.id == name for part in stored) else NEITHER


def _loads(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for part in ast.walk(node)
    )
