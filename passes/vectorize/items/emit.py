"""The body of the loop over work-items, written for W of them at once.

In: `Lanes` and the number of the first work-item. Out: the same ops at the insertion point, on vectors where lanes
differ and on scalars where they agree. How arithmetic becomes vectors is in `vectorize.lanes`; here are memory,
atomics, the tape, branches and loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.dialect.atomics import AtomicRmwOp
from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import When
from pykern.passes.ir.values import defining
from pykern.passes.kernels import find, index_constant
from pykern.passes.vectorize.items.divergent import emit_unequal, emit_while, is_unequal
from pykern.passes.vectorize.items.lanes import MEMORY_AT, Lanes
from pykern.passes.vectorize.items.tables import Table
from pykern.passes.vectorize.lanes import VARYING, LaneEmitter, Stride

_ANY_ORDER = arith.FastMathFlags.reassoc | arith.FastMathFlags.contract


@dataclass
class ItemEmitter(LaneEmitter):
    """The analysis tells what differs; blocks are written op by op, with the loops and branches that all lanes take."""

    lanes: Lanes = field(kw_only=True)
    private: dict[ir.Value, ir.Value] = field(kw_only=True)
    """Private memory, and the same with a last dimension of lanes."""
    rows: dict[ir.Value, ir.Value] = field(kw_only=True)
    """Arrays whose rows of these work-items lie in lane order elsewhere."""
    tables: dict[ir.Value, tuple[Table, ir.Value]] = field(kw_only=True)
    """Values computed before the loop, and where they lie."""
    active: ir.Value | None = None
    """A mask of the lanes that are in an iteration of a loop, or take one side of a branch; None where all are."""

    def stride(self, value: ir.Value) -> Stride:
        return self.lanes.stride(value)

    def result_stride(self, op: ir.Operation) -> Stride:
        return self.stride(op.results[0])

    def block(self, block: ir.Block) -> None:
        """Write the ops of a block of the loop, without its terminator."""
        for op in list(block.operations)[:-1]:
            with op.location:
                self.operation(op.operation)

    def operation(self, op: ir.Operation) -> None:
        if op.name in _STRUCTURED:
            getattr(self, _STRUCTURED[op.name])(op)
        elif op.results and op.results[0] in self.tables:
            table, memory = self.tables[op.results[0]]
            places = [self.scalar(i) for i in table.indices()]
            self.scalars[op.results[0]] = memref.LoadOp(memory, places).result
        elif op.name == "memref.load" and self.result_stride(op) is VARYING:
            self.vectors[op.results[0]] = self._load(op)
        else:
            super().operation(op)

    def _of(self, value: ir.Value, like: ir.Value) -> ir.Value:
        """`value` as the kind of value that `like` is: a vector or that of the first lane."""
        return self.vector(value) if self.stride(like) is VARYING else self.scalar(value)

    def _keep(self, old: ir.Value, new: ir.Value) -> None:
        self.keep(old, new, self.stride(old))

    def _push(self, op: ir.Operation) -> None:
        value = op.operands[0]
        remake(op, [self._of(value, value)], [])

    # -- memory --------------------------------------------------------------------------------

    def _load(self, op: ir.Operation) -> ir.Value:
        memory, kind = op.operands[0], self.type_of(op.results[0].type)
        indices = self.lanes.indices(op)
        if memory in self.rows:
            return vector.LoadOp(kind, self.rows[memory], [self.scalar(indices[1]), index_constant(0)]).result
        if self.lanes.is_contiguous(op):
            return self._load_neighbours(kind, memory, indices)
        elements = [self._load_lane(self._cell(memory, indices, n), n) for n in range(self.width)]
        return vector.FromElementsOp(kind, elements).result

    def _load_lane(self, place: tuple[ir.Value, list[ir.Value]], n: int) -> ir.Value:
        """The number of lane `n`; anything where the lane takes another side of a branch."""
        if self.active is None or place[0] in self.private.values():
            return memref.LoadOp(*place).result
        kind = ir.MemRefType(place[0].type).element_type
        branch = scf.IfOp(vector.ExtractOp(self.active, [], [n]).result, [kind], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([memref.LoadOp(*place).result])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([constant(kind, 0)])
        return branch.results[0]

    def _store(self, op: ir.Operation) -> None:
        value, memory = list(op.operands)[:2]
        indices = self.lanes.indices(op)
        if self.lanes.is_contiguous(op):
            self._store_neighbours(self.vector(value), memory, indices)
            return
        given = self.vector(value)
        for n in range(self.width):
            place, number = self._cell(memory, indices, n), vector.ExtractOp(given, [], [n]).result
            if self.active is None:
                self._store_lane(number, place, n)
                continue
            with When(vector.ExtractOp(self.active, [], [n]).result):
                self._store_lane(number, place, n)

    def _load_neighbours(self, kind: ir.VectorType, memory: ir.Value, indices: list[ir.Value]) -> ir.Value:
        place, mask = self._place(memory, indices), self.mask_now()
        if mask is not None and memory not in self.private:
            return vector.MaskedLoadOp(kind, *place, mask, constant(kind, 0)).result
        return vector.LoadOp(kind, *place).result

    def _store_neighbours(self, value: ir.Value, memory: ir.Value, indices: list[ir.Value]) -> None:
        place, mask = self._place(memory, indices), self.mask_now()
        if mask is not None and memory not in self.private:
            vector.MaskedStoreOp(*place, mask, value)
        else:
            vector.StoreOp(value, *place)

    def mask_now(self) -> ir.Value | None:
        """The lanes that touch memory; None where all do."""
        return self.active

    def _store_lane(self, value: ir.Value, place: tuple[ir.Value, list[ir.Value]], n: int) -> None:
        """Store the number of lane `n`."""
        memref.StoreOp(value, *place)

    def _place(self, memory: ir.Value, indices: list[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
        """The position of the lanes in private memory, where they are the last dimension."""
        first = [self.scalar(i) for i in indices]
        if memory in self.private:
            return self.private[memory], [*first, index_constant(0)]
        return memory, first

    def _cell(self, memory: ir.Value, indices: list[ir.Value], n: int) -> tuple[ir.Value, list[ir.Value]]:
        own = [self.lane(i, n) for i in indices]
        return (self.private[memory], [*own, index_constant(n)]) if memory in self.private else (memory, own)

    def _atomic(self, op: ir.Operation) -> None:
        """Lanes that meet in one cell are summed first; atomics promise no order."""
        memory, indices = op.operands[MEMORY_AT[op.name]], self.lanes.indices(op)
        one_cell = all(self.stride(i) == 0 for i in indices)
        if one_cell and AtomicRmwOp.kind.fget(op.opview) == "add" and memory not in self.private:
            total = self._total(op.operands[0])
            remake(op, [total, memory, *(self.scalar(i) for i in indices)], [total.type])
            return
        given = self.vector(op.operands[0])
        for n in range(self.width):
            where, own = self._cell(memory, indices, n)
            value = vector.ExtractOp(given, [], [n]).result
            remake(op, [value, where, *own], [value.type])

    def _total(self, value: ir.Value) -> ir.Value:
        """The sum of a value over the lanes; factors that lanes share stand before the sum."""
        element, op = value.type, defining(value)
        if isinstance(element, ir.FloatType) and op is not None and self.stride(value) is VARYING:
            if op.name == "arith.negf":
                return arith.NegFOp(self._total(op.operands[0])).result
            if op.name == "arith.mulf":
                shared = [v for v in op.operands if self.stride(v) == 0]
                if shared:
                    other = next(v for v in op.operands if self.stride(v) != 0)
                    return arith.MulFOp(self.scalar(shared[0]), self._total(other)).result
        return _sum(element, self.vector(value))

    # -- branches and loops --------------------------------------------------------------------

    def _while(self, op: ir.Operation) -> None:
        emit_while(self, op)

    def _for(self, op: ir.Operation) -> None:
        if is_unequal(self.lanes, op):
            emit_unequal(self, op)
            return
        body = op.regions[0].blocks[0]
        carried = list(body.arguments)[1:]
        bounds = [self.scalar(v) for v in list(op.operands)[:3]]
        starts = [self._of(v, like) for v, like in zip(list(op.operands)[3:], carried, strict=True)]
        made = remake(op, [*bounds, *starts], [v.type for v in starts], regions=1)
        types = [body.arguments[0].type, *(v.type for v in starts)]
        block = made.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
        self.scalars[body.arguments[0]] = block.arguments[0]
        for old, new in zip(carried, list(block.arguments)[1:], strict=True):
            self._keep(old, new)
        self._inner(body, block, carried)
        for old, like, new in zip(op.results, carried, made.results, strict=True):
            self.keep(old, new, self.stride(like))  # it may be asked for as a vector all the same

    def _if(self, op: ir.Operation) -> None:
        if self.stride(op.operands[0]) != 0:
            self._select(op)
            return
        results = list(op.results)
        types = [self.type_of(r.type) if self.stride(r) is VARYING else r.type for r in results]
        made = ir.Operation.create(op.name, results=types, operands=[self.scalar(op.operands[0])], regions=2)
        for old, new in zip(op.regions, made.regions, strict=True):
            if len(old.blocks):
                self._inner(old.blocks[0], new.blocks.append(), results)
        for old, new in zip(results, made.results, strict=True):
            self._keep(old, new)

    def _select(self, op: ir.Operation) -> None:
        """Emit both sides of a branch whose effects have masks, and select the results."""
        sides = [region.blocks[0] for region in op.regions if len(region.blocks)]
        around = self.active
        for number, side in enumerate(sides):
            if any(found.name in MEMORY_AT for found in _inside(side)):
                self.active = self._taken(self.vector(op.operands[0]), number == 0)
            self.block(side)
            self.active = around
        if op.results:
            ends = [
                [self.vector(v) for v in side.operations[len(side.operations) - 1].operands] for side in sides
            ]
            condition = self.vector(op.operands[0])
            for result, yes, no in zip(op.results, *ends, strict=True):
                self.vectors[result] = arith.SelectOp(condition, yes, no).result

    def _taken(self, condition: ir.Value, side: bool) -> ir.Value:
        """A mask of the lanes that take a side of a branch."""
        if not side:
            condition = arith.XOrIOp(condition, constant(condition.type, 1)).result
        around = self.mask_now()
        return condition if around is None else arith.AndIOp(around, condition).result

    def _inner(self, old: ir.Block, new: ir.Block, likes: list[ir.Value]) -> None:
        end = old.operations[len(old.operations) - 1].operation
        with ir.InsertionPoint(new):
            self.block(old)
            with end.location:
                given = [self._of(v, like) for v, like in zip(end.operands, likes, strict=True)]
                ir.Operation.create("scf.yield", operands=given)


def _inside(block: ir.Block) -> list[ir.Operation]:
    return [found for op in block.operations for found in (op.operation, *find(op.operation, lambda _: True))]


def _sum(element: ir.Type, lanes: ir.Value) -> ir.Value:
    if not isinstance(element, ir.FloatType):
        return vector.ReductionOp(element, vector.CombiningKind.ADD, lanes).result
    nothing = constant(element, -0.0)  # 0.0 would be one addition more
    return vector.ReductionOp(
        element, vector.CombiningKind.ADD, lanes, acc=nothing, fastmath=_ANY_ORDER
    ).result


_STRUCTURED = {
    "scf.for": "_for",
    "scf.if": "_if",
    "scf.while": "_while",
    "memref.store": "_store",
    "kern.push": "_push",
    "kern.atomic_rmw": "_atomic",
}
"""Methods for ops that are no plain arithmetic, by name, so that emitters derived from this one may have their own."""
