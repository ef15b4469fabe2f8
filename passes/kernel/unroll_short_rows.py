"""Loops over the few elements of a short row are written out: coordinates of a point, colours of a pixel.

Comes in: a kernel as loops over work-items. Goes out: accesses with constant last indices in place of such loops. Read
next: `promote_cells`, which keeps `x[i, 0]`, `x[i, 1]`, `x[i, 2]` apart, and `vectorize.short_rows`, which reads many
rows at a time.

Why: a vector of work-items reads one element of each row, and a vector along the row is all but empty. With all
elements written out LLVM reads vectors of whole rows, and takes them apart in registers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.code_size import SHORT_ROW_OPS, VERSIONED_ROW_OPS
from pykern.passes.analysis.cost_model.lengths import SHORT_ROW, VERSIONED_ROW
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.index_arithmetic import affine_of, hoist
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.values import defining, is_argument, is_inside
from pykern.passes.kernels import (
    MEMORY_OPERAND,
    find,
    index_constant,
    is_constant,
    named,
    replace,
    unaliased_loops,
)
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class UnrollShortRows(Pass):
    """Write out loops whose variable is the last index of rows that work-items have of their own.

    In:  kernels as loops over work-items, the innermost marked `kern.items`; `kern.noalias`.
    Out: such loops of at most `most` iterations are gone. Where their length is known at launch only, they are in a
         version of the loop over work-items for rows of `length` elements. Where the innermost loop over work-items is
         one itself, and in that version runs over whole rows, it is written out too, and the loop around it marked
         instead; there the version is for as many elements as work-items read of a row by constant numbers. A work-item
         gets at most `ops` ops.
    """

    name: ClassVar[str] = "kern-unroll-short-rows"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("memref.load",)
    most: int = SHORT_ROW
    length: int = VERSIONED_ROW
    ops: int = SHORT_ROW_OPS
    twice: int = VERSIONED_ROW_OPS
    """The most ops of a version for rows of one length."""

    def run(self, module: ir.Module) -> bool:
        changed = False
        for items in unaliased_loops(module, kern.ITEMS):
            if not items.results and not named(items, "kern.atomic_rmw", "kern.push", "scf.while"):
                changed = self._items(items) or changed
        return changed

    def _items(self, items: ir.Operation) -> bool:
        changed = False
        for loop in self._columns(items):
            changed = self._loops(loop) or changed
        return changed

    # -- loops of the work-item's own ------------------------------------------------------------

    def _loops(self, items: ir.Operation) -> bool:
        """Write out loops of the work-item, in a version for rows of one length if need be."""
        changed = self._unroll(items, [o for o in _loops(items) if 0 < self._iterations(o) <= self.most])
        loops = [loop for loop in _loops(items) if _starts_near_zero(loop) and _is_length(loop.operands[1])]
        lengths = list(dict.fromkeys(loop.operands[1] for loop in loops))
        if len(lengths) != 1 or not hoist(lengths[0], items):
            return changed
        if not self._is_small(items, loops, self.length, self.twice) or _passes_twice(loops):
            return changed
        _version(items, lengths, loops, self.length)
        return self._unroll(items, loops)

    def _unroll(self, items: ir.Operation, loops: list[ir.Operation]) -> bool:
        """Write out loops, inner ones before those around them."""
        changed = False
        for loop in loops:
            count = self._iterations(loop)
            if not self._is_small(items, [loop], count):
                remark(
                    loop,
                    f"the loop over a short row stays: written out the work-item has over {self.ops} ops",
                )
                continue
            remark(loop, f"the loop over a short row is written out, {count} times")
            first = is_constant(loop.operands[0])
            assert first is not None
            _write_out(loop, first, count)
            changed = True
        return changed

    def _iterations(self, loop: ir.Operation) -> int:
        """How many a loop of known bounds has; 0 where that is not known."""
        lower, upper = (is_constant(value) for value in list(loop.operands)[:2])
        return 0 if lower is None or upper is None else max(upper - lower, 0)

    def _is_small(
        self, items: ir.Operation, loops: list[ir.Operation], count: int, most: int | None = None
    ) -> bool:
        """Whether the work-item has few ops when loops are written out."""
        inside = sum(sum(map(_counts, _repeated(loop))) for loop in loops)
        return sum(map(_counts, find(items, lambda _: True))) + (count - 1) * inside <= (most or self.ops)

    # -- the last dimension of the index space --------------------------------------------------------

    def _columns(self, items: ir.Operation) -> list[ir.Operation]:
        """The loop over work-items; and that over rows, marked so in a version in which the loop over the elements of a
        row is written out, where each of these reads several elements of the row, as in a product by a small matrix."""
        rows = None if items.parent is None else items.parent.operation
        if rows is None or rows.name != "scf.for" or rows.results or is_constant(items.operands[0]) != 0:
            return [items]
        inside = [o.operation for o in rows.regions[0].blocks[0].operations][:-1]
        if any(len(op.regions) for op in inside if op != items) or not _walks_short_row(items, rows):
            return [items]
        loops, short = named(items, "scf.for"), _loops(rows)
        if not all(loop in short and self._iterations(loop) <= self.most for loop in loops):
            return [items]
        known = is_constant(items.operands[1])
        places = _places_read(items, rows)
        if known is None and not loops and not places:
            return [items]
        if known is not None:
            count = known  # which may be 0
        else:
            count = self.length if loops or not max(places) else max(places) + 1
        uppers = [items.operands[1], *(loop.operands[1] for loop in loops if not self._iterations(loop))]
        lengths = [length for length in dict.fromkeys(uppers) if is_constant(length) is None]
        fits = 1 < count <= self.most and self._is_small(
            rows, [items], count, self.twice if lengths and loops else self.ops
        )
        if not fits or not all(hoist(n, rows) and _is_length(n, items) for n in lengths):
            return [items]
        others = []
        if lengths:
            other = _version(rows, lengths, [items, *loops], count)
            others = find(other, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes)
        remark(items, f"in launches over rows of {count}, a work-item has a whole row")
        _move_mark(items, rows)
        _write_out(items, 0, count)
        return [self._around_short(rows), *others]

    def _around_short(self, rows: ir.Operation) -> ir.Operation:
        """The loop over work-items around loops over a few, which are the work-item's own now: rows of a matrix."""
        while 0 < self._iterations(rows) <= self.most:
            around = None if rows.parent is None else rows.parent.operation
            if around is None or around.name != "scf.for" or around.results:
                break
            if any(len(op.operation.regions) for op in around.regions[0].blocks[0].operations if op != rows):
                break
            _move_mark(rows, around)
            rows = around
        return rows


def _counts(op: ir.Operation) -> bool:
    """Whether an op stays one when loops are written out: indices become constants."""
    return not len(op.results) or not all(isinstance(result.type, ir.IndexType) for result in op.results)


def _repeated(loop: ir.Operation) -> list[ir.Operation]:
    """The ops within a loop that are others in each iteration: those that store or depend on what the loop changes."""
    changed: set[ir.Value] = set()
    for inner in [*find(loop, lambda op: bool(len(op.regions))), loop]:
        for region in inner.regions:
            for block in region.blocks:
                changed.update(block.arguments)
    found = []
    for op in find(loop, lambda _: True):
        if len(op.regions) or not len(op.results) or any(operand in changed for operand in op.operands):
            changed.update(op.results)
            found.append(op)
    return found


def _move_mark(inner: ir.Operation, outer: ir.Operation) -> None:
    outer.attributes[kern.ITEMS] = inner.attributes[kern.ITEMS]
    del inner.attributes[kern.ITEMS]


def _version(
    around: ir.Operation, lengths: list[ir.Value], loops: list[ir.Operation], count: int
) -> ir.Operation:
    """A version of `around` in which `loops` run `count` times, and the arrays that they walk along have such rows.
    Gives the copy for elsewhere."""
    arrays = [memory for memory in _walked(loops) if _has_plain_rows(memory)]
    with ir.InsertionPoint(around), around.location:
        wanted = index_constant(count)
        last = [index_constant(ir.MemRefType(memory.type).rank - 1) for memory in arrays]
        rows = [memref.DimOp(memory, d).result for memory, d in zip(arrays, last, strict=True)]
        tests = [arith.CmpIOp(arith.CmpIPredicate.eq, n, wanted).result for n in (*lengths, *rows)]
        other, _ = branch_on(around, functools.reduce(lambda a, b: arith.AndIOp(a, b).result, tests))
    for loop in loops:
        if is_constant(loop.operands[1]) is None:
            loop.operands[1] = wanted
    return other


def _walked(loops: list[ir.Operation]) -> list[ir.Value]:
    """Arrays of whose last index a loop's variable is a part."""
    found: dict[ir.Value, None] = {}
    for loop in loops:
        for op in find(loop, lambda op: op.name in MEMORY_OPERAND):
            memory, *indices = list(op.operands)[MEMORY_OPERAND[op.name] :]
            if len(indices) > 1 and _depends(indices[-1], loop.opview.induction_variable):
                found[memory] = None
    return list(found)


def _has_plain_rows(memory: ir.Value) -> bool:
    """Whether rows of an array lie side by side, and their length is known at launch only."""
    kind = ir.MemRefType(memory.type)
    plain = ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))
    return is_argument(memory) and kind.is_dynamic_dim(kind.rank - 1) and kind.layout == plain


def _write_out(loop: ir.Operation, first: int, count: int) -> None:
    """Put so many copies of the body, for numbers from `first` on, in the place of the loop."""
    body = loop.regions[0].blocks[0]
    variable, *carried = body.arguments
    values = list(loop.operands)[3:]
    with ir.InsertionPoint(loop), loop.location:
        for number in range(first, first + count):
            known = dict(zip(carried, values, strict=True))
            known[variable] = index_constant(number)
            values = clone_block(body, known)
    replace(loop, values)


def _loops(items: ir.Operation) -> list[ir.Operation]:
    """The loops of the work-item over short rows, inner ones first."""
    return [loop for loop in named(items, "scf.for") if _walks_short_row(loop, items)]


def _passes_twice(loops: list[ir.Operation]) -> bool:
    """Whether one loop writes rows and another one reads or writes them: such rows wait in scratch where they are long,
    which is found where nothing else touches the array."""
    touched = [{op.operands[MEMORY_OPERAND[op.name]] for op in _memory_ops(loop)} for loop in loops]
    written = [{op.operands[1] for op in _memory_ops(loop) if op.name == "memref.store"} for loop in loops]
    return any(written[n] & touched[m] for n in range(len(loops)) for m in range(len(loops)) if n != m)


def _memory_ops(loop: ir.Operation) -> list[ir.Operation]:
    return find(loop, lambda op: op.name in MEMORY_OPERAND)


def _walks_short_row(loop: ir.Operation, items: ir.Operation) -> bool:
    """Whether the loop's variable, plus a number, is the last index of rows that the variable of `items` chooses."""
    if is_constant(loop.operands[2]) != 1 or "unsignedCmp" in loop.attributes:
        return False
    for indices in _accesses(loop):
        form = affine_of(indices[-1], loop) if is_inside(indices[-1], loop) else None
        if form is None or form.coefficient != 1 or form.terms:
            continue
        if any(_depends(index, items.opview.induction_variable) for index in indices[:-1]):
            return True
    return False


def _accesses(loop: ir.Operation) -> Iterator[list[ir.Value]]:
    """The indices of accesses to arrays of several dimensions."""
    for op in find(loop, lambda op: op.name in MEMORY_OPERAND):
        indices = list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]
        if len(indices) > 1:
            yield indices


def _places_read(items: ir.Operation, rows: ir.Operation) -> list[int]:
    """The places that work-items read of the row of `rows` that they are in, whatever their own column is."""
    found = []
    for indices in _accesses(items):
        own, chosen = (
            any(_depends(index, loop.opview.induction_variable) for index in indices)
            for loop in (items, rows)
        )
        place = is_constant(indices[-1])
        if chosen and not own and place is not None:
            found.append(place)
    return found


def _depends(value: ir.Value, on: ir.Value) -> bool:
    if value == on or is_argument(value):
        return value == on
    op = defining(value)
    return op is not None and op.name.startswith("arith.") and any(_depends(v, on) for v in op.operands)


def _starts_near_zero(loop: ir.Operation) -> bool:
    return is_constant(loop.operands[0]) in (0, 1)


def _is_length(value: ir.Value, items: ir.Operation | None = None) -> bool:
    """Whether a value is the last length of an array, or the end of the loop over work-items."""
    if items is not None and value == items.operands[1]:
        return True
    op = defining(value)
    if op is None or op.name != "memref.dim":
        return False
    return is_constant(op.operands[1]) == ir.MemRefType(op.operands[0].type).rank - 1
