"""What a kernel's text shows of its arguments, where no call has told of them: which are arrays, and of what rank."""

from __future__ import annotations

import ast


def indices(code: ast.AST, name: str) -> int:
    """The most indices that `name` is given; 0 where it has none."""
    return max((_indices(node) for node in ast.walk(code) if _is_subscript_of(node, name)), default=0)


def has_attributes(code: ast.AST, name: str) -> bool:
    """Whether the name is asked for something, as arrays are for their shape."""
    return any(isinstance(node, ast.Attribute) and _is_name(node.value, name) for node in ast.walk(code))


def is_passed_on(code: ast.AST, name: str) -> bool:
    """Whether the name is an argument of a call."""
    calls = (node for node in ast.walk(code) if isinstance(node, ast.Call))
    return any(_is_name(argument, name) for call in calls for argument in call.args)


def array_rank(code: ast.AST, name: str) -> int:
    """The dimensions of `name` as far as they show; 1 where it is only asked for its shape, 0 for what is no array."""
    return indices(code, name) or int(has_attributes(code, name))


def index_rank(code: ast.AST) -> int:
    """The dimensions of the index space: as many names as ``pk.index()`` is unpacked to."""
    for node in ast.walk(code):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target, called = node.targets[0], ast.unparse(node.value.func)
            if isinstance(target, ast.Tuple) and called.rpartition(".")[2] == "index":
                return len(target.elts)
    return 1


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_subscript_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Subscript) and _is_name(node.value, name)


def _indices(node: ast.AST) -> int:
    inside = node.slice if isinstance(node, ast.Subscript) else None
    return len(inside.elts) if isinstance(inside, ast.Tuple) else 1
