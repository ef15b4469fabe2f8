"""What a kernel's text shows of its arguments, where no call has told of them: how many indices arrays have."""

from __future__ import annotations

import ast


def array_rank(code: ast.AST, name: str) -> int:
    """The most indices that `name` is given; 1 where it is only asked for its shape, 0 where it has none."""
    return max((_indices(node, name) for node in ast.walk(code)), default=0)


def _indices(node: ast.AST, name: str) -> int:
    """How many indices `name` has at this node; 1 where an array is passed on or asked for its shape."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
        return len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
        return 1
    return 0


def index_rank(code: ast.AST) -> int:
    """The dimensions of the index space: as many names as ``pk.index()`` is unpacked to."""
    for node in ast.walk(code):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target, called = node.targets[0], ast.unparse(node.value.func)
            if isinstance(target, ast.Tuple) and called.rpartition(".")[2] == "index":
                return len(target.elts)
    return 1
