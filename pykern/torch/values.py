"""The form of a program's value, as words that Dynamo can follow.

Comes in: the tree that the compiler writes (`pykern.frontend.program.results`). Goes out: words in front of what they
count: ``tuple 2 result none``, ``dict 1 key result``, ``struct 1 Name field result``, ``int 3``. A result of complex
numbers is ``complex``. A value is rebuilt of them with tensors in the places of results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pykern.program.results import struct
from pykern.torch.framework import torch

_BETWEEN = "\x1f"
_CONSTANTS = {"int": int, "float": float, "str": str}


def described(tree: Any) -> str:
    """The form of a value, as one text."""
    return _BETWEEN.join(_words(tree))


def _words(node: Any) -> Iterator[str]:
    if node is None:
        yield "none"
    elif "constant" in node:
        value = node["constant"]
        yield from (
            ("true" if value else "false",) if isinstance(value, bool) else (type(value).__name__, str(value))
        )
    elif "dict" in node:
        yield from ("dict", str(len(node["dict"])))
        for key, item in node["dict"].items():
            yield key
            yield from _words(item)
    elif "fields" in node:
        yield from ("struct", str(len(node["tuple"])), node["name"])
        for field, item in zip(node["fields"], node["tuple"], strict=True):
            yield field
            yield from _words(item)
    elif "tuple" in node:
        yield from ("list" if "list" in node else "tuple", str(len(node["tuple"])))
        for item in node["tuple"]:
            yield from _words(item)
    else:
        yield "complex" if "complex" in node else "result"


def is_flat(form: str) -> bool:
    """Whether the value is a result, or a tuple of results."""
    kind, *words = form.split(_BETWEEN)
    return form == "result" or (kind == "tuple" and all(word == "result" for word in words[1:]))


def rebuilt(form: str, results: Sequence[Any]) -> Any:
    """The value of this form."""
    if form == "result":
        return results[0]
    return _read(iter(form.split(_BETWEEN)), iter(results))


def _read(words: Iterator[str], results: Iterator[Any]) -> Any:
    kind = next(words)
    if kind in ("result", "complex"):
        return next(results) if kind == "result" else torch.view_as_complex(next(results))
    if kind in ("none", "true", "false"):
        return None if kind == "none" else kind == "true"
    if kind in _CONSTANTS:
        return _CONSTANTS[kind](next(words))
    count = int(next(words))
    if kind in ("tuple", "list"):
        items = [_read(words, results) for _ in range(count)]
        return items if kind == "list" else tuple(items)
    name = next(words) if kind == "struct" else ""
    fields = {}
    for _ in range(count):
        key = next(words)
        fields[key] = _read(words, results)
    return struct(name, tuple(fields))(**fields) if kind == "struct" else fields


def results_of(tree: Any) -> list[Any]:
    """The nodes of results, in order."""
    if not isinstance(tree, dict):
        return []
    if "array" in tree or "scalar" in tree:
        return [tree]
    return [
        node for item in (*tree.get("tuple", ()), *tree.get("dict", {}).values()) for node in results_of(item)
    ]


def kind_of_result(node: Any) -> str:
    """The kind of a cotangent: one of a number that is Python's is a number, too."""
    is_number = "scalar" in node and not node.get("numpy")
    return "S" if is_number else "C" if "complex" in node else "T"


def leaves_of(tree: Any, value: Any) -> Iterator[Any]:
    """What stands in a value for each of its results."""
    if not isinstance(tree, dict):
        return
    if "array" in tree or "scalar" in tree:
        yield value
    for item, part in zip(tree.get("tuple", ()), value if "tuple" in tree else (), strict=True):
        yield from leaves_of(item, part)
    for key, item in tree.get("dict", {}).items():
        yield from leaves_of(item, value[key])
