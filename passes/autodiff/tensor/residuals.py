"""Which values of a forward sweep the backward sweep is given, and which it computes again.

Comes in: the values the backward sweep reads. Goes out: the values to keep, as few bytes as can be (`cut`).
Arithmetic, copies and slices may be repeated, since they fuse with what reads them. What costs more than memory
traffic (products, reductions, loops, launches, transcendental functions) is not repeated, unless its result has a
length that is known at run time only: such a value cannot be the result of a program.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mlir import ir

from pykern.passes.analysis.cost_model.memory import AT_HAND_SHARE, KEPT_VALUE_BYTES, KEPT_WORK
from pykern.passes.autodiff.tensor.cut import NEVER, least_cut
from pykern.passes.ir.structured import is_structured, loop_lengths, reduces
from pykern.passes.ir.values import defining, free_values
from pykern.passes.kernels import find, identity

_MOVES = frozenset({
    "linalg.fill", "linalg.broadcast", "linalg.transpose", "linalg.copy", "bufferization.alloc_tensor",
})  # fmt: skip
_WORK = frozenset({"func.call", "kern.launch", "scf.for", "scf.while"})
_PARALLEL = frozenset({"linalg.generic", "linalg.map"})
_CHEAP_MATH = frozenset({"math.absf", "math.absi", "math.copysign", "math.fma", "math.sqrt", "math.floor",
                         "math.ceil", "math.round", "math.roundeven", "math.trunc"})  # fmt: skip


def residuals(
    wanted: Iterable[ir.Value], block: ir.Block, at_hand: Mapping[ir.Value, int] = MappingProxyType({})
) -> list[ir.Value]:
    """The values to keep so that `wanted` are known: arguments of `block`, or results of ops in it. Those `at_hand` are
    kept in any case: they are only read, and count as so many bytes more than that."""
    graph = _Graph(block, at_hand)
    numbers = [graph.number(value) for value in wanted]
    graph.complete()
    kept = least_cut(graph.costs, graph.reads, graph.given, [n for n in numbers if n is not None])
    return [graph.values[n] for n in kept]


def is_dear(values: Iterable[ir.Value]) -> bool:
    """Whether it takes products, loops or launches to compute some of the values again, and not sweeps alone."""
    waiting, seen = list(values), set()
    while waiting:
        op = defining(waiting.pop())
        if op is None or identity(op) in seen:
            continue
        seen.add(identity(op))
        if any(map(_takes_work, (op, *find(op, lambda _: True)))):
            return True
        waiting += free_values(op)
    return False


def _takes_work(op: ir.Operation) -> bool:
    if not is_structured(op):
        return op.name in _WORK
    sizes = [math.prod(ir.ShapedType(v.type).shape) for v in op.operands if isinstance(v.type, ir.ShapedType)]
    return math.prod(loop_lengths(op)) >= KEPT_WORK * max(sizes, default=1) > 0


class _Graph:
    """The values that `wanted` depends on, by number; constants are none."""

    def __init__(self, block: ir.Block, at_hand: Mapping[ir.Value, int]) -> None:
        self.block = block
        self.at_hand = at_hand
        self.values: list[ir.Value] = []
        self.costs: list[int] = []
        self.reads: dict[int, list[int]] = {}
        self.given: list[int] = []
        self._known: dict[ir.Value, int] = {}

    def number(self, value: ir.Value) -> int | None:
        if is_free(value):
            return None
        if value not in self._known:
            self._known[value] = len(self.values)
            self.values.append(value)
            self.costs.append(self._cost(value))
        return self._known[value]

    def _cost(self, value: ir.Value) -> int:
        if not is_keepable(value.type):
            return NEVER
        size = _bytes(value)
        if value in self.at_hand:
            size = size // AT_HAND_SHARE + self.at_hand[value]
        return KEPT_VALUE_BYTES + size

    def complete(self) -> None:
        """Go back from what is known until everything is computed from something, or given."""
        place = 0
        while place < len(self.values):
            op = defining(self.values[place])
            if op is None or (is_keepable(self.values[place].type) and not is_cheap(op)):
                self.given.append(place)
            else:
                read = [self.number(v) for v in free_values(op)]
                self.reads[place] = [n for n in read if n is not None]
            place += 1


def is_free(value: ir.Value) -> bool:
    """Whether a value is made again for nothing, from nothing."""
    op = defining(value)
    return op is not None and not free_values(op) and op.name not in ("func.call", "scf.for", "scf.while")


def is_keepable(kind: ir.Type) -> bool:
    """Whether a program can return such values, bit by bit."""
    if isinstance(kind, ir.RankedTensorType):
        return kind.has_static_shape and _is_stored(kind.element_type)
    return isinstance(kind, ir.IndexType) or str(kind) == "i1" or _is_stored(kind)


def _is_stored(kind: ir.Type) -> bool:
    return isinstance(kind, ir.FloatType | ir.IntegerType) and kind.width in (8, 16, 32, 64)


def _bytes(value: ir.Value) -> int:
    if not isinstance(value.type, ir.RankedTensorType):
        return 8
    element = value.type.element_type
    assert isinstance(element, ir.FloatType | ir.IntegerType)
    return math.prod(value.type.shape) * element.width // 8


def is_cheap(op: ir.Operation) -> bool:
    """Whether doing an op again costs no more than reading what it gave."""
    dialect = op.name.split(".")[0]
    if dialect in ("arith", "math", "index", "kern") and not op.regions:
        return not isinstance(op.results[0].type, ir.ShapedType) or _is_arithmetic(op)
    if dialect == "tensor" or op.name in _MOVES:
        return not op.regions or all(map(_is_arithmetic, find(op, lambda _: True)))
    if op.name in _PARALLEL:
        is_sum = op.name == "linalg.generic" and reduces(op)
        return not is_sum and all(map(_is_arithmetic, find(op, lambda _: True)))
    return False


def _is_arithmetic(op: ir.Operation) -> bool:
    return not op.regions and (not op.name.startswith("math.") or op.name in _CHEAP_MATH)
