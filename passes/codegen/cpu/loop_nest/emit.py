"""Loops for a linalg.generic on buffers. The body is moved, not copied: an op is emitted once.

Comes in: a `Space` and the op's operands as the new function has them. Goes out: loops at the insertion
point. Reductions whose loops are innermost are kept in registers; others add to memory, as do those between which
a parallel loop stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import BLOCK_SIDE
from pykern.passes.analysis.cost_model.lengths import SUM_BLOCK
from pykern.passes.analysis.reductions import Combine
from pykern.passes.analysis.space import Space
from pykern.passes.ir.affine import evaluate
from pykern.passes.ir.memory import outputs_of
from pykern.passes.kernels import body, index_constant, named, replace


@dataclass
class Loops:
    """What is emitted.

    `initial` holds per output the value it starts from, None where its memory does. `lead` are indices
    that stand before those of the outputs (the number of a part). `bounds` replace the whole of a group.
    """

    space: Space
    operands: list[ir.Value]
    initial: list[ir.Value | None]
    combines: list[Combine] | None
    lead: list[ir.Value] = field(default_factory=list)
    bounds: dict[int, tuple[ir.Value, ir.Value]] = field(default_factory=dict)
    counters: dict[int, ir.Value] = field(default_factory=dict)
    """Group to induction variable, while inside."""

    def emit(self) -> None:
        order = self.space.order
        inner = len(order)
        while (
            inner and self.space.reduction[order[inner - 1]] and not self.space.moves_output(order[inner - 1])
        ):
            inner -= 1
        outer, reduced = order[:inner], order[inner:]
        self.collapsed = [self._collapse(n) for n in range(len(self.operands))]
        in_memory = not reduced or any(self.space.reduction[group] for group in outer)
        if in_memory and any(value is not None for value in self.initial):
            self._nest(self.space.parallel, self._store_initial)
            self.initial = [
                None for _ in self.initial
            ]  # each iteration of an outer reduction goes on from there
        if self.space.across is not None:
            pair = [self.space.across, order[-1]]
            self._nest([g for g in outer if g not in pair], lambda: self._blocks(pair))
        else:
            self._nest(outer, lambda: self._reduce(reduced) if reduced else self._in_memory())
            if reduced and outer and self._moves_along(outer[-1]):
                self.counters[outer[-1]].owner.owner.attributes[kern.ITEMS] = ir.UnitAttr.get()

    def _moves_along(self, group: int) -> bool:
        """Whether places of elements are looked for, and neighbours of a loop around the reduction lie side by side in
        all that is read: then each lane of a vector looks for a place of its own."""
        if not self.index_ops or len(self.space.groups[group]) != 1:
            return False
        dimension = ir.AffineExpr.get_dim(self.space.groups[group][0])
        moved = [
            list(m.results)
            for m in self.space.maps[: self.space.inputs]
            if any(str(dimension) in str(e) for e in m.results)
        ]
        return bool(moved) and all(each[-1] == dimension and dimension not in each[:-1] for each in moved)

    # -- loops -------------------------------------------------------------------------------

    def _bounds(self, group: int) -> tuple[ir.Value, ir.Value]:
        if group in self.bounds:
            return self.bounds[group]
        return index_constant(0), index_constant(self.space.lengths[group])

    def _nest(self, groups: list[int], innermost: Callable[[], object]) -> None:
        if not groups:
            innermost()
            return
        loop = scf.ForOp(*self._bounds(groups[0]), index_constant(1))
        with ir.InsertionPoint(loop.body):
            self.counters[groups[0]] = loop.induction_variable
            self._nest(groups[1:], innermost)
            scf.YieldOp([])

    def _blocks(self, pair: list[int]) -> None:
        """Two loops in square blocks: each cache line that is fetched is used up."""
        bounds = [self._bounds(group) for group in pair]
        first = scf.ForOp(*bounds[0], index_constant(BLOCK_SIDE))
        with ir.InsertionPoint(first.body):
            second = scf.ForOp(*bounds[1], index_constant(BLOCK_SIDE))
            with ir.InsertionPoint(second.body):
                for group, loop, (_, upper) in zip(pair, (first, second), bounds, strict=True):
                    begin = loop.induction_variable
                    end = arith.AddIOp(begin, index_constant(BLOCK_SIDE)).result
                    self.bounds[group] = begin, arith.MinSIOp(end, upper).result
                self._nest(pair, self._in_memory)
                scf.YieldOp([])
            scf.YieldOp([])

    def _reduce(self, groups: list[int]) -> None:
        """Reduction loops over values in registers."""
        outputs = range(self.space.inputs, len(self.operands))
        held = [
            given if given is not None else self._load(n)
            for n, given in zip(outputs, self.initial, strict=True)
        ]
        for n, value in zip(outputs, self._reduction(groups, held), strict=True):
            self._store(n, value)

    def _reduction(self, groups: list[int], held: list[ir.Value]) -> list[ir.Value]:
        if not groups:
            return self._body(held)
        lower, upper = self._bounds(groups[0])
        if len(groups) == 1 and self._in_blocks(groups[0]):
            return self._blocked(groups[0], lower, upper, held)
        return self._loop(groups, lower, upper, held)

    def _loop(
        self, groups: list[int], lower: ir.Value, upper: ir.Value, held: list[ir.Value]
    ) -> list[ir.Value]:
        loop = scf.ForOp(lower, upper, index_constant(1), held)
        with ir.InsertionPoint(loop.body):
            self.counters[groups[0]] = loop.induction_variable
            scf.YieldOp(self._reduction(groups[1:], list(loop.inner_iter_args)))
        return list(loop.results)

    def _in_blocks(self, group: int) -> bool:
        if self.combines is None or self.space.lengths[group] <= 2 * SUM_BLOCK:
            return False
        return all(combine.is_float_sum for combine in self.combines)

    def _blocked(self, group: int, lower: ir.Value, upper: ir.Value, held: list[ir.Value]) -> list[ir.Value]:
        assert self.combines is not None
        size = index_constant(SUM_BLOCK)
        loop = scf.ForOp(lower, upper, size, held)
        with ir.InsertionPoint(loop.body):
            begin = loop.induction_variable
            end = arith.MinSIOp(arith.AddIOp(begin, size).result, upper).result
            parts = self._loop([group], begin, end, [c.neutral() for c in self.combines])
            joined = [
                c.join(a, b) for c, a, b in zip(self.combines, loop.inner_iter_args, parts, strict=True)
            ]
            scf.YieldOp(joined)
        return list(loop.results)

    # -- one iteration -----------------------------------------------------------------------

    def _in_memory(self) -> None:
        outputs = range(self.space.inputs, len(self.operands))
        held = [self._load(n) if self._is_read(n) else None for n in outputs]
        for n, value in zip(outputs, self._body(held), strict=True):
            self._store(n, value)

    def _body(self, held: list) -> list[ir.Value]:
        """The op's body for the current counters; gives what it yields."""
        block = body(self.space.op)
        loaded: dict[tuple[ir.Value, str], ir.Value] = {}
        for n, argument in enumerate(block.arguments):
            if n >= self.space.inputs:
                value = held[n - self.space.inputs]
            elif not self._is_read(n):
                value = None
            else:
                element = (self.operands[n], str(self.space.maps[n]))
                if element not in loaded:
                    loaded[element] = self._load(n)
                value = loaded[element]
            if value is not None:
                argument.replace_all_uses_with(value)
        place = ir.InsertionPoint.current
        *operations, end = [o.operation for o in block.operations]
        for op in operations:
            op.detach_from_parent()
            place.insert(op)
        return list(end.operands)

    def _is_read(self, n: int) -> bool:
        return bool(list(body(self.space.op).arguments[n].uses))

    def _store_initial(self) -> None:
        for n, value in enumerate(self.initial, self.space.inputs):
            if value is not None:
                self._store(n, value)

    def _load(self, n: int) -> ir.Value:
        if not isinstance(self.operands[n].type, ir.MemRefType):
            return self.operands[n]
        return memref.LoadOp(self.collapsed[n], self._indices(n)).result

    def _store(self, n: int, value: ir.Value) -> None:
        memref.StoreOp(value, self.collapsed[n], self._indices(n))

    # -- indices -----------------------------------------------------------------------------

    def _indices(self, n: int) -> list[ir.Value]:
        lead = self.lead if n >= self.space.inputs else []
        dimensions = {g[0]: self.counters[k] for k, g in enumerate(self.space.groups) if k in self.counters}
        placed = [e for e in self.space.maps[n].results if not self._is_inner(e)]
        return [*lead, *(evaluate(e, dimensions) for e in placed)]

    def _is_inner(self, expression: ir.AffineExpr) -> bool:
        """Whether a dimension is part of a group that another one stands for."""
        if not isinstance(expression, ir.AffineDimExpr):
            return False
        return any(expression.position in g[1:] for g in self.space.groups)

    def _collapse(self, n: int) -> ir.Value:
        """The operand with the dimensions of each group as one."""
        value = self.operands[n]
        if not isinstance(value.type, ir.MemRefType):
            return value
        kind = ir.MemRefType(value.type)
        lead = len(self.lead) if n >= self.space.inputs else 0
        parts: list[list[int]] = [[d] for d in range(lead)]
        for d, expression in enumerate(self.space.maps[n].results, lead):
            if self._is_inner(expression):
                parts[-1].append(d)
            else:
                parts.append([d])
        if len(parts) == kind.rank:
            return value
        shape = []
        for part in parts:
            length = 1
            for d in part:
                length *= kind.shape[d]
            shape.append(length)
        return memref.CollapseShapeOp(ir.MemRefType.get(shape, kind.element_type), value, parts).result

    def indices_to_counters(self) -> None:
        """`linalg.index` becomes the counter of its loop; after `emit`."""
        place = {d: k for k, g in enumerate(self.space.groups) for d in g}
        for op in self.index_ops:
            replace(op, [self.counters[place[ir.IntegerAttr(op.attributes["dim"]).value]]])

    def __post_init__(self) -> None:
        self.index_ops = named(self.space.op, "linalg.index")
        self.collapsed: list[ir.Value] = []
        assert len(self.initial) == outputs_of(self.space.op)
