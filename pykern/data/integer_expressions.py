"""Integer expressions as plain data: what a launch's lengths and scalars decide.

A list of numbered nodes, each ``(name, bits, *rest)`` over earlier ones: ``("const", 64, 7)``, ``("given", 64, n)`` for
the n-th number of a launch (`pykern.data.launch_bounds`), else an op of `FUNCTIONS` with the numbers of its operands.
Values are two's complement: of one bit 0 or 1, of more bits signed. Comes in: nodes, by `Expressions`, which folds what
is known and keeps each once. Goes out: `evaluated`; LLVM's form is `pykern.lowering.llvm.launch_bounds`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Node = tuple
"""``(name, bits, *rest)``."""

FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": lambda a, b: a << b,
    "ashr": lambda a, b: a >> b,
    "smin": min,
    "smax": max,
    "floordiv": operator.floordiv,
    "sdiv": lambda a, b: -(-a // b) if a < 0 else a // b,
    "srem": lambda a, b: -(-a % b) if a < 0 else a % b,
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
    "uge": lambda a, b: a % (1 << 64) >= b % (1 << 64),
}  # fmt: skip
"""Of two operands. Divisors are above 0 and shifts in range wherever the result matters."""
COMPARISONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "uge")
DIVISIONS = ("floordiv", "sdiv", "srem")


def wrapped(value: int, bits: int) -> int:
    """As so many bits hold it."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def applied(name: str, bits: int, values: Sequence[int]) -> int:
    """One node's value from those of its operands."""
    if name == "select":
        return values[1] if values[0] else values[2]
    if name in ("sext", "trunc"):
        return wrapped(values[0], bits)
    if name == "zext":
        return values[0]
    if name in DIVISIONS and values[1] < 1:
        return 0
    return wrapped(int(FUNCTIONS[name](*values)), bits)


def evaluated(nodes: Sequence[Node], given: Sequence[int]) -> list[int]:
    """The values of all nodes for a launch's numbers."""
    values: list[int] = []
    for name, bits, *rest in nodes:
        if name == "const":
            values.append(rest[0])
        elif name == "given":
            values.append(wrapped(given[rest[0]], bits))
        else:
            values.append(applied(name, bits, [values[n] for n in rest]))
    return values


@dataclass
class Expressions:
    """Makes nodes."""

    nodes: list[Node] = field(default_factory=list)
    _numbers: dict[Node, int] = field(default_factory=dict)

    def const(self, value: int, bits: int = 64) -> int:
        return self._node(("const", bits, wrapped(value, bits)))

    def given(self, number: int, bits: int = 64) -> int:
        return self._node(("given", bits, number))

    def value(self, number: int) -> int | None:
        """What a node is, where that is known."""
        node = self.nodes[number]
        return node[2] if node[0] == "const" else None

    def bits(self, number: int) -> int:
        return self.nodes[number][1]

    def op(self, name: str, *operands: int, bits: int | None = None) -> int:
        """A node of `FUNCTIONS`, "select", "sext", "zext" or "trunc"; the last three name their `bits`."""
        if bits is None:
            bits = 1 if name in COMPARISONS else self.bits(operands[-1])
        values = [self.value(n) for n in operands]
        if None not in values:
            return self.const(applied(name, bits, [v for v in values if v is not None]), bits)
        if name == "select" and values[0] is not None:
            return operands[1] if values[0] else operands[2]
        if name == "and" and bits == 1:
            if 0 in values:
                return self.const(0, 1)
            if 1 in values:
                return operands[values.index(None)]
        if name == "or" and bits == 1:
            if 1 in values:
                return self.const(1, 1)
            if 0 in values:
                return operands[values.index(None)]
        same = {"add": 0, "sub": 0, "mul": 1, "floordiv": 1}
        if name in same and values[1] == same[name]:
            return operands[0]
        if (name == "add" and values[0] == 0) or (name == "mul" and values[0] == 1):
            return operands[1]
        return self._node((name, bits, *operands))

    def all(self, conditions: Sequence[int]) -> int:
        """Whether each of them holds."""
        result = self.const(1, 1)
        for condition in conditions:
            result = self.op("and", result, condition)
        return result

    def negated(self, condition: int) -> int:
        return self.op("xor", condition, self.const(1, 1))

    def _node(self, node: Node) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[node]


def pruned(nodes: Sequence[Node], wanted: Sequence[int]) -> tuple[tuple[Node, ...], dict[int, int]]:
    """The nodes that `wanted` ones need, and their new numbers."""
    needed: set[int] = set()
    stack = list(wanted)
    while stack:
        number = stack.pop()
        if number not in needed:
            needed.add(number)
            name, _, *rest = nodes[number]
            stack += [] if name in ("const", "given") else rest
    order = {old: new for new, old in enumerate(sorted(needed))}
    kept = []
    for old in order:
        name, bits, *rest = nodes[old]
        kept.append((name, bits, *(rest if name in ("const", "given") else (order[n] for n in rest))))
    return tuple(kept), order
