"""break, continue and return become flags and branches, so that only if, for and while are left.

Comes in: the statements of a function. Goes out: statements without Break, Continue, Return; loops
carry `exit_flags` (names that end the loop when true) and `otherwise` (names that their `else` gives a
value), and branches made of an early exit carry `is_guard`. Names of ours start with a dot and cannot
meet the user's.

The usual shapes need no flag: ``if c: return`` before more statements becomes ``if c: ... else: rest``.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field

from pykern.data.scopes import assigned

RESULT = ".result"
RETURNED = ".returned"
BROKE, SKIPPED = ".broke", ".skipped"
"""Beginnings of the flags of a loop, which has a number."""


@dataclass
class _Loop:
    """Flags of one loop; each is used only if the body has the statement."""

    broke: str
    skipped: str


@dataclass
class Desugarer:
    """Rewrites the body of one function."""

    counter: itertools.count = field(default_factory=itertools.count)

    def function_body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The whole body: `RETURNED` is made first where a return stands anywhere."""
        if not statements or "return" not in _exits_of(statements):
            return self._block(statements, None)
        return [_assign(RETURNED, False, statements[0]), *self._block(statements, None)]

    def _block(self, statements: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for position, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return [*done, *_return(statement)]
            if isinstance(statement, ast.Break) and loop:
                return [*done, _assign(loop.broke, True, statement)]
            if isinstance(statement, ast.Continue) and loop:
                return [*done, _assign(loop.skipped, True, statement)]
            exits = _exits(statement)
            rest = statements[position + 1 :] if exits else []
            if isinstance(statement, ast.If):
                folded = self._fold_rest(statement, rest, loop) if exits else None
                if folded is not None:
                    return [*done, folded]
                statement = self._branch(statement, statement.body, statement.orelse, loop)
            elif isinstance(statement, ast.For | ast.While):
                done += self._loop(statement, loop)
                statement = None
            if statement is not None:
                done.append(statement)
            if exits and rest:
                return [*done, self._guard(rest, exits, loop)]
        return done

    def _fold_rest(self, node: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> ast.If | None:
        """Where one branch always leaves and the other never does, the rest joins the other."""
        if _always_leaves(node.body) and not _exits_of(node.orelse):
            folded = self._branch(node, node.body, node.orelse + rest, loop)
        elif _always_leaves(node.orelse) and not _exits_of(node.body):
            folded = self._branch(node, node.body + rest, node.orelse, loop)
        else:
            return None
        folded.is_guard = True
        return folded

    def _branch(self, node: ast.If, body: list, orelse: list, loop: _Loop | None) -> ast.If:
        made = ast.If(node.test, self._block(body, loop), self._block(orelse, loop))
        return ast.copy_location(made, node)

    def _guard(self, rest: list[ast.stmt], exits: set[str], loop: _Loop | None) -> ast.If:
        """``if no flag is set: rest``."""
        flags = [RETURNED] if "return" in exits else []
        if loop and "break" in exits:
            flags.append(loop.broke)
        if loop and "continue" in exits:
            flags.append(loop.skipped)
        guard = ast.copy_location(ast.If(none_of(flags, rest[0]), self._block(rest, loop), []), rest[0])
        guard.is_guard = guard.else_has_left = True
        return guard

    def _loop(self, node: ast.For | ast.While, outer: _Loop | None) -> list[ast.stmt]:
        number = next(self.counter)
        loop = _Loop(f"{BROKE}{number}", f"{SKIPPED}{number}")
        inside = _exits_of(node.body)
        body = self._block(node.body, loop)
        before: list[ast.stmt] = []
        flags = [RETURNED] if "return" in inside else []
        if "continue" in inside:
            body = [_assign(loop.skipped, False, node), *body]
        if "break" in inside:
            before.append(_assign(loop.broke, False, node))
            flags.append(loop.broke)
        if isinstance(node, ast.For):
            made = ast.For(node.target, node.iter, body, [])
        else:
            made = ast.While(node.test, body, [])
        made = ast.copy_location(made, node)
        made.is_tile = getattr(node, "is_tile", False)
        made.exit_flags = flags
        made.otherwise = {name for statement in node.orelse for name in _always_assigned(statement)}
        after: list[ast.stmt] = []
        if node.orelse and flags:
            otherwise = ast.If(none_of(flags, node), self._block(node.orelse, outer), [])
            after = [ast.copy_location(otherwise, node.orelse[0])]
        elif node.orelse:
            after = self._block(node.orelse, outer)
        return [*before, made, *after]


def _always_assigned(statement: ast.stmt) -> set[str]:
    """Names that an assignment outside of branches and loops gives a value."""
    return set(assigned(statement)) if isinstance(statement, ast.Assign | ast.AnnAssign) else set()


def _exits(statement: ast.stmt) -> set[str]:
    """Which of break, continue, return may leave through this statement. Kept at it: it is asked at every level."""
    found = getattr(statement, "exits", None)
    if found is None:
        found = _found_exits(statement)
        statement.exits = found  # type: ignore[attr-defined]
    return found


def _found_exits(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Return):
        return {"return"}
    if isinstance(statement, ast.Break):
        return {"break"}
    if isinstance(statement, ast.Continue):
        return {"continue"}
    if isinstance(statement, ast.If):
        return _exits_of(statement.body) | _exits_of(statement.orelse)
    if isinstance(statement, ast.For | ast.While):
        return (_exits_of(statement.body) & {"return"}) | _exits_of(statement.orelse)
    return set()


def _exits_of(statements: list[ast.stmt]) -> set[str]:
    return set().union(*(_exits(s) for s in statements)) if statements else set()


def always_returns(statements: list[ast.stmt]) -> bool:
    """Whether a function's last statement is a return on every path, as far as its form tells."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    if isinstance(last, ast.While):  # left by nothing but a return
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return endless and "break" not in _exits_of(last.body)
    return isinstance(last, ast.Return)


def _always_leaves(statements: list[ast.stmt]) -> bool:
    """Whether control never reaches the end of these statements."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return | ast.Break | ast.Continue):
        return not _exits_of(statements[:-1])
    return isinstance(last, ast.If) and _always_leaves(last.body) and _always_leaves(last.orelse)


def _return(node: ast.Return) -> list[ast.stmt]:
    assigned = [_assign(RETURNED, True, node)]
    if node.value is not None:
        result = ast.Assign([ast.Name(RESULT, ast.Store())], node.value)
        ast.copy_location(result.targets[0], node)
        assigned.insert(0, ast.copy_location(result, node))
    return assigned


def _assign(name: str, value: bool, where: ast.stmt) -> ast.stmt:
    node = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
    return _place(node, where)


def none_of(flags: list[str], where: ast.stmt) -> ast.expr:
    """``not (a or b)``."""
    names: list[ast.expr] = [ast.Name(flag, ast.Load()) for flag in flags]
    test = names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)
    return _place(ast.UnaryOp(ast.Not(), test), where)


def _place(node, where):
    for inner in ast.walk(node):
        if isinstance(inner, ast.stmt | ast.expr):
            ast.copy_location(inner, where)
    return node
