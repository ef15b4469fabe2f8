"""What a group of row ops computes, as a graph in which nothing stands twice.

Comes in: a `Group`. Goes out: `Graph`: the values to be written at the end, and how each comes about. A buffer
that is written several times is several values; one that only the group uses is not memory any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.analysis.reductions import Combine, combines
from pykern.passes.analysis.rows import BufferKind, RowOp, RowOperand
from pykern.passes.fusion.row_groups import Group
from pykern.passes.ir.memory import outputs_of
from pykern.passes.kernels import body

RANK = {BufferKind.FIXED: 0, BufferKind.ROW: 1, BufferKind.LINE: 2, BufferKind.CELL: 2}


@dataclass(eq=False)
class Value:
    """A number: one for each `kind`. A LINE is read anew for each row, so what comes of it is a CELL."""

    kind: BufferKind

    @property
    def operands(self) -> tuple[Value, ...]:
        return ()

    @property
    def is_wide(self) -> bool:
        """Whether columns differ."""
        return self.kind in (BufferKind.CELL, BufferKind.LINE)


@dataclass(eq=False)
class Loaded(Value):
    """A value that is loaded: from memory as it is when the row begins, or a scalar."""

    access: RowOperand


@dataclass(eq=False)
class Computed(Value):
    """The result of an op on scalars."""

    op: ir.Operation
    inputs: tuple[Value, ...]

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.inputs


@dataclass(eq=False)
class Reduced(Value):
    """`initial` joined with `added` of all columns."""

    combine: Combine
    initial: Value
    added: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.initial, self.added)


@dataclass(eq=False)
class Write:
    """`value` goes to the buffer of `access`; with `combine` it joins what is there for the column."""

    access: RowOperand
    value: Value
    combine: Combine | None = None


@dataclass
class Graph:
    """Built by `graph_of`."""

    writes: list[Write] = field(default_factory=list)
    _known: dict[tuple, Value] = field(default_factory=dict)
    _held: dict[ir.Value, Value] = field(default_factory=dict)
    _order: list[Value] = field(default_factory=list)

    def take(self, each: RowOp) -> None:
        """Add what one op does."""
        block = body(each.op)
        count = len(each.inputs)
        arguments: dict[ir.Value, Value] = {}
        for number, (argument, access) in enumerate(zip(block.arguments, each.accesses, strict=True)):
            if list(argument.uses) and (number < count or each.reduces is None):
                arguments[argument] = self._read(access)
        if each.reduces is not None:
            self._reduce(each, arguments)
            return
        *operations, end = [o.operation for o in block.operations]
        self._compute(operations, arguments)
        for access, value in zip(each.outputs, end.operands, strict=True):
            self._held[access.root] = self._value(value, arguments)

    def _reduce(self, each: RowOp, arguments: dict[ir.Value, Value]) -> None:
        joins = combines(each.op)
        assert joins is not None
        block = body(each.op)
        held = list(block.arguments)[-outputs_of(each.op) :]
        last = [join.op for join in joins]
        operations = [o.operation for o in block.operations][:-1]
        self._compute([o for o in operations if o not in last], arguments)
        for access, join, argument in zip(each.outputs, joins, held, strict=True):
            operand = next(v for v in join.op.operands if v != argument)
            added = self._value(operand, arguments)
            if each.reduces is BufferKind.LINE:
                self.writes.append(Write(access, added, join))
                continue
            initial = self._read(access)
            key = ("reduced", _signature(join.op), id(initial), id(added))
            self._held[access.root] = self._once(key, lambda: Reduced(BufferKind.ROW, join, initial, added))  # noqa: B023

    def _compute(self, operations: list[ir.Operation], known: dict[ir.Value, Value]) -> None:
        for op in operations:
            inputs = tuple(self._value(v, known) for v in op.operands)
            kind = max((v.kind for v in inputs), key=lambda k: RANK[k], default=BufferKind.FIXED)
            kind = BufferKind.CELL if kind is BufferKind.LINE else kind
            key = (_signature(op), *map(id, inputs))
            known[op.results[0]] = self._once(key, lambda: Computed(kind, op, inputs))  # noqa: B023

    def _value(self, value: ir.Value, known: dict[ir.Value, Value]) -> Value:
        """A value in the body of an op, or one from outside of it."""
        return known[value] if value in known else self._read(RowOperand(value, BufferKind.FIXED))

    def _read(self, access: RowOperand) -> Value:
        if access.root in self._held:
            return self._held[access.root]
        key = ("given", access.root, access.kind)
        return self._once(key, lambda: Loaded(access.kind, access))

    def _once(self, key: tuple, make) -> Value:
        if key not in self._known:
            self._known[key] = make()
            self._order.append(self._known[key])
        return self._known[key]

    def finish(self, private: list[ir.Value], kinds: dict[ir.Value, RowOperand]) -> None:
        """Write the values of all buffers that others may read, which are those that are not `private`."""
        self.writes += [
            Write(kinds[root], value) for root, value in self._held.items() if root not in private
        ]

    def needed(self) -> list[Value]:
        """Every value that something comes of, operands before results."""
        wanted = set()
        waiting = [write.value for write in self.writes]
        while waiting:
            value = waiting.pop()
            if id(value) not in wanted:
                wanted.add(id(value))
                waiting += value.operands
        return [value for value in self._order if id(value) in wanted]


def graph_of(group: Group) -> Graph:
    """The values of a group."""
    graph = Graph()
    for each in group.ops:
        graph.take(each)
    graph.finish(group.private, {a.root: a for each in group.ops for a in each.outputs})
    return graph


def _signature(op: ir.Operation) -> tuple[str, ...]:
    names = op.attributes.keys()
    return op.name, str(op.results[0].type), *(f"{name}={op.attributes[name]}" for name in names)
