"""What a kernel does with its parameters, as its text says: which are arrays, and which of these it writes.

Comes in: a kernel. Goes out: names. Operators are made known to PyTorch before the first call, when nothing has been
compiled; what the compiler finds later is the truth (`pykern.data.artifact.ArgumentUse`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from pykern.data.locations import parse_definition
from pykern.data.source import FunctionSource
from pykern.types import ArrayAnnotation, IntentAnnotation

_ATOMIC = "atomic_"
MOST_CALLS = 50
"""Functions that are looked into behind one another."""


@dataclass(frozen=True)
class Uses:
    """Names of parameters."""

    arrays: frozenset[str]
    written: frozenset[str]


def uses_of(kernel: Any) -> Uses:
    """What the parameters of a kernel are, by its text and its annotations."""
    found = _uses(kernel.captured()[0], 0)
    arrays, written = set(found.arrays), set(found.written)
    for name, annotation in kernel.annotations.items():
        if isinstance(annotation, IntentAnnotation):
            arrays.add(name)
            (written.add if annotation.writes else written.discard)(name)
        elif isinstance(annotation, ArrayAnnotation):
            arrays.add(name)
    return Uses(frozenset(arrays), frozenset(written))


def _uses(function: FunctionSource, depth: int) -> Uses:
    tree = parse_definition(function.text)
    assert isinstance(tree, ast.FunctionDef)
    own = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    called = {path: c for path, c in function.captures if isinstance(c, FunctionSource)}
    arrays: set[str] = set()
    written: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Name):
            arrays.add(node.value.id)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                written.add(node.value.id)
        elif isinstance(node, ast.Call):
            path = ast.unparse(node.func)
            if (
                path.rpartition(".")[2].startswith(_ATOMIC)
                and node.args
                and isinstance(node.args[0], ast.Name)
            ):
                arrays.add(node.args[0].id)
                written.add(node.args[0].id)
            elif path in called and depth < MOST_CALLS:
                inner = _uses(called[path], depth + 1)
                for name, value in _passed(called[path], node):
                    arrays |= {value} if name in inner.arrays else set()
                    written |= {value} if name in inner.written else set()
    return Uses(frozenset(arrays & set(own)), frozenset(written & set(own)))


def _passed(function: FunctionSource, call: ast.Call) -> list[tuple[str, str]]:
    """Parameters of a function that a call gives mere names for."""
    tree = parse_definition(function.text)
    assert isinstance(tree, ast.FunctionDef)
    names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
    pairs = [*zip(names, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
    return [(name, value.id) for name, value in pairs if isinstance(value, ast.Name)]
