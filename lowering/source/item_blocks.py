"""The loops of blocks of work-items that run their iterations together.

Comes in: `Items`, a loop over work-items and the loop in each of them. Goes out: loops over blocks, in which each
work-item has an element of an array for each value that its loop carried:

    for i:  s = 0;  (for k: s = s + a[k, i]);  y[i] = s
    for b in steps of 32:  s[0..32] = 0;  (for k: for i in b..b+32: s[i-b] = s[i-b] + a[k, i]);  y[b..b+32] = s[0..32]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.lowering.source.dimensions import dimension_of
from pykern.lowering.source.whole_launch import PRIVATE
from pykern.passes.ir.clone import clone, rematerialise
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant, is_constant, terminator

Known = dict[ir.Value, ir.Value]


@dataclass(frozen=True)
class Items:
    """`loop` over work-items holds the loop `inner` and then the operations `behind`. A block is `columns` of its
    work-items, in `rows` iterations of the loop `outer` around it, if there is one."""

    kernel: ir.Operation
    loop: ir.Operation
    inner: ir.Operation
    behind: list[ir.Operation]
    columns: int
    outer: ir.Operation | None
    rows: int

    @property
    def nest(self) -> list[tuple[ir.Operation, int]]:
        """The loops over work-items, from the outermost one, with the size of a block along each."""
        around = [] if self.outer is None else [(self.outer, self.rows)]
        return [*around, (self.loop, self.columns)]


def emit_blocks(items: Items) -> None:
    """Put loops over full blocks in front of the loops, which keep the other work-items."""
    whole = items.nest[0][0]
    with ir.InsertionPoint(whole), items.kernel.location:
        ends = [_full_end(loop, size) for loop, size in items.nest]
        _Blocks(items, whole, ends).emit()
        _keep_the_rest(items, ends)


def _full_end(loop: ir.Operation, size: int) -> ir.Value | None:
    """The first iteration of a loop behind its full blocks; None where they take all of them."""
    first, end = list(loop.operands)[:2]
    numbers = is_constant(first), is_constant(end)
    if numbers[0] is not None and numbers[1] is not None:
        count = numbers[1] - numbers[0]
        return None if count % size == 0 else index_constant(numbers[0] + count // size * size)
    count = arith.MaxSIOp(arith.SubIOp(end, first).result, index_constant(0)).result
    full = arith.MulIOp(arith.DivUIOp(count, index_constant(size)).result, index_constant(size)).result
    return arith.AddIOp(first, full).result


def _keep_the_rest(items: Items, ends: list[ir.Value | None]) -> None:
    """Let the loops as they were run over the work-items of no full block."""
    loop, end = items.loop, ends[-1]
    if items.outer is None:
        _begin_at(loop, end)
        return
    if end is None:  # only whole rows are left
        _begin_at(items.outer, ends[0])
        return
    if ends[0] is not None:
        row = items.outer.regions[0].blocks[0].arguments[0]
        with ir.InsertionPoint(loop):
            in_blocks = arith.CmpIOp(arith.CmpIPredicate.slt, row, ends[0]).result
            end = arith.SelectOp(in_blocks, end, loop.operands[0]).result
    loop.operands[0] = end


def _begin_at(loop: ir.Operation, place: ir.Value | None) -> None:
    if place is None:
        loop.erase()
    else:
        loop.operands[0] = place


class _Blocks:
    """Emits the loops over blocks, in front of the loop `whole`, which is the outermost one over work-items."""

    def __init__(self, items: Items, whole: ir.Operation, ends: list[ir.Value | None]) -> None:
        self.items, self.whole, self.ends = items, whole, ends
        self.begins: list[ir.Value] = []
        self.block_ends: list[ir.Value] = []
        self.arrays: list[ir.Value] = []

    def emit(self) -> None:
        self._over_blocks(0)

    def _over_blocks(self, depth: int) -> None:
        if depth == len(self.items.nest):
            self._block()
            return
        loop, size = self.items.nest[depth]
        end = self.ends[depth] if self.ends[depth] is not None else loop.operands[1]
        with self._counted(loop, loop.operands[0], end, size) as begin:
            self.begins.append(begin)
            named_end = ir.Location.name("end", loop.location)
            self.block_ends.append(arith.AddIOp(begin, index_constant(size), loc=named_end).result)
            self._over_blocks(depth + 1)

    @contextmanager
    def _counted(self, like: ir.Operation, first: ir.Value, end: ir.Value, step: int) -> Iterator[ir.Value]:
        made = scf.ForOp(first, end, index_constant(step), loc=like.location)
        made.operation.attributes[kern.DIMENSION] = dimension_of(like)
        with ir.InsertionPoint(made.body):
            yield made.induction_variable
            scf.YieldOp([])

    def _block(self) -> None:
        inner = self.items.inner
        carried = self._carried()
        last = inner.regions[len(inner.regions) - 1].blocks[0]
        for value, following in zip(carried, terminator(last).operands, strict=True):
            self.arrays.append(self._array(value.type, following))
        first = list(inner.operands)[-len(carried) :]
        self._each(lambda known: self._store(known, [self._value(each, known) for each in first]))
        if inner.name == "scf.while":
            self._until_all_end()
        else:
            self._iterations()
        self._each(self._behind)

    def _carried(self) -> Sequence[ir.Value]:
        """The values that the inner loop carries, as arguments of its first block."""
        block = self.items.inner.regions[0].blocks[0]
        return list(block.arguments)[0 if self.items.inner.name == "scf.while" else 1 :]

    def _array(self, kind: ir.Type, following: ir.Value) -> ir.Value:
        """An element for each work-item of a block, with the name of the carried value `following`."""
        count = self.items.rows * self.items.columns
        own = ir.MemRefType.get([count], kind, memory_space=ir.Attribute.parse(PRIVATE))
        owner = following.owner
        location = self.items.inner.location if isinstance(owner, ir.Block) else owner.location
        return ir.Operation.create("kern.private", results=[own], loc=location).result

    # -- work-items of a block -------------------------------------------------------------------

    def _each(self, emit: Callable[[Known], None], begun: Known | None = None, depth: int = 0) -> None:
        """Loops over the work-items of a block; `emit` gets what the values of one of them are."""
        known = dict(begun or {})
        if depth == len(self.items.nest):
            emit(known)
            return
        loop, _ = self.items.nest[depth]
        with self._counted(loop, self.begins[depth], self.block_ends[depth], 1) as counter:
            known[loop.regions[0].blocks[0].arguments[0]] = counter
            self._each(emit, known, depth + 1)

    def _place(self, known: Known) -> ir.Value:
        """The index of a work-item's element in each array."""
        places = [
            arith.SubIOp(known[loop.regions[0].blocks[0].arguments[0]], begin).result
            for (loop, _), begin in zip(self.items.nest, self.begins, strict=True)
        ]
        if len(places) == 1:
            return places[0]
        return arith.AddIOp(
            arith.MulIOp(places[0], index_constant(self.items.columns)).result, places[1]
        ).result

    def _load(self, known: Known) -> list[ir.Value]:
        place = self._place(known)
        return [memref.LoadOp(array, [place]).result for array in self.arrays]

    def _store(self, known: Known, values: list[ir.Value]) -> None:
        place = self._place(known)
        for value, array in zip(values, self.arrays, strict=True):
            memref.StoreOp(value, array, [place])

    def _value(self, value: ir.Value, known: Known) -> ir.Value:
        """A value of a work-item; what it is computed from is computed again."""
        return rematerialise(value, self.whole, known)

    def _copy(self, ops: list[ir.Operation], known: Known) -> None:
        """Copy ops of a loop's body here."""
        for op in ops:
            copy = clone(op, lambda each: self._value(each, known))
            known.update(zip(op.results, copy.results, strict=True))

    # -- the loop of all work-items --------------------------------------------------------------

    def _iterations(self) -> None:
        inner = self.items.inner
        block = inner.regions[0].blocks[0]
        *ops, end = [op.operation for op in block.operations]
        loop = scf.ForOp(*list(inner.operands)[:3], loc=inner.location)

        def one(known: Known) -> None:
            known.update(zip(list(block.arguments)[1:], self._load(known), strict=True))
            self._copy(ops, known)
            self._store(known, [self._value(value, known) for value in end.operands])

        with ir.InsertionPoint(loop.body):
            self._each(one, {block.arguments[0]: loop.induction_variable})
            scf.YieldOp([])

    def _until_all_end(self) -> None:
        """Iterations until no work-item of the block goes on; those that have ended keep their values."""
        inner = self.items.inner
        kind = ir.IntegerType.get_signless(32)
        named = ir.Location.name("going", inner.location)
        one, none = constant(kind, 1), constant(kind, 0)
        outer = ir.Operation.create("scf.while", [kind], [one], regions=2, loc=named)
        before, after = (region.blocks.append(kind) for region in outer.regions)
        with ir.InsertionPoint(before):
            goes_on = arith.CmpIOp(
                arith.CmpIPredicate.ne, before.arguments[0], none, loc=inner.location
            ).result
            ir.Operation.create("scf.condition", [], [goes_on, before.arguments[0]])
        with ir.InsertionPoint(after):
            loop, ends = self.items.loop, (self.begins[0], self.block_ends[0])
            each = scf.ForOp(*ends, index_constant(1), [none], loc=loop.location)
            each.operation.attributes[kern.DIMENSION] = dimension_of(loop)
            with ir.InsertionPoint(each.body):
                known = {loop.regions[0].blocks[0].arguments[0]: each.induction_variable}
                goes = arith.ExtUIOp(kind, self._guarded_iteration(known)).result
                goes = arith.OrIOp(each.inner_iter_args[0], goes, loc=named).result
                scf.YieldOp([goes], loc=inner.location)
            scf.YieldOp([each.results[0]], loc=inner.location)

    def _guarded_iteration(self, known: Known) -> ir.Value:
        """One iteration of a work-item, whose results count if its loop goes on. Gives whether it does."""
        before, after = (region.blocks[0] for region in self.items.inner.regions)
        kept = self._load(known)
        known.update(zip(before.arguments, kept, strict=True))
        *ops, end = [op.operation for op in before.operations]
        self._copy(ops, known)
        goes_on, *given = [self._value(value, known) for value in end.operands]
        known.update(zip(after.arguments, given, strict=True))
        *ops, end = [op.operation for op in after.operations]
        self._copy(ops, known)
        following = [self._value(value, known) for value in end.operands]
        chosen = [
            arith.SelectOp(goes_on, new, old, loc=end.location).result
            for new, old in zip(following, kept, strict=True)
        ]
        self._store(known, chosen)
        return goes_on

    def _behind(self, known: Known) -> None:
        """What a work-item does after its loop."""
        inner = self.items.inner
        results = self._load(known)
        if inner.name == "scf.while":
            block = inner.regions[0].blocks[0]
            known.update(zip(block.arguments, results, strict=True))
            *ops, end = [op.operation for op in block.operations]
            self._copy(ops, known)
            results = [self._value(value, known) for value in list(end.operands)[1:]]
        known.update(zip(inner.results, results, strict=True))
        own = {result for op in self.items.behind for result in op.results}
        for op in self.items.behind:  # what is loaded again is loaded before anything is stored
            for value in op.operands:
                if value not in own:
                    self._value(value, known)
        self._copy(self.items.behind, known)
