"""Arguments made of lists, dicts, tuples and dataclasses: their leaves, and the same form of other leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """What the value is made of, in order, each with its path: ``p.layer.0``."""
    items = parts(value)
    if items is None:
        yield name, value
        return
    for inner, item in items:
        yield from leaves(item, f"{name}.{inner}")


def rebuilt(value: Any, others: Iterator[Any]) -> Any:
    """The value with its leaves taken from `others`, in order."""
    items = parts(value)
    if items is None:
        return next(others)
    made = {name: rebuilt(item, others) for name, item in items}
    if isinstance(value, dict):
        return made
    if isinstance(value, list):
        return list(made.values())
    if isinstance(value, tuple):
        return type(value)(*made.values()) if hasattr(value, "_fields") else tuple(made.values())
    return dataclasses.replace(value, **made)


def parts(value: Any) -> list[tuple[str, Any]] | None:
    """What a value is made of, by name; None for a leaf."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, tuple | list):
        return [(str(n), item) for n, item in enumerate(value)]
    return None
