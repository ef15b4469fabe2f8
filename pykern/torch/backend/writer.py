"""From a part of an FX graph to the text of one array program: a line for each operation.

Comes in: nodes of ATen operations and what their values are (fake tensors: types, lengths, strides). Goes out: Python
source in pykern's array language, which `pykern.torch.backend.program` compiles. What an operation is written as is a
rule of `pykern.torch.backend.ops`; a rule raises `NotTaken` where it has no text that gives what PyTorch gives.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from typing import Any

from pykern.torch.backend.framework import Node, Tensor, torch

TYPES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
    torch.bool: "bool_",
}  # fmt: skip
"""Types of tensors that programs take, and pykern's names for them."""
HALVES = (torch.float16, torch.bfloat16)
"""Types that operations compute in float32, as PyTorch does, and round to afterwards."""
CONSTANTS = {"inf": float("inf"), "nan": float("nan")}
"""Names that stand for numbers in the text."""

DType = Any
"""A type of elements, in annotations."""
Rule = Callable[["Writer", Node], "str | tuple[str, ...]"]


class NotTaken(Exception):
    """An operation stays in PyTorch; the message says why."""


class Writer:
    """The lines of a program, and the name of each node's value in them."""

    def __init__(self, values: Callable[[Node], Any]) -> None:
        self.value = values
        self.lines: list[str] = []
        self._names: dict[Node, str | tuple[str, ...]] = {}
        self._used: dict[str, int] = {"pk": 1, **dict.fromkeys(CONSTANTS, 1)}

    # -- names -------------------------------------------------------------------------------

    def parameter(self, node: Node) -> str:
        """Name a value that the program is given: not after the node, so that equal parts have one text."""
        name = self._fresh("given")
        self._names[node] = name
        return name

    def write(self, node: Node, rule: Rule) -> None:
        """Add the lines of one operation."""
        made = rule(self, node)
        if isinstance(made, tuple):
            self._names[node] = tuple(self.let(_base(node), each) for each in made)
        else:
            self._names[node] = made if made.isidentifier() else self.let(_base(node), made)

    def let(self, base: str, expression: str) -> str:
        """Give an expression a name that begins with `base`."""
        name = self._fresh(base)
        self.lines.append(f"{name} = {expression}")
        return name

    def name(self, node: Node) -> str:
        """What a tensor is called."""
        found = self.names(node)
        assert isinstance(found, str), node
        return found

    def names(self, node: Node) -> str | tuple[str, ...]:
        """What the value of a node is called: one name, or one for each of its results."""
        if node not in self._names:
            several = not isinstance(self.value(node), Tensor)
            self._names[node] = tuple(f"{node.name}_{n}" for n in range(9)) if several else node.name
        return self._names[node]

    def _fresh(self, base: str) -> str:
        base = re.sub(r"\W", "_", base)
        base = re.sub(r"_\d+$", "", base) or "value"
        base = f"{base}_" if keyword.iskeyword(base) else base
        count = self._used[base] = self._used.get(base, 0) + 1
        name = base if count == 1 else f"{base}_{count}"
        return name if count == 1 or name not in self._used else self._fresh(base)

    # -- what values are ---------------------------------------------------------------------

    def shape(self, node: Node) -> tuple[int, ...]:
        """The lengths of a tensor."""
        return tuple(self.value(node).shape)

    def dtype(self, node: Node) -> DType:
        """The type of a tensor's elements."""
        return self.value(node).dtype

    def computed_in(self, node: Node) -> DType:
        """The type that PyTorch computes a node's elements in."""
        made = self.dtype(node)
        return torch.float32 if made in HALVES else made

    # -- expressions -------------------------------------------------------------------------

    def operand(self, value: Any, dtype: DType) -> str:
        """A tensor or a number as an operand of an operation in `dtype`."""
        if isinstance(value, Node):
            return cast(self.name(value), self.dtype(value), dtype)
        if isinstance(value, bool | int | float):
            return number(value, dtype)
        raise NotTaken(f"an operand is {type(value).__name__}")

    def rounded(self, expression: str, node: Node) -> str:
        """An expression in the type that `node` is computed in, as `node`'s own."""
        return cast(f"({expression})", self.computed_in(node), self.dtype(node))


def cast(expression: str, have: DType, want: DType) -> str:
    """An expression in another type. Raises `NotTaken` for types that programs have not."""
    if have not in TYPES or want not in TYPES:
        raise NotTaken(f"{have if have not in TYPES else want} is no type of array programs")
    if have == want:
        return expression
    if want == torch.bool:
        return f"({expression} != 0)"
    return f"{expression}.astype(pk.{TYPES[want]})"


def number(value: bool | int | float, dtype: DType) -> str:
    """A constant of an operation in `dtype`."""
    if dtype == torch.bool:
        return repr(bool(value))
    if dtype.is_floating_point:
        value = float(value)
    elif (
        isinstance(value, float)
        or not torch.iinfo(dtype).min <= (value := int(value)) <= torch.iinfo(dtype).max
    ):
        raise NotTaken(f"the number {value} in an operation on {dtype}")
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


def axes(dims: Any, rank: int) -> tuple[int, ...]:
    """The axes that `dims` means, counted from the front, in order; all of them for none."""
    if dims is None or (isinstance(dims, Sequence) and not dims):
        return tuple(range(rank))
    given = dims if isinstance(dims, Sequence) else (dims,)
    return tuple(sorted(d % rank for d in given)) if rank else ()


def argument(node: Node, place: int, name: str, default: Any = None) -> Any:
    """An argument of an operation, by its place or its name."""
    return node.args[place] if len(node.args) > place else node.kwargs.get(name, default)


def _base(node: Node) -> str:
    """What a node's value is called: the operation's name."""
    name = getattr(node.target, "overloadpacket", node.target)
    return getattr(name, "__name__", node.name).strip("_") or "value"
