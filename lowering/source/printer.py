"""The walk over a kernel's structured IR: statements, variables, branches and loops.

Comes in: a flat kernel (scf, arith, math, memref of rank 1, atomics of kern, ids of gpu) and a `Language`. Goes out:
lines of source, each with the locations of the ops that it was made of. A value that is used once is written where
it is used; others, and those that the user named, get a name. Read next: `scalars`, `language`, `names`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.gpu.limits import elements_left, shared_bytes
from pykern.lowering.source.expressions import COMPARISON, SUM, Expression, negated
from pykern.lowering.source.language import Memory
from pykern.lowering.source.msl_fragments import Moved
from pykern.lowering.source.scalars import Scalars
from pykern.lowering.source.values import Line, Values, memories_written
from pykern.passes.analysis.integer_ranges import width
from pykern.passes.kernels import BUFFERS, MEMORY_OPERAND, body, identity, is_constant, named, terminator

INDENT = "    "
_PURE = ("arith.", "math.", "gpu.thread_id", "gpu.block_id")


@dataclass
class Printer(Values):
    """Prints one kernel."""

    shared: list[str] = field(default_factory=list)
    """Declarations of a group's memory."""
    items: tuple[str, ...] = ()
    """Names of the loops over work-items, from the outermost one, in a language that has such loops."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scalars = Scalars(self.language, self._cannot_overflow, self._is_natural, self._kind)
        self._variables: dict[str, ir.Type] = {}
        """The type of each variable in the text."""
        self._if_variables: dict[int, list[str | None]] = {}
        """The variables of the results of an `if` that are its own, by the identity of its op."""
        self._while_variables: dict[int, list[str]] = {}
        """The variables that a `while` carries, by the identity of its op."""
        self._atomic_memory = memories_written(self.kernel)[1]
        self._sized = 0

    def run(self) -> None:
        """Print the body. Raises `TargetError` for what the language lacks, at its line."""
        self._block(body(self.kernel))

    # -- ops -------------------------------------------------------------------------------------

    def _block(self, block: ir.Block) -> None:
        for op in block.operations:
            self._op(op.operation)

    def _op(self, op: ir.Operation) -> None:
        if op.name == "arith.constant":
            self._type(op.results[0], op.location)
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

    def _as(self, value: ir.Value, wanted: ir.Type) -> Expression:
        """A value as what has this type in the text takes it."""
        return self.scalars.converted(self._value(value), self._kind(value), wanted)

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
        kind = ir.MemRefType(op.result.type)
        name = self.names.fresh("matrices")
        self._written[op.result] = Expression(name)
        self._lines(self.language.fragments(name, self.language.type(kind.element_type), kind.shape[0]), op)

    def _clear_fragments(self, op: ir.Operation) -> None:
        self._lines(self.language.clear_fragments(*self._matrices(op.operands[0])), op)

    def _matrices(self, value: ir.Value) -> tuple[str, str, int]:
        """The name of an array of matrices, the type of their elements, and how many there are."""
        kind = ir.MemRefType(value.type)
        return self._written[value].text, self.language.type(kind.element_type), kind.shape[0]

    def _move_fragments(self, op: ir.Operation) -> None:
        held, memory, place = op.operands
        numbers = {
            name: ir.IntegerAttr(op.attributes[name]).value for name in ("first", "count", "apart", "row")
        }
        at, array = self._value(place).within(SUM), self._written[memory].text
        moved = Moved(self._written[held].text, memory=array, place=at, **numbers)
        self._settle(memory=True)
        self._lines(self.language.move_fragments(moved, is_load=op.name == "kern.load_fragments"), op)

    def _multiply_fragments(self, op: ir.Operation) -> None:
        (sums, *_), left, right = (self._matrices(value) for value in op.operands)
        self._lines(self.language.multiply_fragments(sums, (left[0], left[2]), (right[0], right[2])), op)

    def _lines(self, lines: Sequence[str], op: ir.Operation) -> None:
        for line in lines:
            self._put(line, (op.location,))

    # -- branches and loops ----------------------------------------------------------------------

    def _if(self, op: ir.Operation) -> None:
        condition = self._value(op.operands[0])
        kept, self._locations = self._locations, []
        self._settle_changing()
        names = [self._result(op, number) for number in range(len(op.results))]
        own = [self._outer(op, result, None) is None for result in op.results]
        self._if_variables[identity(op)] = [
            name if is_own else None for name, is_own in zip(names, own, strict=True)
        ]
        self._locations = kept
        begun = len(self.lines)
        self._statement(f"if ({condition.text}) {{", op)
        self._nested(op.regions[0].blocks[0], names)
        mark = len(self.lines)
        if list(op.regions[1].blocks):
            self._put("} else {", ())
            self._nested(op.regions[1].blocks[0], names)
            if len(self.lines) == mark + 1:
                self.lines.pop()
            elif mark == begun + 1:  # there is only an else
                opening = self.lines[begun]
                self.lines[begun : mark + 1] = [replace(opening, text=f"if ({negated(condition).text}) {{")]
        self._put("}", ())

    def _for(self, op: ir.Operation) -> None:
        lower, upper, step, *first = op.operands
        block = op.regions[0].blocks[0]
        kind = self._kind(block.arguments[0])
        begin, end, by = (self._as(each, kind) for each in (lower, upper, step))
        bounds = begin.text, end.within(COMPARISON + 1), by.text
        kept, self._locations = self._locations, []
        self._settle_changing()
        names = [self._result(op, number, value) for number, value in enumerate(first)]
        counter = self.names.fresh(self.users.of_loop(op.location) or self._items_name(op) or "k")
        self._written[block.arguments[0]] = Expression(counter)  # nothing in the loop assigns to it
        self._carried(list(block.arguments)[1:], names)
        self._locations = kept
        if self._depth == 1 and not names and kern.SEQUENTIAL not in self.kernel.attributes:
            self._above(self.language.parallel)
        self._statement(self.language.loop(self._type(block.arguments[0]), counter, *bounds), op)
        self._nested(block, names)
        self._put("}", ())
        self.names.release(counter)  # it is seen in the loop alone

    def _items_name(self, op: ir.Operation) -> str | None:
        """The name of a loop over work-items: these stand where the kernel does."""
        if not self.items or op.location != self.kernel.location:
            return None
        if kern.DIMENSION in op.attributes:
            name = self.items[ir.IntegerAttr(op.attributes[kern.DIMENSION]).value]
            return name if is_constant(op.operands[2]) == 1 else f"{name}_from"
        return self.items[min(self._depth, len(self.items)) - 1]

    def _above(self, text: str) -> None:
        """A line that says something of the next, where the language has one."""
        if text:
            self._put(text, ())

    def _while(self, op: ir.Operation) -> None:
        before, after = (region.blocks[0] for region in op.regions)
        begins = [
            self._as(first, self._kind(argument)).text
            for argument, first in zip(before.arguments, op.operands, strict=True)
        ]
        self._settle_changing()
        next_values = list(terminator(after).operands)
        names = []
        for argument, first, begin, following in zip(
            before.arguments, op.operands, begins, next_values, strict=True
        ):
            hint = self._hint(following) or self._hint(first) or "v"
            names.append(self._declare(hint, argument, begin, op))
        self._carried(list(before.arguments), names)
        self._while_variables[identity(op)] = names
        end = terminator(before)
        given = list(end.operands)[1:]
        inside = [
            number
            for number, result in enumerate(op.results)
            if not list(result.uses) and given[number] not in list(before.arguments)
        ]
        results = {
            number: self._forwarded(before, value, names, op.results[number])
            for number, value in enumerate(given)
            if number not in inside
        }
        for number, (name, _) in results.items():
            written = Expression(name, reads=frozenset((name,)))
            self._written[op.results[number]] = self._written[after.arguments[number]] = written
        mark = len(self.lines)
        self._depth += 1
        for inner in list(before.operations)[:-1]:
            self._op(inner.operation)
        condition = self._value(end.operands[0])
        for number in inside:  # nothing behind the loop wants it: what follows in the loop has its name
            self._written[after.arguments[number]] = self._named(given[number])
        computed = [(name, value) for name, value in results.values() if value is not None]
        if len(self.lines) == mark and not computed:
            self._depth -= 1
            self._statement(f"while ({condition.text}) {{", op)
        else:
            self.lines.insert(mark, Line(self.language.forever, self._depth - 1, (op.location,)))
            if computed:
                self._assign([name for name, _ in computed], [value for _, value in computed], end)
            self._statement(f"if ({negated(condition).text}) {{ break; }}", end)
            self._depth -= 1
        self._nested(after, names)
        self._put("}", ())

    def _named(self, value: ir.Value) -> Expression:
        """What a value is called: it gets a name where it has none."""
        waits = self._pending.pop(value, None)
        if waits is not None:
            self._name(value, waits.expression, waits.locations)
        return self._written[value]

    def _forwarded(
        self, before: ir.Block, value: ir.Value, names: list[str], result: ir.Value
    ) -> tuple[str, ir.Value | None]:
        """The variable of what a condition gives on: that of an argument, or one that is computed there."""
        for number, argument in enumerate(before.arguments):
            if argument == value:
                return names[number], None
        return self._declare(self._hint(value) or "v", result, None, result.owner.operation), value

    def _carried(self, arguments: list[ir.Value], names: list[str]) -> None:
        for argument, name in zip(arguments, names, strict=True):
            self._written[argument] = Expression(name, reads=frozenset((name,)))

    def _declare(self, hint: str, value: ir.Value, first: str | None, op: ir.Operation) -> str:
        name = self.names.fresh(hint)
        self._variables[name] = self._kind(value)
        self._statement(self.language.variable(self._type(value, op.location), name, first), op)
        return name

    def _result(self, op: ir.Operation, number: int, first: ir.Value | None = None) -> str:
        """The variable that holds a result. One that an outer loop carries on is used again where its old value is
        wanted no more."""
        result = op.results[number]
        outer = self._outer(op, result, first)
        becomes = self._becomes(op, result)
        if outer is not None:
            name = self._written[outer].text
        elif becomes is not None:
            name = becomes
            if first is not None:
                self._statement(f"{name} = {self._as(first, self._kind(result)).text};", op)
        else:
            hint = self._hint(result) or (self._hint(first) if first is not None else None) or "v"
            begin = None if first is None else self._as(first, self._kind(result)).text
            name = self._declare(hint, result, begin, op)
        self._written[result] = Expression(name, reads=frozenset((name,)))
        return name

    def _becomes(self, op: ir.Operation, result: ir.Value) -> str | None:
        """The variable of the `if` around whose result this one goes on to be, at the end of a branch."""
        uses, around = list(result.uses), op.block.owner
        if len(uses) != 1 or around is None or around.operation.name != "scf.if":
            return None
        user = uses[0].owner.operation
        if user.name != "scf.yield" or user.block != op.block:
            return None
        name = self._if_variables[identity(around.operation)][uses[0].operand_number]
        same = name is not None and self._variables[name] == self._kind(result)
        return name if same else None

    def _outer(self, op: ir.Operation, result: ir.Value, first: ir.Value | None) -> ir.Value | None:
        """The value that the loop around carries where this result goes on to be it."""
        uses = list(result.uses)
        around = op.block.owner
        if len(uses) != 1 or around is None or around.operation.name not in ("scf.for", "scf.while"):
            return None
        around = around.operation
        user = uses[0].owner.operation
        if user.name != "scf.yield" or user.block != op.block:
            return None
        number = uses[0].operand_number
        if around.name == "scf.for":
            carried = around.regions[0].blocks[0].arguments[number + 1]
        else:
            name = self._while_variables[identity(around)][number]
            same = [
                each for each in around.regions[1].blocks[0].arguments if self._written[each].text == name
            ]
            if len(same) != 1:
                return None
            carried = same[0]
        begins_with_it = (first is None or first == carried) and self._kind(carried) == self._kind(result)
        return carried if begins_with_it and self._is_last(op, carried) else None

    def _is_last(self, op: ir.Operation, carried: ir.Value) -> bool:
        """Whether nothing behind `op` wants the old value, nor anything in it that runs after it was changed."""
        order = {identity(each.operation): number for number, each in enumerate(op.block.operations)}
        here = order[identity(op)]
        begun = 0
        for use in carried.uses:
            user = use.owner.operation
            stands = user
            while stands.block != op.block:
                stands = stands.block.owner.operation
            if order[identity(stands)] > here:
                return False
            if op.name == "scf.for" and stands == op:
                begun += 1
                if user != op or begun > 1:
                    return False
            elif stands == op and user != op and user.block.owner.operation != op:
                return False
        return True

    def _nested(self, block: ir.Block, names: list[str]) -> None:
        kept, self._pending = self._pending, dict(self._pending)
        outside = set(kept)
        self._depth += 1
        ops = [op.operation for op in block.operations]
        for op in ops[:-1]:
            self._op(op)
        if ops[-1].name == "scf.yield":
            self._assign(names, list(ops[-1].operands), ops[-1])
        self._depth -= 1
        self._pending = {
            value: pending
            for value, pending in kept.items()
            if value in self._pending or value not in outside
        }

    def _assign(self, names: Sequence[str], values: Sequence[ir.Value], op: ir.Operation) -> None:
        """Assign all at once: a variable that another's new value reads is changed after that, or kept under a name."""
        waiting = [
            (name, value, expression)
            for name, value in zip(names, values, strict=True)
            if (expression := self._as(value, self._variables[name])).text != name
        ]
        around = op.block.owner  # whose line it is where a pass left none
        locations = (around.location, *self._locations, op.location)
        self._locations = []
        while waiting:
            for number, (name, _, expression) in enumerate(waiting):
                others = waiting[:number] + waiting[number + 1 :]
                if not any(name in other.reads for _, _, other in others):
                    self._settle(name)
                    self._put(f"{name} = {expression.text};", locations)
                    waiting = others
                    break
            else:  # they read each other in a circle
                name, value, expression = waiting[0]
                kept = self.names.fresh(f"next_{name}")
                self._put(self.language.constant(self._type(value), kept, expression.text), locations)
                waiting[0] = name, value, Expression(kept)


_STATEMENTS = {
    "memref.load": Printer._load,
    "memref.store": Printer._store,
    "kern.atomic_rmw": Printer._atomic,
    "kern.atomic_cas": Printer._exchange_if,
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
