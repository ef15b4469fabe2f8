"""``sum(x[i, k] * y[k] for k in range(n))`` becomes a loop in front of its statement.

Comes in: the body of a kernel's function, as it is written. Goes out: the same, where ``sum``, ``any`` and ``all`` of a
generator or a list comprehension are names that a loop has given a value. Read next: `desugar`.

Calls that may be skipped (in ``a if c else b``, behind ``and`` and ``or``, in the test of ``while``) stay, and so do
those beside a call that writes: their order is that of the statement. Such generators are written out where their
lengths are known when compiling (`comprehensions`).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

_SKIPPED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What the walk does not enter: its parts may run several times, or not at all."""
_REDUCTIONS = ("sum", "any", "all")
_HEADS = ("value", "test", "iter")
Node = TypeVar("Node", bound=ast.AST)


def as_loops(body: list[ast.stmt], is_builtin: Callable[[str], bool]) -> list[ast.stmt]:
    """The statements with loops in front of them. `is_builtin` says whether a name is Python's own function."""
    if not any(map(is_builtin, _REDUCTIONS)):
        return body
    return _Rewriter(is_builtin).block(body)


class _Rewriter:
    def __init__(self, is_builtin: Callable[[str], bool]) -> None:
        self.is_builtin = is_builtin
        self.numbers = itertools.count()

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.If | ast.For | ast.While):
                statement.body = self.block(statement.body)
                statement.orelse = self.block(statement.orelse)
            if not isinstance(statement, ast.While | ast.With | ast.FunctionDef) and not _writes(statement):
                for head in _HEADS:
                    if isinstance(expression := getattr(statement, head, None), ast.expr):
                        made = self._expression(expression, done)
                        setattr(statement, head, made)
            done.append(statement)
        return done

    def _expression(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The expression with names for the calls in it that always run; their loops go to `before`."""
        if self._reduces(node):
            return self._loop(node, before)  # type: ignore[arg-type]
        if isinstance(node, _SKIPPED):
            return node
        if isinstance(node, ast.IfExp):
            node.test = self._expression(node.test, before)
        elif isinstance(node, ast.BoolOp):
            node.values[0] = self._expression(node.values[0], before)
        elif isinstance(node, ast.Compare):
            node.left = self._expression(node.left, before)
            node.comparators[0] = self._expression(node.comparators[0], before)
        else:
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    setattr(node, name, self._expression(value, before))
                elif isinstance(value, list):
                    value[:] = [self._expression(v, before) if isinstance(v, ast.expr) else v for v in value]
                    for keyword in value:
                        if isinstance(keyword, ast.keyword):
                            keyword.value = self._expression(keyword.value, before)
        return node

    def _reduces(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _REDUCTIONS
            and self.is_builtin(node.func.id)
            and 1 <= len(node.args) <= 1 + (node.func.id == "sum")
            and not node.keywords
            and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp)
        )

    def _loop(self, node: ast.Call, before: list[ast.stmt]) -> ast.expr:
        """``total = 0``, and a loop that adds; a flag, and a loop that ends where it is decided."""
        kind, generator = node.func.id, node.args[0]  # type: ignore[attr-defined]
        number = next(self.numbers)
        name = f".{kind}{number}"
        own = {n.id: f".{n.id}{number}" for n in _targets(generator)}  # type: ignore[arg-type]
        inside = _Renamed(own)
        start: ast.expr = ast.Constant(0 if kind == "sum" else kind == "all")
        if len(node.args) == 2:
            start = self._expression(node.args[1], before)
        element: ast.expr = inside.visit(generator.elt)  # type: ignore[attr-defined]
        step: list[ast.stmt]
        if kind == "sum":
            step = [ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), element)]
        else:
            decided = element if kind == "any" else ast.UnaryOp(ast.Not(), element)
            found = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(kind == "any"))
            step = [ast.If(decided, [found, ast.Break()], [])]
        step = self.block(step)  # of generators in the element
        for place, loop in reversed(list(enumerate(generator.generators))):  # type: ignore[attr-defined]
            for test in reversed(loop.ifs):
                step = [ast.If(inside.visit(test), step, [])]
            iterated = inside.visit(loop.iter) if place else self._expression(loop.iter, before)
            step = [ast.For(inside.visit(loop.target), iterated, step, [])]
            if kind != "sum" and place:  # the loops around end, too
                step.append(ast.If(_decided(name, kind), [ast.Break()], []))
        made: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], start), *step]
        before += [_at(statement, node) for statement in made]
        return _at(ast.Name(name, ast.Load()), node)


def _decided(name: str, kind: str) -> ast.expr:
    found: ast.expr = ast.Name(name, ast.Load())
    return found if kind == "any" else ast.UnaryOp(ast.Not(), found)


def _at(node: Node, place: ast.AST) -> Node:
    """Nodes that are made here stand where `place` does; those of the user's keep their places."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return node


def _targets(generator: ast.GeneratorExp | ast.ListComp) -> Iterator[ast.Name]:
    for loop in generator.generators:
        yield from (n for n in ast.walk(loop.target) if isinstance(n, ast.Name))


class _Renamed(ast.NodeTransformer):
    """The names of a generator are its own: in a loop they get names that nothing else has."""

    def __init__(self, own: dict[str, str]) -> None:
        self.own = own

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.own:
            return ast.copy_location(ast.Name(self.own[node.id], node.ctx), node)
        return node


def _writes(statement: ast.stmt) -> bool:
    """Whether an expression of the statement may change memory or a name: its order is kept then."""
    parts = [part for head in _HEADS if isinstance(part := getattr(statement, head, None), ast.expr)]
    for node in itertools.chain.from_iterable(map(ast.walk, parts)):
        if isinstance(node, ast.NamedExpr):
            return True
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called.startswith("atomic"):
                return True
    return False
