"""Values of the kernel as expressions: which wait for the place that uses them, and which get a name.

Comes in: expressions of ops, in the order of the ops. Goes out: lines with the names that were given. A value that is
used once is written where it is used, unless what it reads changes in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.lowering.source.expressions import Expression
from pykern.lowering.source.language import Language, Memory, Word
from pykern.lowering.source.names import Names, UserNames
from pykern.lowering.source.scalars import is_wide
from pykern.passes.analysis.cost_model.code_size import NAMED_TEXT
from pykern.passes.analysis.integer_ranges import I32, Ranges, signed, width
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import MEMORY_OPERAND, body, named, terminator

_BRANCHES = ("scf.if",)
_MOVES = ("arith.addi", "arith.muli", "arith.subi", "arith.index_cast")
"""What places of elements are computed by."""


@dataclass(frozen=True)
class Line:
    """One line of source, how deep it is nested, and what it was made of."""

    text: str
    depth: int
    locations: tuple[ir.Location, ...] = ()


@dataclass
class _Pending:
    """An expression that is not written down yet, because one later place uses it."""

    expression: Expression
    locations: tuple[ir.Location, ...]


@dataclass
class Values:
    """The values of one kernel. `arguments` are its memories and numbers in order, whose `names` are taken."""

    kernel: ir.Operation
    language: Language
    users: UserNames
    names: Names
    arguments: Sequence[Memory | Word]
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ranges = Ranges()
        self._positions: dict[ir.Value, bool] = {}
        self._written: dict[ir.Value, Expression] = {}
        self._pending: dict[ir.Value, _Pending] = {}
        self._memories: dict[ir.Value, Memory] = {}
        self._depth = 1
        self._locations: list[ir.Location] = []
        for argument, told in zip(body(self.kernel).arguments, self.arguments, strict=True):
            self._written[argument] = Expression(self.language.argument(told))
            if isinstance(told, Memory):
                self._memories[argument] = told

    def _kind(self, value: ir.Value) -> ir.Type:
        """The type of a value in the text: one of 64 bits has 32 where these are proved to hold it, and of a place of
        an element the low bits, which alone are looked at, where a language does not mix both."""
        if not is_wide(value.type):
            return value.type
        small = self.language.narrows and self._ranges.of(value).inside(I32)
        if not small and (self.language.pairs or not self.language.mixes):
            small = (
                not is_argument(value) and value.owner.name.startswith("arith.") and self._is_position(value)
            )
        return ir.IntegerType.get_signless(32 if small else 64)

    def _type(self, value: ir.Value, location: ir.Location | None = None) -> str:
        return self.language.type(self._kind(value), None if location is None else span_of(location))

    # -- values ----------------------------------------------------------------------------------

    def _value(self, value: ir.Value) -> Expression:
        pending = self._pending.pop(value, None)
        if pending is not None:
            self._locations.extend(pending.locations)
            return pending.expression
        return self._written[value]

    def _bind(self, op: ir.Operation, expression: Expression) -> None:
        """Keep the expression for the place that uses the value, or give it a name."""
        (value,) = op.results
        uses = list(value.uses)
        if not uses:
            self._locations = []
            return
        locations = (*self._locations, op.location)
        self._locations = []
        if _is_name(expression) and not expression.reads:
            self._written[value] = expression
        elif len(uses) == 1 and self._may_wait(op, uses[0].owner.operation, expression):
            self._pending[value] = _Pending(expression, locations)
        else:
            self._name(value, expression, locations)

    def _may_wait(self, op: ir.Operation, user: ir.Operation, expression: Expression) -> bool:
        if user.name != "scf.yield" and self._hint(op.results[0]) and len(expression.text) > NAMED_TEXT:
            return False
        block = user.block
        while block != op.block:
            around = block.owner.operation
            if around.name not in _BRANCHES or expression.memory or expression.reads:
                return False
            block = around.block
        return True

    def _name(self, value: ir.Value, expression: Expression, locations: tuple[ir.Location, ...]) -> None:
        name = self.names.fresh(self._hint(value) or self._array_hint(value) or "t")
        kind = self._kind(value)
        if expression.widened is not None:  # what wants the 64 bits widens it there
            inner, narrow = expression.widened
            self._put(self.language.constant(self.language.type(narrow), name, inner.text), locations)
            cast = self.language.cast(kind, Expression(name))
            self._written[value] = replace(cast, widened=(Expression(name), narrow))
            return
        written = self.language.type(kind, span_of(locations[-1]) if locations else None)
        self._put(self.language.constant(written, name, expression.text), locations)
        self._written[value] = Expression(name)

    def _settle(self, *changed: str, memory: bool = False) -> None:
        """Write down what waits and reads a variable, or memory, that is about to change."""
        self._name_pending(lambda waits: waits.reads.intersection(changed) or (memory and waits.memory))

    def _settle_changing(self) -> None:
        """Write down what waits and reads anything that may change: a branch or a loop begins."""
        self._name_pending(lambda waits: waits.reads or waits.memory)

    def _name_pending(self, changes: Callable[[Expression], object]) -> None:
        """Write down what waits and is about to change."""
        for value, pending in list(self._pending.items()):
            if changes(pending.expression):
                del self._pending[value]
                self._name(value, pending.expression, pending.locations)

    def _hint(self, value: ir.Value, deep: int = 4) -> str | None:
        """What the user calls this value."""
        if isinstance(value.owner, ir.Block) or deep == 0:
            return None
        op = value.owner.operation
        if any(use.owner.operation.location == op.location for use in value.uses):
            return None  # a part of the expression that stands there
        found = _marked(op.location) or self.users.of(op.location, _number_of(op, value))
        if found or op.name not in ("scf.if", "scf.for"):
            return found
        number = _number_of(op, value)
        for region in op.regions:
            found = self._hint(terminator(region.blocks[0]).operands[number], deep - 1)
            if found:
                return found
        return None

    def _array_hint(self, value: ir.Value) -> str | None:
        """A name made of that of an array, for a value that the user did not name: an element of it, the place of one,
        or where a row of it begins."""
        if isinstance(value.owner, ir.Block):
            return None
        op = value.owner.operation
        if op.name == "memref.load":
            return f"{self._array_name(op)}_value"
        if not list(value.uses) or not self._is_position(value):
            return None
        is_place = all(use.owner.operation.name in MEMORY_OPERAND for use in value.uses)
        what, arrays = "at" if is_place else "row", self._arrays_at(value)
        return f"{arrays.pop()}_{what}" if len(arrays) == 1 else what

    def _arrays_at(self, value: ir.Value, deep: int = 4) -> set[str]:
        """The arrays in which a number is a place, or a part of one."""
        found: set[str] = set()
        for use in value.uses:
            user = use.owner.operation
            if user.name in MEMORY_OPERAND:
                found.add(self._array_name(user))
            elif deep:
                found |= self._arrays_at(user.results[0], deep - 1)
        return found

    def _array_name(self, access: ir.Operation) -> str:
        return self._written[access.operands[MEMORY_OPERAND[access.name]]].text

    def _cannot_overflow(self, op: ir.Operation) -> bool:
        """Whether signed arithmetic stays within its type: it was proved, or the number is the place of an element."""
        (value,) = op.results
        if isinstance(value.type, ir.IndexType):
            return True
        whole = signed(width(value.type))
        return self._ranges.of(value) != whole or self._is_position(value)

    def _is_position(self, value: ir.Value) -> bool:
        """Whether a number is only used for the places of elements."""
        if value not in self._positions:
            self._positions[value] = all(self._is_place(use) for use in value.uses)
        return self._positions[value]

    def _is_place(self, use: ir.OpOperand) -> bool:
        user = use.owner.operation
        if user.name in MEMORY_OPERAND:
            return use.operand_number > MEMORY_OPERAND[user.name]
        return user.name in _MOVES and self._is_position(user.results[0])

    def _is_natural(self, value: ir.Value) -> bool:
        """Whether an integer is proved not to be negative."""
        return width(value.type) > 1 and self._ranges.of(value).is_nonnegative

    # -- lines -----------------------------------------------------------------------------------

    def _put(self, text: str, locations: tuple[ir.Location, ...]) -> None:
        self.lines.append(Line(text, self._depth, locations))

    def _statement(self, text: str, op: ir.Operation) -> None:
        self._put(text, (*self._locations, op.location))
        self._locations = []


def _marked(location: ir.Location) -> str | None:
    """The name that a location carries: of an id of the work-item, and of what was made of it."""
    return location.name_str if location.is_a_name() and "." not in location.name_str else None


def _is_name(expression: Expression) -> bool:
    return expression.text.replace("_", "a").replace(".", "a").isalnum() and not expression.memory


def _number_of(op: ir.Operation, value: ir.Value) -> int:
    return next(number for number, result in enumerate(op.results) if result == value)


def memories_written(kernel: ir.Operation) -> tuple[set[ir.Value], set[ir.Value]]:
    """The memory that a kernel writes, and of it what it changes atomically."""
    atomic = {
        op.operands[MEMORY_OPERAND[op.name]] for op in named(kernel, "kern.atomic_rmw", "kern.atomic_cas")
    }
    return atomic | {op.operands[1] for op in named(kernel, "memref.store")}, atomic
