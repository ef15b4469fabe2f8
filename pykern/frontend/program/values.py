"""What expressions of an array program evaluate to, beside the kernel frontend's values.

Arrays are objects, as in NumPy: a `Cell` is shared by the names bound to it, and its contents, a tensor,
change where the program writes in place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Union

from mlir import ir

from pykern.frontend.parse import ParsedFunction
from pykern.frontend.translation import Frame
from pykern.frontend.values import Extension, Text, TupleValue, Value
from pykern.types import DType


@dataclass(frozen=True)
class Way:
    """From an array to a view of it, and back."""

    whole: Cell
    take: Callable[[Cell], Cell]
    """The view of what the array holds now."""
    put: Callable[[Cell, Cell], ir.Value]
    """What the array holds with other elements in the view's place."""


@dataclass(eq=False)
class Cell(Extension):
    """An array. `ssa` is the tensor it holds at this place of the program.

    `is_scalar`: what NumPy makes a scalar of (a full reduction, an element): of rank 0, never written.
    `may_be`: the arrays this is one of, where paths of the program have met.
    """

    dtype: DType
    shape: tuple[int, ...]
    ssa: ir.Value
    name: str = ""
    is_scalar: bool = False
    parameter: int | None = None
    """Number of the parameter whose array this is."""
    writes: bool = True
    was_written: bool = False
    version: int = 0
    """When it was last written, on the clock of `born`."""
    base: Cell | None = None
    """Whose elements these are, where NumPy would make a view."""
    base_version: int = 0
    way: Way | None = None
    """Of a view that is written and read as NumPy's is: how its elements lie in the array that it was taken of."""
    may_be: frozenset[Cell] = frozenset()
    born: int = field(default_factory=itertools.count().__next__)

    @property
    def root(self) -> Cell:
        """The array that owns the elements."""
        return self.base or self

    @property
    def origins(self) -> frozenset[Cell]:
        """The arrays whose elements these may be. Two cells share elements only where they share an origin."""
        if self.base is not None:
            return self.base.origins
        return self.may_be or frozenset((self,))

    @property
    def is_stale(self) -> bool:
        """Whether this is a part of an array that has been written since: NumPy's view would show it."""
        return self.base is not None and self.base.version != self.base_version

    def view(self, made: Cell, way: Way | None = None) -> Cell:
        """`made`, known as a view of this array."""
        if not made.is_scalar:
            made.way = way
            made.base, made.base_version = self.root, self.root.version
            if self.base is not None:
                made.base_version = self.base_version
        return made

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def description(self) -> str:
        what = f"array `{self.name}`" if self.name else "an array"
        return f"{what}: {self.dtype.name}[{', '.join(map(str, self.shape))}]"


@dataclass(eq=False)
class GrowingList(Extension):
    """What the name of a list means in a loop that appends an item in each iteration, and stays one: `arrays` has one
    for each leaf of an item of the form `form`, with as many rows as the loop has `numbers`.

    `seen`: the arrays that were appended, and when; the first `older` ones before the loop. `may_be`: the arrays that
    the items may be, behind the loop.
    """

    form: Value
    arrays: list[Cell]
    counter: str
    numbers: range
    seen: list[tuple[Cell, int]] = field(default_factory=list)
    older: int = 0
    may_be: set[Cell] = field(default_factory=set)

    @property
    def description(self) -> str:
        return "a list that a loop appends to"


@dataclass(frozen=True)
class AllAxes(Extension):
    """``...`` as an argument: the index of a whole array."""

    @property
    def description(self) -> str:
        return "`...`"


@dataclass(frozen=True)
class BoundMethod(Extension):
    """``x.sum`` before it is called."""

    cell: Cell
    name: str

    @property
    def description(self) -> str:
        return f"the method `{self.name}` of {self.cell.description}"


@dataclass(eq=False)
class LocalFunction(Extension):
    """A function that the program defines: a closure over the names of `scope`, which it reads when it is called.

    `kept`: what the targets of a comprehension meant at its end, where the function was made in one.
    """

    parsed: ParsedFunction
    scope: Frame
    defaults: dict[str, Value]
    kept: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.parsed.source.name

    @property
    def description(self) -> str:
        return f"the function `{self.name}`"


@dataclass(frozen=True)
class DictMethod(Extension):
    """``d.items`` before it is called."""

    of: DictValue
    name: str

    @property
    def description(self) -> str:
        return f"the method `{self.name}` of {self.of.description}"

    def called(self) -> TupleValue:
        """What it gives: keys, values, or pairs of them."""
        pairs = self.of.items
        return TupleValue(tuple(_ITEMS[self.name](*pair) for pair in pairs), origins=self.of.origins)


_ITEMS = {
    "keys": lambda key, value: Text(key),
    "values": lambda key, value: value,
    "items": lambda key, value: TupleValue((Text(key), value)),
}


@dataclass(frozen=True)
class DictValue(Extension):
    """A dict with string keys."""

    items: tuple[tuple[str, Value], ...]
    origins: frozenset[int] = field(default=frozenset(), compare=False)
    """The dicts it may be: see `structures`."""

    @property
    def description(self) -> str:
        return f"a dict of {len(self.items)}"

    def method(self, name: str) -> DictMethod | None:
        return DictMethod(self, name) if name in _ITEMS or name == "copy" else None

    def get(self, key: str) -> Value | None:
        return dict(self.items).get(key)


Structure = Union[TupleValue, DictValue]


def parts(value: Value) -> list[Value]:
    """What a structure holds."""
    if isinstance(value, DictValue):
        return [item for _, item in value.items]
    return list(value.items) if isinstance(value, TupleValue) else []


def with_parts(value: Structure, made: list[Value]) -> Structure:
    """A structure of the same form that holds other values."""
    if isinstance(value, DictValue):
        return replace(value, items=tuple(zip((key for key, _ in value.items), made, strict=True)))
    return replace(value, items=tuple(made))


@dataclass
class Writes:
    """Arrays written since a place: what they held there. `start` tells older arrays from newer ones."""

    start: int
    before: dict[Cell, ir.Value] = field(default_factory=dict)
