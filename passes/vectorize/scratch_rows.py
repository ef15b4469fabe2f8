"""Rows of a result that are only kept between two passes over a row: they wait in scratch memory.

Comes in: a loop over rows whose inner loops write an array, read it again and write it at last, as a softmax does
that keeps its exponentials in the result. Goes out: where the arrays are larger than the cache, only the last of these
loops touches the array. Read next: `vectorize_streams`, which then sends past the cache what nobody reads.

Why: scratch stays in the first cache from row to row, the array is written once and never read: a third less traffic
between processor and memory. Where the arrays fit the cache, scratch is one row more in the first caches, and the lines
of the result are waited for in the last loop, which has nothing else to do, so that the loop is slower.
`benchmarks/NOTES.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import LAST_CACHE_BYTES, LINE_BYTES
from pykern.passes.analysis.cost_model.memory import STACK_BUFFER_BYTES
from pykern.passes.framework import Pass
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import body, find, identity, index_constant, is_constant
from pykern.passes.remarks import remark
from pykern.passes.vectorize.accesses import has_unit_stride, is_question
from pykern.passes.vectorize.cache import arrays_given, cache_of
from pykern.passes.vectorize.vectorize_streams import functions

ACCESSES = ("memref.load", "memref.store")


@dataclass(frozen=True)
class ScratchRows(Pass):
    """Keep in scratch what one pass over a row leaves to the next one.

    In:  func.func marked `kern.noalias`: its array arguments do not overlap. An index argument with the attribute
         `kern.cache_bytes` is the size of the cache; without one `threshold_bytes` is.
    Out: an array that the loops in a loop over rows fill, read and fill again, each from end to end, is written by
         the last of them; the others use what one arith.select a row gives: scratch, on the stack up to `stack_bytes`,
         else from malloc, where the arrays are larger than the cache, and else the row itself, as a memref.subview
         marked `kern.kept_row`. The function is marked `kern.rows`: it takes one row of all its arrays after the other.
    """

    name: ClassVar[str] = "kern-scratch-rows"
    only_speed: ClassVar[bool] = True
    stack_bytes: int = STACK_BUFFER_BYTES
    threshold_bytes: int = LAST_CACHE_BYTES

    def run(self, module: ir.Module) -> None:
        for function in functions(module, distinct=True):
            cache, arrays = cache_of(function, self.threshold_bytes), arrays_given(function)
            for array in [] if cache.surely_holds(arrays) else arrays:
                kept = kept_row(array)
                if kept is not None:
                    remark(kept.last, "rows of a large result wait in scratch between two passes over them")
                    with ir.InsertionPoint.at_block_begin(body(function)), function.location:
                        is_large = cache.is_exceeded(arrays)
                        scratch = _scratch(function, array, is_large, self.stack_bytes)
                    _use_scratch(kept, scratch, is_large)
                    function.attributes[kern.ROWS] = ir.UnitAttr.get()


@dataclass(frozen=True)
class KeptRow:
    """`accesses` to `array` with a column as their last index; the one of them that stays is `last`, a store."""

    array: ir.Value
    accesses: tuple[ir.Operation, ...]
    last: ir.Operation


def kept_row(array: ir.Value) -> KeptRow | None:
    """The accesses to an array of which all but the last need not be seen by anybody else."""
    if ir.MemRefType(array.type).rank < 2 or not has_unit_stride(array):
        return None
    users = [use.owner.operation for use in array.uses]
    accesses = [op for op in users if op.name in ACCESSES]
    if not all(op.name in ACCESSES or is_question(op) for op in users):
        return None
    loops = {identity(op.parent.operation) for op in accesses if op.parent is not None}
    if len(loops) < 2 or not all(_goes_over(op, accesses[0]) for op in accesses):
        return None
    accesses = _in_order(accesses)
    *before, last = accesses
    alone = all(op.name == "memref.load" for op in before if op.parent == last.parent)
    if before[0].name != "memref.store" or last.name != "memref.store" or not alone:
        return None
    return KeptRow(array, tuple(before), last)


def _in_order(accesses: list[ir.Operation]) -> list[ir.Operation]:
    """As the program has them."""
    top = accesses[0]
    while top.parent is not None:
        top = top.parent.operation
    wanted = {identity(op) for op in accesses}
    return find(top, lambda op: identity(op) in wanted)


def _goes_over(access: ir.Operation, first: ir.Operation) -> bool:
    """Whether an access is in an innermost loop beside that of the first one, with the same bounds and row."""
    loop, model = access.parent, first.parent
    if loop is None or model is None or loop.name != "scf.for" or model.name != "scf.for":
        return False
    rows, beside = loop.operation.parent, model.operation.parent
    if rows is None or beside is None or rows.name != "scf.for":
        return False
    if identity(rows.operation) != identity(beside.operation):
        return False
    if any(o.operation.regions for o in loop.regions[0].blocks[0].operations):
        return False
    bounds = zip(list(loop.operands)[:3], list(model.operands)[:3], strict=True)
    if not all(_same(a, b) for a, b in bounds) or is_constant(loop.operands[2]) != 1:
        return False
    *row, column = _indices(access)
    if column != loop.opview.induction_variable or any(is_inside(index, loop.operation) for index in row):
        return False
    return row == _indices(first)[:-1]


def _same(a: ir.Value, b: ir.Value) -> bool:
    number = is_constant(a)
    return a == b or (number is not None and number == is_constant(b))


def _indices(access: ir.Operation) -> list[ir.Value]:
    return list(access.operands)[1 if access.name == "memref.load" else 2 :]


def _use_scratch(kept: KeptRow, scratch: ir.Value, is_large: ir.Value) -> None:
    first = kept.accesses[0]
    loop = first.parent
    assert loop is not None
    with ir.InsertionPoint(loop.operation), first.location:
        own = _row(kept.array, _indices(first)[:-1])
        row = arith.SelectOp(is_large, memref.CastOp(own.type, scratch).result, own).result
    for access in kept.accesses:
        column = _indices(access)[-1]
        with ir.InsertionPoint(access), access.location:
            if access.name == "memref.load":
                access.results[0].replace_all_uses_with(memref.LoadOp(row, [column]).result)
            else:
                memref.StoreOp(access.operands[0], row, [column])
        access.erase()


def _row(array: ir.Value, indices: list[ir.Value]) -> ir.Value:
    """A row of the array, seen as a buffer of one dimension."""
    kind, dynamic = ir.MemRefType(array.type), ir.ShapedType.get_dynamic_size()
    length = kind.shape[-1]
    sizes = [memref.DimOp(array, index_constant(kind.rank - 1)).result] if length == dynamic else []
    layout = ir.StridedLayoutAttr.get(ir.ShapedType.get_dynamic_stride_or_offset(), [1])
    ones, starts = [1] * kind.rank, [ir.ShapedType.get_dynamic_stride_or_offset()] * len(indices)
    seen = memref.SubViewOp(
        ir.MemRefType.get([length], kind.element_type, layout),
        array, indices, sizes, [], [*starts, 0], [*ones[1:], length], ones,
    )  # fmt: skip
    seen.operation.attributes[kern.KEPT_ROW] = ir.UnitAttr.get()
    return seen.result


def _scratch(function: ir.Operation, array: ir.Value, is_large: ir.Value, stack_bytes: int) -> ir.Value:
    """A row's length of memory, where it is used; what malloc gives is freed at the end of the function."""
    kind = ir.MemRefType(array.type)
    size = max(1, kind.element_type.width // 8)
    room, columns = stack_bytes // size, kind.shape[-1]
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), LINE_BYTES)
    if not kind.is_dynamic_dim(kind.rank - 1) and columns <= room:
        return memref.AllocaOp(
            ir.MemRefType.get([columns], kind.element_type), [], [], alignment=alignment
        ).result
    row = ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], kind.element_type)
    stack = memref.AllocaOp(ir.MemRefType.get([room], kind.element_type), [], [], alignment=alignment).result
    length = memref.DimOp(array, index_constant(kind.rank - 1)).result
    fits = arith.CmpIOp(arith.CmpIPredicate.sle, length, index_constant(room)).result
    needed = arith.SelectOp(is_large, length, index_constant(0)).result
    heap = memref.AllocOp(row, [arith.SelectOp(fits, index_constant(0), needed).result], []).result
    chosen = arith.SelectOp(fits, memref.CastOp(row, stack).result, heap).result
    end = [o.operation for o in body(function).operations][-1]
    with ir.InsertionPoint(end), function.location:
        memref.DeallocOp(heap)
    return chosen
