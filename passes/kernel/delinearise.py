"""One flat index becomes a row and a column: no division is left in the loop.

Comes in: a loop over work-items `k` that compute `k // d` and `k % d`. Goes out: a loop over rows, and within it one
over columns, in which the two are loop variables. Read next: `split_edges`, `vectorize.vectorize_streams`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import SHORT_ROW_OPS, UNROLLED_INDEX_OPS
from pykern.passes.analysis.cost_model.lengths import FEWEST_FLAT_COLUMNS, SHORT_ROW
from pykern.passes.framework import Pass
from pykern.passes.ir.both_ends import run_at_both_ends
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.effects import erase_dead
from pykern.passes.ir.floor_division import FloorDivision, floor_divisions
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.ir.loops import leave_alone
from pykern.passes.ir.values import has_uses, is_inside, made_by, parent_of
from pykern.passes.kernel.wrapped_offsets import run_in_rounds, wrapped_offsets
from pykern.passes.kernels import find, index_arithmetic, index_constant, is_constant
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class Delinearise(Pass):
    """Take apart the flat indices of work-items.

    In:  kernels as loops over work-items, the innermost marked `kern.items`; `k // d` and `k % d` of its variable as
         the frontend writes them, `d` the same for all work-items.
    Out: where `d` is at least `columns`, known or tested before the loop: a loop over rows `i` and in it the loop over
         columns `j`, marked `kern.items`, for `k = i * d + j`. The first and the last row may be parts of rows: nothing
         has to divide anything. The loop as it was for other `d`. Divisions of `i` stand in front of the inner loop.
         Where `d` is a small number, a loop over whole rows, whose columns are written one behind the other, and the
         loop as it was for parts of rows at both ends.
         Where `(k + c) % d` is computed with a `c` that is no known number: a loop over rounds and one over the
         remainder, in the same way.
    """

    name: ClassVar[str] = "kern-delinearise"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.floordivsi", "arith.remsi")
    columns: int = FEWEST_FLAT_COLUMNS

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for loop in find(kernel, lambda op: op.name == "scf.for" and _is_of_items(op)):
                changed = self._loop(kernel, loop) or changed
        return changed

    def _loop(self, kernel: ir.Operation, loop: ir.Operation) -> bool:
        flat = loop.regions[0].blocks[0].arguments[0]
        divisions = [f for f in floor_divisions(loop) if f.dividend == flat]
        divisors = list(dict.fromkeys(f.divisor for f in divisions if hoist(f.divisor, loop)))
        if loop.results:
            return False
        if not divisors:
            return self._offsets(kernel, loop)
        divisor = _largest(divisors)
        if divisor is None:
            remark(
                divisions[0].op, "an index is divided by numbers of which none is a multiple of all others"
            )
            return False
        number = is_constant(divisor)
        if number is not None and number < self.columns:
            return 1 < number <= SHORT_ROW and self._short_rows(kernel, loop, divisor)
        remark(divisions[0].op, "flat index: a loop over rows and one over columns, without divisions")
        with ir.InsertionPoint(loop), loop.location:
            tests = [] if number is not None else [_at_least(divisor, self.columns)]
            if not _begins_at_zero(kernel, loop):
                tests.append(_at_least(loop.operands[0], 0))
            inner = _beside(loop, tests) if tests else loop
            with ir.InsertionPoint(inner):
                _rows(loop, inner, divisor)
        # a volume has rows of rows
        self._loop(kernel, inner)
        return True

    def _offsets(self, kernel: ir.Operation, loop: ir.Operation) -> bool:
        """Let indices that wrap around with an offset be variables of loops."""
        wrapped = wrapped_offsets(loop)
        if not wrapped:
            return False
        period = wrapped[0].period
        number = is_constant(period)
        if number is not None and number < self.columns:
            return False
        remark(wrapped[0].op, "an index that wraps around: a loop over rounds, without divisions")
        with ir.InsertionPoint(loop), loop.location:
            tests = [] if number is not None else [_at_least(period, self.columns)]
            if not _begins_at_zero(kernel, loop):
                tests.append(_at_least(loop.operands[0], 0))
            tests += wrapped[0].tests(loop)
            if tests:
                loop = _beside(loop, tests)
        run_in_rounds(loop, wrapped_offsets(loop))
        self._loop(kernel, loop)
        return True

    def _short_rows(self, kernel: ir.Operation, loop: ir.Operation, divisor: ir.Value) -> bool:
        """Let whole rows of few columns be rows and columns, and parts of rows at both ends run as they did."""
        lower, upper = list(loop.operands)[:2]
        if not _begins_at_zero(kernel, loop) or len(find(loop, lambda _: True)) > SHORT_ROW_OPS:
            return False
        remark(loop, "flat index: a loop over short rows and one over their columns, without divisions")
        with ir.InsertionPoint(loop), loop.location:
            rim = loop.clone().operation
            zero, one = map(index_constant, (0, 1))
            before = arith.AddIOp(lower, arith.SubIOp(divisor, one).result).result
            first = arith.MinSIOp(
                arith.MulIOp(arith.DivUIOp(before, divisor).result, divisor).result, upper
            ).result
            whole = arith.MulIOp(arith.DivUIOp(upper, divisor).result, divisor).result
            last = arith.MaxSIOp(whole, first).result
            rims = run_at_both_ends(rim, (lower, first), (last, upper))
            rows = scf.ForOp(arith.DivUIOp(first, divisor).result, arith.DivUIOp(last, divisor).result, one)
            _mark_as(rows.operation, loop)
            with ir.InsertionPoint(rows.body):
                start = arith.MulIOp(rows.induction_variable, divisor).result
                place = scf.YieldOp([]).operation
        del rim.attributes[kern.ITEMS]
        leave_alone(rim)
        leave_alone(rims)
        loop.move_before(place)
        loop.operands[0], loop.operands[1] = zero, divisor
        _use_both(loop, rows.induction_variable, start, divisor)
        inside = find(loop, lambda _: True)
        if (
            not any(op.regions for op in inside)
            and len(inside) * (is_constant(divisor) or 0) <= UNROLLED_INDEX_OPS
        ):
            _write_out(loop, rows.operation)
        return True


def _write_out(loop: ir.Operation, rows: ir.Operation) -> None:
    """Write the columns of a row one behind the other: the loop over rows is what runs over work-items then."""
    block = loop.regions[0].blocks[0]
    for mark in (kern.ITEMS, kern.GROUP_ITEMS):
        if mark in loop.attributes:
            rows.attributes[mark] = loop.attributes[mark]
    with ir.InsertionPoint(loop), loop.location:
        for column in range(is_constant(loop.operands[1]) or 0):
            clone_block(block, {block.arguments[0]: index_constant(column)})
    loop.erase()


def _is_of_items(loop: ir.Operation) -> bool:
    return kern.ITEMS in loop.attributes or kern.GROUP_ITEMS in loop.attributes


def _begins_at_zero(kernel: ir.Operation, loop: ir.Operation) -> bool:
    """Whether the loop surely is over numbers that are not negative."""
    return kern.PLAIN in kernel.attributes and kern.GROUP_ITEMS not in loop.attributes


def _largest(divisors: list[ir.Value]) -> ir.Value | None:
    """The divisor that all others divide: rows of rows are taken apart from outside."""
    for one in divisors:
        if all(is_multiple(one, other) for other in divisors):
            return one
    return None


def is_multiple(value: ir.Value, factor: ir.Value) -> bool:
    """Whether a value is surely a multiple of another, as `h * w` is of `w`."""
    if value == factor:
        return True
    numbers = is_constant(value), is_constant(factor)
    if numbers[0] is not None and numbers[1]:
        return numbers[0] % numbers[1] == 0
    product = made_by(value, "arith.muli")
    return product is not None and any(is_multiple(operand, factor) for operand in product.operands)


def _at_least(value: ir.Value, least: int) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.sge, value, index_constant(least)).result


def _beside(loop: ir.Operation, tests: list[ir.Value]) -> ir.Operation:
    """A copy of the loop for where all tests hold, and the loop as it was elsewhere."""
    holds = tests[0]
    for test in tests[1:]:
        holds = arith.AndIOp(holds, test).result
    branch = scf.IfOp(holds, has_else=True)
    with ir.InsertionPoint(branch.then_block):
        inner = loop.clone().operation
        scf.YieldOp([])
    with ir.InsertionPoint(branch.else_block):
        end = scf.YieldOp([]).operation
    loop.move_before(end)
    for mark in (kern.ITEMS, kern.GROUP_ITEMS):
        if mark in loop.attributes:
            del loop.attributes[mark]
    leave_alone(loop)
    return inner


def _mark_as(rows: ir.Operation, loop: ir.Operation) -> None:
    if kern.CONCURRENT in loop.attributes:
        rows.attributes[kern.CONCURRENT] = loop.attributes[kern.CONCURRENT]


def _rows(loop: ir.Operation, columns: ir.Operation, divisor: ir.Value) -> ir.Operation:
    """A loop over rows at the insertion point, with `columns` in it, which was the loop over all of them."""
    first, last = list(loop.operands)[:2]
    zero, one = index_constant(0), index_constant(1)
    some = arith.CmpIOp(arith.CmpIPredicate.slt, first, last).result
    row = arith.DivUIOp(first, divisor).result
    final = arith.DivUIOp(arith.SubIOp(last, one).result, divisor).result
    rows = scf.ForOp(row, arith.SelectOp(some, arith.AddIOp(final, one).result, row).result, one)
    _mark_as(rows.operation, loop)
    with ir.InsertionPoint(rows.body):
        start = arith.MulIOp(rows.induction_variable, divisor).result
        begin = arith.MaxSIOp(arith.SubIOp(first, start).result, zero).result
        end = arith.MinSIOp(arith.SubIOp(last, start).result, divisor).result
        terminator = scf.YieldOp([]).operation
    columns.move_before(terminator)
    columns.operands[0], columns.operands[1] = begin, end
    _use_both(columns, rows.induction_variable, start, divisor)
    return columns


def _use_both(columns: ir.Operation, row: ir.Value, start: ir.Value, divisor: ir.Value) -> None:
    """Put row and column in place of the quotients and remainders of the flat index, which is their sum."""
    block = columns.regions[0].blocks[0]
    column = block.arguments[0]
    with ir.InsertionPoint.at_block_begin(block), columns.location:
        flat = index_arithmetic("addi", start, start)
    column.replace_all_uses_with(flat)
    flat.owner.operation.operands[1] = column
    for division in floor_divisions(columns):
        if division.dividend != flat:
            continue
        if division.divisor == divisor:
            _replace(division, column if division.is_remainder else row)
        elif is_multiple(divisor, division.divisor):
            _divide_column(division, column)
            if not division.is_remainder:
                _add_rows(division, row, divisor)
    for taken in [use.owner.operation for use in flat.uses]:
        if taken.name == "arith.subi" and taken.operands[0] == flat and _is_start(taken, row, divisor):
            taken.results[0].replace_all_uses_with(column)
    erase_dead(block)
    for division in floor_divisions(columns):
        if division.never_traps and parent_of(division.op) == columns:
            _move_before(division.op.results[0], columns)


def _replace(division: FloorDivision, value: ir.Value) -> None:
    division.op.results[0].replace_all_uses_with(value)


def _divide_column(division: FloorDivision, column: ir.Value) -> None:
    """Let ``(i * h * w + j) % w`` be ``j % w``; and so for the quotient, to which `_add_rows` adds the rest."""
    name = "arith.remsi" if division.is_remainder else "arith.floordivsi"
    for op in find(parent_of(division.op), lambda op: op.name == name):
        if op.operands[0] == division.dividend and _same_divisor(op.operands[1], division.divisor):
            op.operands[0] = column


def _add_rows(division: FloorDivision, row: ir.Value, divisor: ir.Value) -> None:
    """``(i * h * w + j) // w`` is ``i * h + j // w``."""
    quotient = division.op.results[0]
    readers = [(use.owner, use.operand_number) for use in quotient.uses]
    with ir.InsertionPoint(row.owner.owner), division.op.location:
        each = arith.DivSIOp(divisor, division.divisor).result
    with ir.InsertionPoint(parent_of(division.op)), division.op.location:
        before = arith.MulIOp(row, each).result
    with ir.InsertionPoint.after(division.op), division.op.location:
        total = arith.AddIOp(before, quotient).result
    for reader, number in readers:
        reader.operation.operands[number] = total


def _same_divisor(tested: ir.Value, divisor: ir.Value) -> bool:
    op = made_by(tested, "arith.select")
    return tested == divisor or (op is not None and op.operands[2] == divisor)


def _is_start(taken: ir.Operation, row: ir.Value, divisor: ir.Value) -> bool:
    """Whether ``k - i * d`` is what is taken."""
    product = made_by(taken.operands[1], "arith.muli")
    return product is not None and sorted(map(hash, product.operands)) == sorted(map(hash, (row, divisor)))


def _move_before(value: ir.Value, loop: ir.Operation) -> bool:
    """Move what gives an invariant value in front of the loop, divisions that cannot trap with it."""
    if not is_inside(value, loop):
        return True
    op = value.owner
    if isinstance(op, ir.Block) or not op.operation.name.startswith("arith.") or not has_uses(value):
        return False
    if not all(_move_before(operand, loop) for operand in op.operation.operands):
        return False
    op.operation.move_before(loop)
    return True
