"""Branches and loops as text, and the variables that carry values through them.

Comes in: scf.if, scf.for, scf.while. Goes out: their lines; what they give is in variables, one for values that never
live at once. Read next: `printer`, which prints the ops in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.lowering.source.expressions import COMPARISON, Expression, negated
from pykern.lowering.source.scalars import Scalars
from pykern.lowering.source.values import Line, Values
from pykern.passes.kernels import dimension_of, identity, is_constant, named, terminator

_TAPES = ("kern.push", "kern.pop")


def has_tape(op: ir.Operation) -> bool:
    """Whether a loop or a branch keeps values on a tape, or takes them off it."""
    return op.name in _TAPES or bool(named(op, *_TAPES))


@dataclass
class ControlFlow(Values):
    """Prints the structure of one kernel."""

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

    def _op(self, op: ir.Operation) -> None:
        """Print one op."""
        raise NotImplementedError

    def _as(self, value: ir.Value, wanted: ir.Type) -> Expression:
        """A value as what has this type in the text takes it."""
        return self.scalars.converted(self._value(value), self._kind(value), wanted)

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
        is_outermost = self._depth == 1 and self._is_over_items(op)
        if is_outermost and not names:
            self._above(self.language.parallel)
        self._statement(self.language.loop(self._type(block.arguments[0]), counter, *bounds), op)
        taped = is_outermost and has_tape(op)
        if taped:  # each thread has its own
            self._depth += 1
            self._lines(self.language.begin_tape, op)
            self._depth -= 1
        self._nested(block, names)
        if taped:
            self._depth += 1
            self._lines(self.language.end_tape, op)
            self._depth -= 1
        self._put("}", ())
        self.names.release(counter)  # it is seen in the loop alone

    def _lines(self, lines: Sequence[str], op: ir.Operation) -> None:
        for line in lines:
            self._put(line, (op.location,))

    def _is_over_items(self, op: ir.Operation) -> bool:
        """Whether the iterations of a loop need nothing of each other: those of a kernel's own loop may."""
        is_marked = kern.CONCURRENT in op.attributes or kern.DIMENSION in op.attributes
        return is_marked and kern.SEQUENTIAL not in self.kernel.attributes

    def _items_name(self, op: ir.Operation) -> str | None:
        """The name of a loop over work-items: these stand where the kernel does."""
        if not self.items or op.location != self.kernel.location:
            return None
        if kern.DIMENSION in op.attributes:
            name = self.items[ir.IntegerAttr(op.attributes[kern.DIMENSION]).value]
            return name if is_constant(op.operands[2]) == 1 else f"{name}_from"
        return self.items[dimension_of(self.kernel, min(self._depth, len(self.items)) - 1)]

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
