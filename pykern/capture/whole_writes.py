"""Which arrays a kernel fills: each work-item writes the element at its index, whatever else it does.

Comes in: a kernel's source. Goes out: names of parameters, with the number of dimensions. Such an array, of the shape
of the index space, need not be filled with zeros before the launch. What cannot be told from the text is left out.
"""

from __future__ import annotations

import ast

from pykern.data.locations import parse_definition
from pykern.data.source import FunctionSource

_LENGTHS = ("shape", "ndim", "dtype")


def filled(kernel: FunctionSource) -> dict[str, int]:
    """The arrays, each with its number of dimensions."""
    tree = parse_definition(kernel.text)
    assert isinstance(tree, ast.FunctionDef)
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.Return) for node in nodes):
        return {}
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    indices = _indices(kernel, tree.body, stored)
    own = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    found = {}
    for statement in tree.body:
        written = _written_at(statement, indices)
        if written is None:
            continue
        name, count = written
        if name in own and name not in stored and not _is_read(nodes, name):
            found[name] = count
    return found


def _indices(kernel: FunctionSource, body: list[ast.stmt], stored: list[str]) -> set[tuple[str, ...]]:
    """Names that hold the index of the work-item, and nothing else, from the first statements on."""
    own = {path for path, value in kernel.captures if getattr(value, "name", None) == "index"}
    found = set()
    for statement in body:
        match statement:
            case ast.Assign(targets=[target], value=ast.Call(func=called, args=[], keywords=[])):
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                if ast.unparse(called) in own and all(isinstance(n, ast.Name) for n in names):
                    made = tuple(n.id for n in names if isinstance(n, ast.Name))
                    if all(stored.count(name) == 1 for name in made):
                        found.add(made)
    return found


def _written_at(statement: ast.stmt, indices: set[tuple[str, ...]]) -> tuple[str, int] | None:
    """The array that a statement writes at the index, and how many indices these are."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=place)]):
            items = place.elts if isinstance(place, ast.Tuple) else [place]
            if tuple(n.id for n in items if isinstance(n, ast.Name)) in indices and all(
                isinstance(n, ast.Name) for n in items
            ):
                return name, len(items)
    return None


def _is_read(nodes: list[ast.AST], name: str) -> bool:
    """Whether anything but lengths is taken of an array, or it is given away."""
    fine = {
        id(node.value)
        for node in nodes
        if (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Attribute) and node.attr in _LENGTHS)
    }
    changed = {
        id(node.target.value)
        for node in nodes
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript)
    }
    return any(
        isinstance(n, ast.Name) and n.id == name and (id(n) not in fine or id(n) in changed) for n in nodes
    )
