"""Costly values that all work-items share, computed once a launch instead of once a vector.

``exp(w[k])`` in a loop of k is the same for every work-item. Where its loops run a fixed number of times it is
computed before the loop over work-items, into a table of one dimension a loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.memory import TABLE_ELEMENTS
from pykern.passes.arithmetic.vector_math.expand_math import RULES
from pykern.passes.ir.clone import rematerialise
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.loops import over_cells
from pykern.passes.ir.values import defining, is_inside
from pykern.passes.kernels import index_constant, is_constant
from pykern.passes.vectorize.items.lanes import Lanes


@dataclass(frozen=True)
class Table:
    """`loops` are those around the op, outermost first; `dimensions` those its value depends on."""

    items: ir.Operation
    op: ir.Operation
    loops: tuple[ir.Operation, ...]
    dimensions: tuple[ir.Operation, ...]

    def indices(self) -> list[ir.Value]:
        """The place of the op's value, in terms of the loops' variables."""
        return [_variable(loop) for loop in self.dimensions]

    def elements(self) -> ir.Value:
        """The number of elements of a table."""
        total = index_constant(1)
        for loop in self.dimensions:
            trips = arith.MaxSIOp(loop.operands[1], index_constant(0)).result
            # no product overflows: each factor is cut where it alone would be too many
            total = arith.MulIOp(
                total, arith.MinSIOp(trips, index_constant(TABLE_ELEMENTS + 1)).result
            ).result
            total = arith.MinSIOp(total, index_constant(TABLE_ELEMENTS + 1)).result
        return total

    def filled(self, room: ir.Value) -> ir.Value:
        """The table at the insertion point; without `room` it is empty and not filled."""
        none = index_constant(0)
        lengths = [
            arith.SelectOp(room, arith.MaxSIOp(loop.operands[1], none).result, none).result
            for loop in self.dimensions
        ]
        shape = [ir.ShapedType.get_dynamic_size()] * len(lengths)
        made = memref.AllocOp(ir.MemRefType.get(shape, self.op.results[0].type), lengths, []).result

        def element(variables: list[ir.Value]) -> None:
            known = dict(zip(map(_variable, self.loops), variables, strict=True))
            indices = [known[v] for v in self.indices()]
            memref.StoreOp(rematerialise(self.op.results[0], self.items, known), made, indices)

        over_cells(self._bounds(lengths, room), element)
        return made

    def _bounds(self, lengths: list[ir.Value], room: ir.Value) -> list[ir.Value]:
        """A loop the value does not depend on runs once, if it runs at all."""
        found = []
        for loop in self.loops:
            if loop in self.dimensions:
                found.append(lengths[self.dimensions.index(loop)])
            else:
                runs = arith.MinSIOp(loop.operands[1], index_constant(1)).result
                found.append(arith.SelectOp(room, runs, index_constant(0)).result)
        return found


def tables_of(lanes: Lanes) -> list[Table]:
    """The costly ops of the loop that can be computed before it, in a function that has no other loop."""
    if _parent(lanes.loop).name == "scf.for":
        return []
    found = (_table(op, lanes) for op in lanes.ops if op.name in RULES and lanes.stride(op.results[0]) == 0)
    return [table for table in found if table is not None]


def _table(op: ir.Operation, lanes: Lanes) -> Table | None:
    loops: list[ir.Operation] = []
    parent = _parent(op)
    while parent != lanes.loop:
        if parent.name != "scf.for" or not _is_counted(parent, lanes.loop):
            return None
        loops.insert(0, parent)
        parent = _parent(parent)
    used: set[ir.Value] = set()
    if not loops or not _can_compute(op.results[0], lanes, used):
        return None
    if not used <= {_variable(loop) for loop in loops}:
        return None
    return Table(lanes.loop, op, tuple(loops), tuple(loop for loop in loops if _variable(loop) in used))


def _is_counted(loop: ir.Operation, items: ir.Operation) -> bool:
    lower, upper, step = list(loop.operands)[:3]
    return is_constant(lower) == 0 and is_constant(step) == 1 and not is_inside(upper, items)


def _can_compute(value: ir.Value, lanes: Lanes, used: set[ir.Value]) -> bool:
    """Whether ops without effects lead to the value; `used` gets the block arguments they start from."""
    if not is_inside(value, lanes.loop):
        return True
    op = defining(value)
    if op is None:
        used.add(value)
        return True
    is_pure = op.name in RULES or is_speculatable(op)
    if not is_pure and not (op.name == "memref.load" and op.operands[0] not in lanes.written):
        return False
    return all(_can_compute(v, lanes, used) for v in op.operands)


def _variable(loop: ir.Operation) -> ir.Value:
    return loop.regions[0].blocks[0].arguments[0]


def _parent(op: ir.Operation) -> ir.Operation:
    parent = op.parent
    assert parent is not None  # a function is around
    return parent.operation
