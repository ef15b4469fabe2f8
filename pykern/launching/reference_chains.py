"""Long chains in pieces that Python's compiler takes: sums, `elif`, conditional expressions, signs, method calls.

Comes in: the AST of a kernel that the reference device rewrites. Goes out: the same meaning, nested less deeply, so
that neither this nor Python's compiler reaches the limit of recursion, which is the user's. What is evaluated first is
still evaluated first, at its own place: ``a + b + c + d`` in pieces of two is ``(t := a + b, t + c + d)[-1]``.
Names of ours start with a dot and cannot meet the user's. Read next: `reference_rewrite`.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from pykern.data.scopes import COMPREHENSIONS

CHUNK = 32
"""Nodes within each other that are left as they are."""
_FIRST = {
    ast.BinOp: "left",
    ast.UnaryOp: "operand",
    ast.Attribute: "value",
    ast.Subscript: "value",
    ast.Call: "func",
}
"""The part of an expression that is evaluated first, where it is an expression that may be as long again."""
_DONE = "is_rewritten"


class ChainRewriter(ast.NodeTransformer):
    """Visits chains from their inner end, and cuts what is longer than a piece. Subclasses rewrite the nodes."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._own_scope = 0
        """How many comprehensions and lambdas stand around: a name that is bound there is not the function's."""

    def visit(self, node: ast.AST) -> Any:
        if getattr(node, _DONE, False):
            return node
        if isinstance(node, (*COMPREHENSIONS, ast.Lambda)):
            self._own_scope += 1
            made = super().visit(node)
            self._own_scope -= 1
            return made
        return self._chain(node) if type(node) in _FIRST else super().visit(node)

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements of a body, rewritten: one may become several."""
        made = (self.visit(statement) for statement in statements)
        return [one for each in made for one in (each if isinstance(each, list) else [each])]

    def _chain(self, node: ast.AST) -> ast.AST:
        """An expression whose first part has a first part, and so on."""
        if not isinstance(getattr(node, "ctx", None), ast.Load | None):
            return super().visit(node)  # what is assigned to stays what it is
        outer, links = node, []
        while type(node) in _FIRST:
            links.append(node)
            node = getattr(node, _FIRST[type(node)])
        made, pieces = self.visit(node), []
        for number, link in enumerate(reversed(links), 1):
            setattr(made, _DONE, True)
            setattr(link, _FIRST[type(link)], made)
            made = super().visit(link)
            if number % CHUNK == 0 and link is not outer and not self._own_scope:
                pieces.append(_bound(".first", made))
                made = _read(".first", made)
        return _last([*pieces, made]) if pieces else made

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        cases: list[ast.IfExp] = []
        rest: ast.expr = node
        while isinstance(rest, ast.IfExp):
            cases.append(rest)
            rest = rest.orelse
        for case in cases:
            case.test, case.body = self.visit(case.test), self.visit(case.body)
        made = self.visit(rest)
        if len(cases) <= CHUNK or self._own_scope:
            for case in reversed(cases):
                case.orelse = made
                made = case
            return made
        number = next(self._numbers)
        open_, value = f".open{number}", f".value{number}"
        parts: list[ast.expr] = [_bound(open_, ast.copy_location(ast.Constant(True), node))]
        for case in cases:
            closed = _bound(open_, ast.copy_location(ast.Constant(False), case))
            taken = ast.copy_location(ast.Tuple([_bound(value, case.body), closed], ast.Load()), case)
            parts.append(_if_open(open_, case, taken))
        last = ast.copy_location(ast.IfExp(_read(open_, made), _bound(value, made), ast.Constant(None)), made)
        return _last([*parts, ast.fix_missing_locations(last), _read(value, node)])

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        cases = [node]
        while len(cases[-1].orelse) == 1 and isinstance(cases[-1].orelse[0], ast.If):
            cases.append(cases[-1].orelse[0])
        for case in cases:
            case.test, case.body = self.visit(case.test), self.block(case.body)
        rest = self.block(cases[-1].orelse)
        if len(cases) <= CHUNK:
            cases[-1].orelse = rest
            return [node]
        name = f".open{next(self._numbers)}"
        made: list[ast.stmt] = [_assigned(name, True, node)]
        for case in cases:
            test = ast.BoolOp(ast.And(), [_read(name, case.test), case.test])
            body = [_assigned(name, False, case), *case.body]
            made.append(ast.copy_location(ast.If(ast.copy_location(test, case.test), body, []), case))
        if rest:
            made.append(ast.copy_location(ast.If(_read(name, rest[0]), rest, []), rest[0]))
        return made


def _if_open(name: str, case: ast.IfExp, taken: ast.expr) -> ast.expr:
    """What is taken of a case, where none before it was."""
    test = ast.copy_location(ast.BoolOp(ast.And(), [_read(name, case.test), case.test]), case.test)
    return ast.copy_location(ast.IfExp(test, taken, ast.copy_location(ast.Constant(None), case)), case)


def _bound(name: str, value: ast.expr) -> ast.NamedExpr:
    return ast.copy_location(
        ast.NamedExpr(ast.copy_location(ast.Name(name, ast.Store()), value), value), value
    )


def _read(name: str, at: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _assigned(name: str, value: bool, at: ast.stmt) -> ast.Assign:
    made = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
    return ast.fix_missing_locations(ast.copy_location(made, at))


def _last(parts: list[ast.expr]) -> ast.expr:
    """All of them one after the other, for the value of the last."""
    at = parts[-1]
    several = ast.copy_location(ast.Tuple(parts, ast.Load()), at)
    return ast.copy_location(ast.Subscript(several, ast.copy_location(ast.Constant(-1), at), ast.Load()), at)
