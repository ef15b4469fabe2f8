"""The form of a program's arguments, as text: what is a tensor, what a number, what is known when compiling.

Comes in: a value, a tree of tensors, numbers, strings and None. Goes out: its leaves, and a text that can be read
again, in whatever process. Dynamo traces the writing; the reading it takes as a constant. The text is a literal: a
letter of `Operation.TYPES` for each leaf, ``("complex", ["N", "N"])``, ``("tuple", [...])``, ``("list", [...])``,
``("dict", {...})``, ``("struct", name, {...})``, ``("static", value)``.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from pykern.errors import KernelTypeError
from pykern.program.results import struct
from pykern.torch.complex_parts import parts_of
from pykern.torch.framework import torch
from pykern.types import ArrayAnnotation, static

_NUMBERS = (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool)


def written(value: Any, annotation: Any, found: list[Any]) -> str:
    """The form of an argument; its leaves are added to `found`. Raises `KernelTypeError`."""
    if annotation is static:
        return f"('static', {value!r})"
    if isinstance(value, torch.Tensor) and value.is_complex():
        found.append(parts_of(value))
        return "'C'"
    if isinstance(value, torch.Tensor):
        found.append(value)
        is_number = annotation is not None and not isinstance(annotation, ArrayAnnotation)
        return "'S'" if is_number else "'T'"
    if isinstance(value, complex):
        found.extend((value.real, value.imag))
        return "('complex', ['N', 'N'])"
    if isinstance(value, _NUMBERS):
        found.append(value)
        return "'N'"
    if value is None or isinstance(value, str):
        return f"('static', {value!r})"
    if isinstance(value, dict):
        items = [f"{key!r}: {written(item, None, found)}" for key, item in value.items()]
        return f"('dict', {{{', '.join(items)}}})"
    if isinstance(value, list):
        return f"('list', [{', '.join([written(item, None, found) for item in value])}])"
    fields = _fields(value)
    if fields is not None:
        items = [f"{name!r}: {written(getattr(value, name), None, found)}" for name in fields]
        return f"('struct', {type(value).__name__!r}, {{{', '.join(items)}}})"
    if isinstance(value, tuple):
        return f"('tuple', [{', '.join([written(item, None, found) for item in value])}])"
    raise KernelTypeError(
        f"an operator of PyTorch takes tensors and numbers, not {type(value).__name__}",
        hint="convert it: torch.as_tensor(x)",
    )


def _fields(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, tuple):
        return getattr(value, "_fields", None)
    if dataclasses.is_dataclass(value):
        return tuple([field.name for field in dataclasses.fields(value)])
    return None


def read(text: str) -> Any:
    """A form that was written."""
    return ast.literal_eval(text)


def kinds(form: Any) -> str:
    """The letters of its leaves."""
    if isinstance(form, str):
        return form
    if form[0] == "static":
        return ""
    inner = form[-1].values() if isinstance(form[-1], dict) else form[-1]
    return "".join(map(kinds, inner))


def restored(form: Any, given: Iterator[Any]) -> Any:
    """The value of this form with these leaves. What was a dataclass is a named tuple of its name."""
    if isinstance(form, str):
        return next(given)
    kind, *_, inner = form
    if kind == "static":
        return inner
    if kind in ("tuple", "list", "complex"):
        made = [restored(item, given) for item in inner]
        if kind == "complex":  # of types in place of numbers any complex number tells
            return complex(*made) if all(isinstance(part, float) for part in made) else 0j
        return made if kind == "list" else tuple(made)
    fields = {name: restored(item, given) for name, item in inner.items()}
    return fields if kind == "dict" else struct(form[1], tuple(fields))(**fields)
