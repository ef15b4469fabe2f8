"""Which names a function binds, and which it reads from outside, as Python's scopes have it.

Comes in: the AST of a function. Goes out: names and dotted paths. Functions and lambdas inside of it have scopes of
their own, and so have comprehensions. Used where a function is captured, and where a program calls one that it defined.
"""

from __future__ import annotations

import ast
import functools
from collections import deque
from collections.abc import Iterator
from typing import Union

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """`ast.walk` that stays out of the bodies of functions: of these it gives the defaults and decorators."""
    todo = deque([node])
    while todo:
        found = todo.popleft()
        todo.extend(_around(found) if isinstance(found, FUNCTIONS) else ast.iter_child_nodes(found))
        yield found


def assigned(node: ast.AST) -> Iterator[str]:
    """Names that the statement binds in the function it stands in, targets of comprehensions among them."""
    for found in walk(node):
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store):
            yield found.id
        elif isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
            yield found.name


@functools.lru_cache(1 << 14)
def last_stores(statement: ast.stmt) -> dict[str, ast.Name]:
    """Where each name gets its last value in a statement, as far as it binds names."""
    nodes = walk(statement)
    return {node.id: node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def parameters(arguments: ast.arguments) -> list[str]:
    """All of them, in order; `*args` and `**keywords` last."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in (*plain, arguments.vararg, arguments.kwarg) if a is not None]


def own_names(function: Function) -> frozenset[str]:
    """The names that belong to the function: parameters, and what its body binds."""
    bound = set(parameters(function.args))
    for part in _body(function):
        bound.update(_bound(part))
    return frozenset(bound)


def free_paths(function: Function) -> Iterator[str]:
    """Dotted names that the function, or one inside of it, reads and does not bind: ``pk.index`` and ``pk``."""
    own = own_names(function)
    for part in _body(function):
        yield from (path for path in _read(part) if path.split(".")[0] not in own)


def dotted(node: ast.AST) -> str | None:
    """``pk.sin`` of the AST of ``pk.sin``; None where it is no chain of names."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def _body(function: Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


def _around(function: Function) -> list[ast.expr]:
    """What is evaluated where the function is defined."""
    arguments = function.args
    defaults = [d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]
    return [*defaults, *getattr(function, "decorator_list", [])]


_NONE: frozenset[str] = frozenset()


def _nodes(node: ast.AST) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """The nodes under one in their order, and names that comprehensions around them have for themselves.

    Bodies of functions are left out. Not recursive: an expression may be nested as deeply as Python's parser allows.
    """
    todo = [(node, _NONE)]
    while todo:
        found, theirs = todo.pop()
        yield found, theirs
        inside = theirs | _targets(found) if isinstance(found, COMPREHENSIONS) else theirs
        children = _around(found) if isinstance(found, FUNCTIONS) else ast.iter_child_nodes(found)
        todo += reversed([(child, inside) for child in children])


def _bound(node: ast.AST) -> Iterator[str]:
    """Names a part of a body binds in its function: of a comprehension, what ``:=`` binds."""
    for found, theirs in _nodes(node):
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store | ast.Del):
            if found.id not in theirs:
                yield found.id
        elif (
            isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and found.name not in theirs
        ):
            yield found.name


def _read(node: ast.AST) -> Iterator[str]:
    for found, theirs in _nodes(node):
        path = dotted(found) if isinstance(found, ast.Name | ast.Attribute) else None
        if path and path.split(".")[0] not in theirs:
            yield path
        if isinstance(found, FUNCTIONS):
            yield from (path for path in free_paths(found) if path.split(".")[0] not in theirs)


def _targets(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> frozenset[str]:
    found = (n for g in node.generators for n in ast.walk(g.target))
    return frozenset(n.id for n in found if isinstance(n, ast.Name))
