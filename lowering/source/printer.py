"""The walk over a kernel's structured IR: an op is an expression, or a statement.

Comes in: a flat kernel (scf, arith, math, memref of rank 1, atomics of kern, ids of gpu) and a `Language`. Goes out:
lines of source, each with the locations of the ops that it was made of. A value that is used once is written where
it is used; others, and those that the user named, get a name. Read next: `control_flow`, `scalars`, `language`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.gpu.limits import elements_left, shared_bytes
from pykern.lowering.source.control_flow import ControlFlow, has_tape
from pykern.lowering.source.expressions import SUM, Expression
from pykern.lowering.source.language import Memory
from pykern.lowering.source.msl_fragments import Moved
from pykern.lowering.source.values import memories_written
from pykern.passes.analysis.integer_ranges import width
from pykern.passes.kernels import BUFFERS, MEMORY_OPERAND, body, named

INDENT = "    "
_PURE = ("arith.", "math.", "gpu.thread_id", "gpu.block_id")


@dataclass
class Printer(ControlFlow):
    """Prints one kernel."""

    shared: list[str] = field(default_factory=list)
    """Declarations of a group's memory."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._atomic_memory = memories_written(self.kernel)[1]
        self._sized = 0

    def run(self) -> None:
        """Print the body. Raises `TargetError` for what the language lacks, at its line."""
        block = body(self.kernel)
        ops = [op.operation for op in block.operations]
        taped = [op for op in ops if has_tape(op) and not self._is_over_items(op)]
        if taped:
            self._lines(self.language.begin_tape, taped[0])
        self._block(block)
        if taped:
            self._lines(self.language.end_tape, taped[0])

    # -- ops -------------------------------------------------------------------------------------

    def _block(self, block: ir.Block) -> None:
        for op in block.operations:
            self._op(op.operation)

    def _op(self, op: ir.Operation) -> None:
        if op.name == "arith.constant":
            self._type(
                op.results[0], _first_user(op).location
            )  # constants of all lines are one, and stand nowhere
            self._written[op.results[0]] = self.language.literal(
                op.attributes["value"], self._kind(op.results[0])
            )
        elif op.name.startswith(_PURE):
            for value in (op.results[0], *op.operands):
                self._type(value, op.location)
            self._bind(op, self.scalars.expression(op, [self._value(operand) for operand in op.operands]))
        elif (handler := _STATEMENTS.get(op.name)) is not None:
            handler(self, op)
        else:
            raise TargetError(f"`{op.name}` has no form in {self.language.name}", span_of(op.location))

    def _nothing(self, op: ir.Operation) -> None:
        """The end of a block: who opened it writes what it gives."""

    def _cell(self, op: ir.Operation) -> tuple[str, Memory | None]:
        at = MEMORY_OPERAND[op.name]
        memory, place = op.operands[at], op.operands[at + 1]
        return f"{self._written[memory].text}[{self._subscript(place)}]", self._memories.get(memory)

    def _subscript(self, place: ir.Value) -> str:
        """The place of an element: an integer of any width."""
        value = self._value(place)
        return self.language.subscript(
            value if value.widened is None else value.widened[0], width(self._kind(place))
        )

    def _load(self, op: ir.Operation) -> None:
        place = self._pending.get(op.operands[1])
        reads = place.expression.reads if place else self._written[op.operands[1]].reads
        cell, memory = self._cell(op)
        changes = memory is None or memory.written
        value = Expression(self.language.load(cell, memory), reads=reads, memory=changes)
        if memory is not None and memory.unsigned:
            bare = replace(value, text=cell)
            value = replace(value, other_sign=(bare, self.language.unsigned(memory.element)))
        self._bind(op, value)

    def _store(self, op: ir.Operation) -> None:
        value = self._as(op.operands[0], op.operands[0].type).text
        cell, memory = self._cell(op)
        kept, self._locations = self._locations, []
        self._settle(memory=True)
        self._locations = kept
        self._statement(self.language.store(cell, value, memory), op)

    def _changes(self, op: ir.Operation) -> ir.Type:
        """The type of what an atomic changes. Raises `TargetError` at its line where the language lacks it."""
        kind = op.operands[0].type
        if width(kind) > self.language.atomic_bits:
            raise TargetError(
                f"{self.language.name} changes no integers of {width(kind)} bits atomically",
                span_of(op.location),
                hint="use 32 bits on this target",
            )
        return kind

    def _atomic(self, op: ir.Operation) -> None:
        changed = self._changes(op)
        values = [self._as(each, each.type).text for each in list(op.operands)[: MEMORY_OPERAND[op.name]]]
        cell, memory = self._cell(op)
        kind = ir.StringAttr(op.attributes["kind"]).value
        self._give(op, self.language.atomic(kind, cell, values[0], changed, memory))

    def _exchange_if(self, op: ir.Operation) -> None:
        changed = self._changes(op)
        expected, desired = (self._as(each, each.type).text for each in list(op.operands)[:2])
        cell, memory = self._cell(op)
        if self.language.weak_exchange:
            self._exchange_weakly(op, cell, expected, desired)
            return
        self._give(op, self.language.exchange_if(cell, expected, desired, changed, memory))

    def _exchange_weakly(self, op: ir.Operation, cell: str, expected: str, desired: str) -> None:
        """Again where it failed although nobody changed the element."""
        kept, self._locations = self._locations, []
        self._settle(memory=True)
        self._locations = kept
        hint = self._hint(op.results[0]) or "seen"
        name, tried = self._declare(hint, op.results[0], expected, op), self.names.fresh("tried")
        self._written[op.results[0]] = Expression(name)
        for line in self.language.exchange_weakly(name, tried, cell, expected, desired):
            self._put(line, (op.location,))

    def _shuffle(self, op: ir.Operation) -> None:
        mode = str(op.attributes["mode"]).rstrip(">").split()[-1]
        value, amount = (self._value(each) for each in list(op.operands)[:2])
        self._give(op, self.language.shuffle(mode, value, amount))

    def _give(self, op: ir.Operation, text: str) -> None:
        """A call that changes memory: a statement, whose value gets a name where somebody wants it."""
        locations = (*self._locations, op.location)
        self._locations = []
        self._settle(memory=True)
        if list(op.results[0].uses):
            self._name(op.results[0], Expression(text), locations)
        else:
            self._put(f"{text};", locations)

    def _push(self, op: ir.Operation) -> None:
        value = self._as(op.operands[0], op.operands[0].type).text
        self._statement(self.language.push(value), op)

    def _pop(self, op: ir.Operation) -> None:
        self._give(op, self.language.pop())

    def _barrier(self, op: ir.Operation) -> None:
        self._settle(memory=True)
        self._statement(self.language.barrier, op)

    def _buffer(self, op: ir.Operation) -> None:
        kind = ir.MemRefType(op.result.type)
        element = self.language.type(kind.element_type, span_of(op.location))
        name = self.names.fresh(self.users.of(op.location) or "memory")
        self._written[op.result] = Expression(name)
        count = max(1, kind.shape[0]) if not op.operands else self._most(kind.element_type)
        if op.name == "kern.private":
            self._statement(self.language.private(name, element, count), op)
            return
        atomic = op.result in self._atomic_memory
        self._memories[op.result] = Memory(name, kind.element_type, True, atomic, shared=True)
        if op.operands and self.language.sized:
            self.shared.append(self.language.sized_shared(name, element, self._sized, atomic))
            self._sized += 1
        else:
            self.shared.append(self.language.shared(name, element, count, atomic))

    def _most(self, element: ir.Type) -> int:
        """Elements of an array that the launch sizes: source has only fixed ones, so it takes what is left."""
        arrays = len(named(self.kernel, "kern.dynamic_shared"))
        return elements_left(shared_bytes(self.kernel), arrays, element)

    # -- matrices of subgroups

    def _fragments(self, op: ir.Operation) -> None:
        name = self.names.fresh("matrices")
        self._written[op.result] = Expression(name)
        self._lines(self.language.fragments(name, *self._matrices(op.result)[1:]), op)

    def _clear_fragments(self, op: ir.Operation) -> None:
        self._lines(self.language.clear_fragments(*self._matrices(op.operands[0])), op)

    def _matrices(self, value: ir.Value) -> tuple[str, str, int]:
        """The name of an array of matrices, the type of their elements, and how many there are."""
        kind = ir.MemRefType(value.type)
        return self._written[value].text, self.language.fragment_type(kind.element_type), kind.shape[0]

    def _move_fragments(self, op: ir.Operation) -> None:
        held, memory, place = op.operands
        numbers = {
            name: ir.IntegerAttr(op.attributes[name]).value for name in ("first", "count", "apart", "row")
        }
        at, array = self._value(place).within(SUM), self._written[memory].text
        is_of_bits = ir.MemRefType(held.type).element_type != ir.MemRefType(memory.type).element_type
        name, kind, _ = self._matrices(held)
        moved = Moved(name, memory=array, place=at, kind=kind if is_of_bits else "", **numbers)
        self._settle(memory=True)
        self._lines(self.language.move_fragments(moved, is_load=op.name == "kern.load_fragments"), op)

    def _multiply_fragments(self, op: ir.Operation) -> None:
        (sums, *_), left, right = (self._matrices(value) for value in op.operands)
        self._lines(self.language.multiply_fragments(sums, (left[0], left[2]), (right[0], right[2])), op)


_STATEMENTS = {
    "memref.load": Printer._load,
    "memref.store": Printer._store,
    "kern.atomic_rmw": Printer._atomic,
    "kern.atomic_cas": Printer._exchange_if,
    "kern.push": Printer._push,
    "kern.pop": Printer._pop,
    "gpu.barrier": Printer._barrier,
    "gpu.shuffle": Printer._shuffle,
    **dict.fromkeys(BUFFERS, Printer._buffer),
    "kern.fragments": Printer._fragments,
    "kern.clear_fragments": Printer._clear_fragments,
    "kern.load_fragments": Printer._move_fragments,
    "kern.store_fragments": Printer._move_fragments,
    "kern.multiply_fragments": Printer._multiply_fragments,
    "scf.if": Printer._if,
    "scf.for": Printer._for,
    "scf.while": Printer._while,
    "scf.yield": Printer._nothing,
    "func.return": Printer._nothing,
}


def _first_user(constant: ir.Operation) -> ir.Operation:
    """An op that reads a constant, the first one as a rule."""
    users = [use.owner for use in constant.results[0].uses]
    return users[-1].operation if users else constant  # the last that is listed was made first
