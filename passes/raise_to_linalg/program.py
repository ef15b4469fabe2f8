"""The kernel as statements over dimensions, in the order in which they take effect.

A statement stands for all positions of its dimensions at once; a `Sequence` goes through one dimension
position by position. Read next: `reading`, which makes it; `independence`, which proves it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from mlir import ir

from pykern.passes.raise_to_linalg.expressions import Carried, Expression, Load, Mask
from pykern.passes.raise_to_linalg.forms import Dim, Form


@dataclass(eq=False)
class Bind:
    """The place at which a load reads."""

    load: Load
    dims: tuple[Dim, ...]


@dataclass(eq=False)
class Store:
    """`array[subscripts] = value` where `mask` holds; with `combine`, `combine(array[subscripts], value)`."""

    array: int
    subscripts: tuple[Form, ...]
    value: Expression
    dims: tuple[Dim, ...]
    mask: Mask
    location: ir.Location
    combine: str | None = None
    attributes: dict[str, ir.Attribute] = field(default_factory=dict)
    atomic: bool = False


@dataclass(eq=False)
class Sequence:
    """A loop kept in sequence, for all positions of the other dimensions `dims` at once."""

    dim: Dim
    body: list[Statement]
    dims: tuple[Dim, ...]
    mask: Mask
    inner_mask: Mask
    location: ir.Location
    carried: list[Carried] = field(default_factory=list)
    initial: list[Expression] = field(default_factory=list)
    yields: list[Expression] = field(default_factory=list)
    results: list[Carried] = field(default_factory=list)


Statement = Union[Bind, Store, Sequence]


@dataclass
class Program:
    """A kernel. `arrays` are its memref arguments by number; `items` the dimensions of the ndrange."""

    items: tuple[Dim, ...]
    arrays: dict[int, ir.Value]
    body: list[Statement] = field(default_factory=list)


def statements(body: list[Statement]) -> list[Statement]:
    """All statements, those within sequences too, in order."""
    found: list[Statement] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, Sequence):
            found += statements(statement.body)
    return found


def written(body: list[Statement]) -> list[int]:
    """Numbers of the arrays that are written, in order of their first store."""
    return list(dict.fromkeys(s.array for s in statements(body) if isinstance(s, Store)))
