"""Which work-item does which iterations, and one iteration of a linalg.generic at a point of its space.

Comes in: lengths, outermost first. Goes out: the index space of a launch, and coordinates in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect.index_space import GlobalIdOp
from pykern.passes.analysis.cost_model.devices import GROUP_ITEMS, ROW_ITEMS
from pykern.passes.analysis.space import Space
from pykern.passes.codegen.device.kernel import Kernel
from pykern.passes.ir.affine import evaluate
from pykern.passes.ir.clone import clone
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.values import free_values
from pykern.passes.kernels import body, index_constant, named, replace


@dataclass(frozen=True)
class Items:
    """An index space over lengths: one dimension, or, where rows are long, rows and places in them."""

    lengths: tuple[int, ...]

    @property
    def in_rows(self) -> bool:
        return len(self.lengths) > 1 and self.lengths[-1] >= ROW_ITEMS

    @property
    def ndrange(self) -> tuple[int, ...]:
        if self.in_rows:
            return math.prod(self.lengths[:-1]), self.lengths[-1]
        return (math.prod(self.lengths),)

    @property
    def workgroup(self) -> tuple[int, ...]:
        if not self.in_rows:
            return (group_of(self.ndrange[0]),)
        along = min(GROUP_ITEMS, group_of(self.lengths[-1]))
        return GROUP_ITEMS // along, along

    def coordinates(self) -> list[ir.Value]:
        """The coordinates of a work-item, computed in the kernel."""
        if self.in_rows:
            return [*spread(GlobalIdOp.create(0), self.lengths[:-1]), GlobalIdOp.create(1)]
        return spread(GlobalIdOp.create(0), self.lengths)


def group_of(count: int) -> int:
    """A group for so many work-items: a power of two, none larger than needed."""
    return min(GROUP_ITEMS, 1 << max(0, count - 1).bit_length())


def spread(number: ir.Value, lengths: tuple[int, ...] | list[int]) -> list[ir.Value]:
    """Coordinates of the `number`-th point, the last one fastest."""
    found: list[ir.Value] = []
    for n, length in reversed(list(enumerate(lengths))):
        if n == 0:
            found.insert(0, number)
        elif length == 1:
            found.insert(0, index_constant(0))
        else:
            size = index_constant(length)
            found.insert(0, arith.RemUIOp(number, size).result)
            number = arith.DivUIOp(number, size).result
    return found


class Points:
    """The iterations of a generic in a kernel. `counters` hold a value for each group of the space."""

    def __init__(self, kernel: Kernel, space: Space) -> None:
        self.kernel, self.space = kernel, space
        self.collapsed = _collapsed_operands(space)
        self.counters: dict[int, ir.Value] = {}

    def prepare(self) -> None:
        """Bring everything in; at the top of the kernel."""
        self.operands = [self.kernel.value(v) for v in self.collapsed]
        self.outside = {v: self.kernel.value(v) for v in free_values(self.space.op, nested_only=True)}

    def run(self, held: list[ir.Value | None]) -> list[ir.Value]:
        """The body at the counters; `held` are what outputs hold, None where that is in memory."""
        block = body(self.space.op)
        known = dict(self.outside)
        loaded: dict[tuple[ir.Value, str], ir.Value] = {}
        for n, argument in enumerate(block.arguments):
            if n >= self.space.inputs and held[n - self.space.inputs] is not None:
                known[argument] = held[n - self.space.inputs]
            elif list(argument.uses):
                cell = (self.collapsed[n], str(self.space.maps[n]))
                if cell not in loaded:
                    loaded[cell] = self.load(n)
                known[argument] = loaded[cell]
        place = {d: k for k, g in enumerate(self.space.groups) for d in g}

        def counter(index: ir.Operation) -> ir.Value:
            return self.counters[place[ir.IntegerAttr(index.attributes["dim"]).value]]

        *ops, end = [o.operation for o in block.operations]
        for op in ops:
            if op.name == "linalg.index":
                known[op.results[0]] = counter(op)
                continue
            copy = clone(op, lambda v: known.get(v, v))
            for index in named(copy, "linalg.index"):
                replace(index, [counter(index)])
            known.update(zip(op.results, copy.results, strict=True))
        return [known.get(v, v) for v in end.operands]

    def load(self, n: int) -> ir.Value:
        if not isinstance(self.operands[n].type, ir.MemRefType):
            return self.operands[n]
        return memref.LoadOp(self.operands[n], self.indices(n)).result

    def store(self, n: int, value: ir.Value) -> None:
        memref.StoreOp(value, self.operands[n], self.indices(n))

    def indices(self, n: int) -> list[ir.Value]:
        """Where an operand is accessed at the counters."""
        dimensions = {g[0]: self.counters[k] for k, g in enumerate(self.space.groups) if k in self.counters}
        return [evaluate(e, dimensions) for e in self.space.maps[n].results if not _is_inner(self.space, e)]

    @property
    def outputs(self) -> range:
        return range(self.space.inputs, self.space.inputs + outputs_of(self.space.op))


def _is_inner(space: Space, expression: ir.AffineExpr) -> bool:
    """Whether a dimension is part of a group that another one stands for."""
    return isinstance(expression, ir.AffineDimExpr) and any(
        expression.position in g[1:] for g in space.groups
    )


def _collapsed_operands(space: Space) -> list[ir.Value]:
    """The operands with the dimensions of each group as one: views, made before the op, each once."""
    made: dict[tuple[ir.Value, str], ir.Value] = {}
    found = []
    for value, m in zip(space.op.operands, space.maps, strict=True):
        key = (value, str(m))
        if key not in made:
            made[key] = _collapsed(space, value, m)
        found.append(made[key])
    return found


def _collapsed(space: Space, value: ir.Value, m: ir.AffineMap) -> ir.Value:
    if not isinstance(value.type, ir.MemRefType):
        return value
    kind = ir.MemRefType(value.type)
    parts: list[list[int]] = []
    for d, expression in enumerate(m.results):
        if _is_inner(space, expression):
            parts[-1].append(d)
        else:
            parts.append([d])
    if len(parts) == kind.rank:
        return value
    shape = [math.prod(kind.shape[d] for d in part) for part in parts]
    with ir.InsertionPoint(space.op), space.op.location:
        return memref.CollapseShapeOp(ir.MemRefType.get(shape, kind.element_type), value, parts).result
