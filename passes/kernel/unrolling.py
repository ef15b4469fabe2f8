"""Unrolls loops over small private arrays and replaces the arrays' elements by SSA values (scalar replacement).

Comes in: a `Plan` that refuses nothing. Goes out: the body of the loop over work-items, rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant, true
from pykern.passes.ir.values import made_by
from pykern.passes.kernel.constant_loops import Cell, Known, Plan, ends, evaluate, note, number
from pykern.passes.kernels import MEMORY_OPERAND, find, is_constant, terminator

Cells = dict[Cell, ir.Value]


class Unrolling:
    """Emits at the insertion point. `values` maps old values to new ones; `cells` has the arrays' current elements."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.body = plan.loop.regions[0].blocks[0]
        self.values: dict[ir.Value, ir.Value] = {}
        self.known: Known = {}
        self.cells: Cells = {}
        self.constants: dict[tuple[ir.Type, int], ir.Value] = {}
        self.looked_up: dict[tuple[object, ...], ir.Value] = {}
        """What stands at places, by the place, the block that asks, and what the cells hold then."""

    def replace(self) -> None:
        """Write the body of the loop over work-items anew."""
        *old, end = [op.operation for op in self.body.operations]
        with ir.InsertionPoint(end):
            self._block(self.body)
        for op in reversed(old):
            op.erase()

    # -- values --------------------------------------------------------------------------------

    def _value(self, value: ir.Value) -> ir.Value:
        """The new value that stands for an old one."""
        found = number(value, self.known)
        return self.values.get(value, value) if found is None else self._constant(value.type, found)

    def _constant(self, kind: ir.Type, value: int) -> ir.Value:
        """At the top, once for all."""
        if (kind, value) not in self.constants:
            with ir.InsertionPoint.at_block_begin(self.body), self.plan.loop.location:
                self.constants[kind, value] = constant(kind, value)
        return self.constants[kind, value]

    def _cell(self, cell: Cell) -> ir.Value:
        """The content of a cell. Private memory that was never written may hold anything."""
        kind = ir.MemRefType(self.plan.arrays[cell[0]].type).element_type
        return self.cells.get(cell) or self._constant(kind, 0)

    # -- ops -----------------------------------------------------------------------------------

    def _block(self, block: ir.Block) -> list[ir.Value]:
        """Write the ops of a block; gives what its terminator is given."""
        for op in [op.operation for op in block.operations][:-1]:
            with op.location:
                self._operation(op)
        return [self._value(value) for value in ends(block)]

    def _operation(self, op: ir.Operation) -> None:
        if self.plan.accesses(op):
            self._access(op)
        elif evaluate(op, self.known):
            return  # a constant where it is used
        elif (iterations := self.plan.iterations(op, self.known)) is not None:
            self._unrolled(op, iterations)
        elif op.name == "scf.if" and (which := number(op.operands[0], self.known)) is not None:
            self._side(op, which)
        elif count := self.plan.while_iterations(op, self.known):
            self._short_while(op, count)
        elif op.name in _STRUCTURED:
            _STRUCTURED[op.name](self, op)
        else:
            self._copy(op)

    def _access(self, op: ir.Operation) -> None:
        cells = self.plan.cells(op, self.known)  # not empty: the plan refuses nothing
        if op.name == "memref.store":
            stored = self._value(op.operands[0])
            for cell, meant in zip(cells, self._meant(op, cells), strict=True):
                self.cells[cell] = _choice(meant, stored, self._cell(cell))
            return
        if len(cells) == 1:
            self.values[op.results[0]] = self._cell(cells[0])
            return
        array, *indices = op.operands
        at = self._flat(array, indices)
        self.values[op.results[0]] = self._looked_up(
            at, {place: self._cell((n, place)) for n, place in cells}
        )

    def _looked_up(self, at: ir.Value, contents: dict[int, ir.Value]) -> ir.Value:
        """What stands at a place that is known at run time alone. At a choice of places it is the same choice of what
        stands there, which is known as soon as the choice is."""
        known = is_constant(at)
        if known is not None:
            return contents.get(known, next(iter(contents.values())))
        key = (at, ir.InsertionPoint.current.block, *contents.values())
        if key not in self.looked_up:
            choice = made_by(at, "arith.select") if isinstance(at.type, ir.IndexType) else None
            if choice is not None:
                yes, no = (self._looked_up(side, contents) for side in list(choice.operands)[1:])
                found = yes if yes == no else _choice(choice.operands[0], yes, no)
            else:
                found, *others = contents.values()
                for place, content in zip(list(contents)[1:], others, strict=True):
                    found = _choice(self._equals(at, place), content, found)
            self.looked_up[key] = found
        return self.looked_up[key]

    def _meant(self, op: ir.Operation, cells: Sequence[Cell]) -> list[ir.Value | None]:
        """For each cell whether the access means it; None where it is the only one."""
        if len(cells) == 1:
            return [None]
        array, *indices = list(op.operands)[MEMORY_OPERAND[op.name] :]
        at = self._flat(array, indices)
        return [self._equals(at, place) for _, place in cells]

    def _equals(self, value: ir.Value, place: int) -> ir.Value:
        """Whether an index is a number. Of a choice among numbers the conditions say it, which is quicker."""
        known = is_constant(value)
        if known is not None:
            return self._constant(ir.IntegerType.get_signless(1), int(known == place))
        choice = made_by(value, "arith.select")
        if choice is None or not isinstance(value.type, ir.IndexType):
            equal = arith.CmpIPredicate.eq
            return arith.CmpIOp(equal, value, self._constant(value.type, place)).result
        condition, *sides = choice.operands
        yes, no = (self._equals(side, place) for side in sides)
        if yes == no:
            return yes
        return _either(condition, yes, no)

    def _flat(self, array: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
        """The place in the array of an access."""
        first, *others = map(self._value, indices)
        for index, length in zip(others, ir.MemRefType(array.type).shape[1:], strict=True):
            row = arith.MulIOp(first, self._constant(first.type, length)).result
            first = arith.AddIOp(row, index).result
        return first

    def _copy(self, op: ir.Operation) -> None:
        made = op.clone()
        for one in (made, *find(made, lambda _: True)):
            for place, value in enumerate(one.operands):
                one.operands[place] = self._value(value)
        self.values.update(zip(op.results, made.results, strict=True))

    # -- loops and branches that are known ---------------------------------------------------------

    def _unrolled(self, op: ir.Operation, iterations: range) -> None:
        block = op.regions[0].blocks[0]
        given = list(op.operands)[3:]
        numbers, values = self._numbers(given), [self._value(v) for v in given]
        for at in iterations:
            note(self.known, block.arguments, [at, *numbers])
            self.values.update(zip(list(block.arguments)[1:], values, strict=True))
            values = self._block(block)
            numbers = self._numbers(ends(block))
        self._results(op, values, numbers)

    def _side(self, op: ir.Operation, which: int) -> None:
        """Emit the one side of a branch whose condition is known."""
        for block in op.regions[0 if which else 1].blocks:
            values = self._block(block)
            self._results(op, values, self._numbers(ends(block)))

    def _short_while(self, op: ir.Operation, count: int) -> None:
        """All iterations that there may be. From that on in which the condition is false nothing is changed."""
        before, after = (region.blocks[0] for region in op.regions)
        values, numbers = [self._value(v) for v in op.operands], self._numbers(op.operands)
        runs: ir.Value | None = None
        results: list[ir.Value] = []
        for at in range(count + 1):
            note(self.known, before.arguments, numbers)
            self.values.update(zip(before.arguments, values, strict=True))
            condition, *passed = self._block(before)
            numbers = self._numbers(ends(before)[1:])
            results = [_choice(runs, new, old) for new, old in zip(passed, results or passed, strict=True)]
            if at == count:
                break
            runs = condition if runs is None else arith.AndIOp(runs, condition).result
            note(self.known, after.arguments, numbers)
            self.values.update(zip(after.arguments, passed, strict=True))
            outside = dict(self.cells)
            values = self._block(after)
            numbers = self._numbers(ends(after))
            for cell, content in self.cells.items():
                if cell in outside and outside[cell] != content:
                    self.cells[cell] = _choice(runs, content, outside[cell])
        self._results(op, results, [None] * len(results))

    def _numbers(self, values: Sequence[ir.Value]) -> list[int | None]:
        return [number(value, self.known) for value in values]

    def _results(self, op: ir.Operation, values: Sequence[ir.Value], numbers: Sequence[int | None]) -> None:
        note(self.known, op.results, numbers)
        self.values.update(zip(op.results, values, strict=True))

    # -- loops and branches that stay, and carry the cells that are changed inside -----------------------

    def _if(self, op: ir.Operation) -> None:
        changed = self.plan.changed(op, self.known)
        results = [*(r.type for r in op.results), *(self._cell(c).type for c in changed)]
        made = ir.Operation.create(
            op.name, results=results, operands=[self._value(op.operands[0])], regions=2
        )
        for old, new in zip(op.regions, made.regions, strict=True):
            if len(old.blocks) or changed:
                self._inner(old.blocks[0] if len(old.blocks) else None, new.blocks.append(), changed)
        self._made(op, made, changed)

    def _for(self, op: ir.Operation) -> None:
        changed = self.plan.changed(op, self.known)
        given = [*map(self._value, op.operands), *map(self._cell, changed)]
        made = remake(op, given, [v.type for v in given[3:]], regions=1)
        old = op.regions[0].blocks[0]
        self._body(old, made, 0, [old.arguments[0].type, *(v.type for v in given[3:])], changed)
        self._made(op, made, changed)

    def _while(self, op: ir.Operation) -> None:
        changed = self.plan.changed(op, self.known)
        given = [*map(self._value, op.operands), *map(self._cell, changed)]
        results = [*(r.type for r in op.results), *(self._cell(c).type for c in changed)]
        made = ir.Operation.create(op.name, results=results, operands=given, regions=2)
        self._body(op.regions[0].blocks[0], made, 0, [v.type for v in given], changed)
        self._body(op.regions[1].blocks[0], made, 1, results, changed)
        self._made(op, made, changed)

    def _body(
        self,
        old: ir.Block,
        made: ir.Operation,
        region: int,
        types: Sequence[ir.Type],
        changed: Sequence[Cell],
    ) -> None:
        """The only block of a region of a loop; its last arguments are the changed cells."""
        block = made.regions[region].blocks.append(*types, arg_locs=[made.location] * len(types))
        arguments = list(block.arguments)
        own = len(old.arguments)
        note(self.known, old.arguments, [None] * own)
        self.values.update(zip(old.arguments, arguments[:own], strict=True))
        outside = dict(self.cells)
        self.cells |= zip(changed, arguments[own:], strict=True)
        self._inner(old, block, changed)
        self.cells = outside

    def _inner(self, old: ir.Block | None, new: ir.Block, changed: Sequence[Cell]) -> None:
        """Fill a block; only its terminator gives what it changes."""
        outside = dict(self.cells)
        with ir.InsertionPoint(new):
            given = [] if old is None else self._block(old)
            name = "scf.yield" if old is None else terminator(old).name
            ir.Operation.create(name, operands=[*given, *map(self._cell, changed)])
        self.cells = outside

    def _made(self, op: ir.Operation, made: ir.Operation, changed: Sequence[Cell]) -> None:
        results, own = list(made.results), len(op.results)
        self._results(op, results[:own], [None] * own)
        self.cells |= zip(changed, results[own:], strict=True)


def _choice(condition: ir.Value | None, yes: ir.Value, no: ir.Value) -> ir.Value:
    return yes if condition is None else arith.SelectOp(condition, yes, no).result


def _either(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    """Of three truth values: the second where the first holds, else the third."""
    for one, other, is_yes in ((yes, no, True), (no, yes, False)):
        known = number(one, {})
        if known is not None:
            test = condition if bool(known) is is_yes else arith.XOrIOp(condition, true()).result
            return (arith.OrIOp if known else arith.AndIOp)(test, other).result
    return arith.SelectOp(condition, yes, no).result


_STRUCTURED = {"scf.if": Unrolling._if, "scf.for": Unrolling._for, "scf.while": Unrolling._while}
