"""From MLIR functions to Python functions: one Python statement an op, regions become Python's own control flow.

Comes in: a function of a module. Goes out: its text, a generator: it yields where work-items meet.
Read next: `translate`.
The rules of the ops stand in `rules_*`, one file a group of dialects; an op without a rule is `NoReading`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from pykern.interpreter.numbers import TYPES
from pykern.passes.kernels import identity


class NoReading(Exception):
    """An op or a type that this interpreter does not know."""


Rule = Callable[["Emitter", ir.Operation], None]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register what ops become."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def template(text: str, *names: str) -> None:
    """Ops that are one Python expression: {0}, {1} … are operands, {t} the result's dtype, {s} the first operand's."""

    def emit(e: Emitter, op: ir.Operation) -> None:
        e.assign(op, text.format(*map(e.name, op.operands), t=e.dtype(op.results[0].type), s=e.first(op)))

    for name in names:
        RULES[name] = emit


@dataclass
class Emitter:
    """The Python text of one module, and the objects it names."""

    objects: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    names: dict[Any, str] = field(default_factory=dict)
    functions: dict[str, ir.Operation] = field(default_factory=dict)
    globals: dict[str, ir.Operation] = field(default_factory=dict)
    depth: int = 0
    count: int = 0

    # -- names ---------------------------------------------------------------------------------

    def name(self, value: ir.Value) -> str:
        """The Python name of a value."""
        if value not in self.names:
            self.names[value] = self.fresh("v")
        return self.names[value]

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def object(self, thing: Any, prefix: str = "k") -> str:
        """A name for something that is made now."""
        name = self.fresh(prefix)
        self.objects[name] = thing
        return name

    def dtype(self, kind: ir.Type) -> str:
        """The name of the NumPy dtype of numbers, and of the elements of vectors and memrefs."""
        text = str(dtype_of(kind))
        self.objects.setdefault(f"T_{text}", dtype_of(kind))
        return f"T_{text}"

    def first(self, op: ir.Operation) -> str:
        """The dtype of the first operand; of the result where there is none."""
        kind = op.operands[0].type if len(op.operands) else op.results[0].type
        try:
            return self.dtype(kind)
        except NoReading:
            return "None"

    # -- text ----------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def assign(self, op: ir.Operation, text: str, result: int = 0) -> None:
        self.line(f"{self.name(op.results[result])} = {text}")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines under `head`."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def set_all(self, targets: list[str], values: list[str]) -> None:
        """Give several names their values at once."""
        if targets:
            self.line(f"{', '.join(targets)} = {', '.join(values)}")

    # -- ops -----------------------------------------------------------------------------------

    def op(self, op: ir.Operation) -> None:
        """One op by its rule."""
        found = RULES.get(op.name)
        if found is None:
            raise NoReading(f"`{op.name}` has no reading")
        found(self, op)

    def ops(self, block: ir.Block) -> ir.Operation:
        """The ops of a block but for its terminator, which is given back."""
        *inner, last = [op.operation for op in block.operations]
        for op in inner:
            self.op(op)
        return last

    def region(self, region: ir.Region) -> None:
        """A region of one block, or of blocks that branch to each other."""
        blocks = list(region.blocks)
        if len(blocks) == 1:
            self.op(self.ops(blocks[0]))
            return
        numbers_of = {block_number(b): n for n, b in enumerate(blocks)}
        at = self.fresh("at")
        self.branches.append((at, numbers_of))
        self.line(f"{at} = 0")
        with self.block("while True:"):
            for n, block in enumerate(blocks):
                with self.block(f"{'if' if n == 0 else 'elif'} {at} == {n}:"):
                    self.op(self.ops(block))
        self.branches.pop()

    branches: list[tuple[str, dict[int, int]]] = field(default_factory=list)
    """Around: the name that holds the number of the next block, and the numbers."""

    def function(self, op: ir.Operation) -> None:
        """A function, as a generator."""
        symbol = ir.StringAttr(op.attributes["sym_name"]).value
        arguments = [self.name(a) for a in op.regions[0].blocks[0].arguments]
        with self.block(f"def {python_name(symbol)}({', '.join(['it', *arguments])}):"):
            self.line("if False: yield")
            self.region(op.regions[0])


def python_name(symbol: str) -> str:
    return "f_" + "".join(c if c.isalnum() else f"_{ord(c):x}_" for c in symbol)


def element_type(kind: ir.Type) -> ir.Type:
    """The type of the numbers in a vector or memref; itself for a number."""
    return ir.ShapedType(kind).element_type if isinstance(kind, ir.ShapedType) else kind


def dtype_of(kind: ir.Type) -> np.dtype:
    """The NumPy dtype of a type's numbers. Raises `NoReading` where there is none."""
    text = str(element_type(kind))
    if text.startswith("!spirv.ptr"):
        text = "!llvm.ptr"  # an address
    if text not in TYPES:
        raise NoReading(f"the type {kind} has no reading")
    return TYPES[text]


def is_vector(kind: ir.Type) -> bool:
    return isinstance(kind, ir.VectorType)


def integer(op: ir.Operation, name: str) -> int:
    """An integer attribute, 0 where it is missing."""
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else 0


def integers(op: ir.Operation, name: str) -> list[int]:
    """An attribute that is a dense array of integers or an array of integer attributes."""
    attribute = op.attributes[name]
    if isinstance(attribute, ir.ArrayAttr):
        return [ir.IntegerAttr(a).value for a in ir.ArrayAttr(attribute)]
    text = str(attribute)
    inner = text[text.index(":") + 1 : -1] if ":" in text else ""
    return [int(n) for n in inner.split(",") if n.strip()]


def block_number(block: ir.Block) -> int:
    """The address of a block's first op: blocks are told apart by it."""
    return identity(next(iter(block.operations)).operation)
