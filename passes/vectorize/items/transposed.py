"""Which accesses of two loops walk along memory with the outer one: those of arrays that are transposed.

Comes in: two loops, one right inside of the other. Goes out: `Transposed`, or None where no access is one, or where
some access is neither along the inner loop nor along the outer one. Read next: `transpose_items`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import LINE_BYTES
from pykern.passes.analysis.cost_model.registers import SQUARE_BITS, SQUARE_OPS, SQUARE_SIDE
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.index_arithmetic import affine_of
from pykern.passes.ir.memory import has_one_name
from pykern.passes.ir.values import arguments_behind, is_argument
from pykern.passes.kernels import MEMORY_OPERAND, function_around, is_constant
from pykern.passes.vectorize.items.lanes import Lanes, Scalar
from pykern.passes.vectorize.lanes import VARYING


@dataclass(frozen=True)
class Transposed:
    """`ops` are the accesses along the outer loop; squares have `side` rows and columns, and `rows` of the outer loop's
    iterations are a line of the cache."""

    outer: ir.Operation
    inner: ir.Operation
    lanes: Lanes
    ops: tuple[ir.Operation, ...]
    side: int
    rows: int


def transposed_accesses(outer: ir.Operation, inner: ir.Operation) -> Transposed | None:
    """The accesses of two loops over independent iterations, if squares of them can be transposed in registers."""
    kernel = function_around(inner)
    if kern.NOALIAS not in kernel.attributes or outer.results or inner.results:
        return None
    if any(is_constant(loop.operands[2]) != 1 or "unsignedCmp" in loop.attributes for loop in (outer, inner)):
        return None
    before = [o.operation for o in outer.regions[0].blocks[0].operations][:-1]
    ops = [o.operation for o in inner.regions[0].blocks[0].operations][:-1]
    if any(op != inner and not is_speculatable(op) for op in before) or any(len(op.regions) for op in ops):
        return None
    accesses = [op for op in ops if op.name in MEMORY_OPERAND]
    others = [op for op in ops if op.name not in MEMORY_OPERAND]
    if not all(op.name in ("memref.load", "memref.store") for op in accesses):
        return None
    if len([op for op in others if not isinstance(op.results[0].type, ir.IndexType)]) > SQUARE_OPS:
        return None
    try:
        lanes = Lanes(kernel, inner)
    except Scalar:
        return None
    if any(lanes.stride(r) is VARYING and isinstance(r.type, ir.IndexType) for op in ops for r in op.results):
        return None
    found = []
    for op in accesses:
        if _is_transposed(op, outer, lanes):
            found.append(op)
        elif not lanes.is_contiguous(op) and not _is_uniform(op, lanes):
            return None
    if not found or not _are_apart(accesses, lanes):
        return None
    bits = {_bits(op) for op in found}
    if len(bits) != 1 or 0 in bits:
        return None
    side = min(SQUARE_BITS // (width := bits.pop()), SQUARE_SIDE)
    return Transposed(outer, inner, lanes, tuple(found), side, max(LINE_BYTES * 8 // width, side))


def _indices(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]


def _is_transposed(op: ir.Operation, outer: ir.Operation, lanes: Lanes) -> bool:
    """Whether neighbours of the outer loop lie side by side, and the inner one jumps by whole rows."""
    *rows, last = [None, *_indices(op)]
    strides, _ = ir.MemRefType(op.operands[MEMORY_OPERAND[op.name]].type).get_strides_and_offset()
    if last is None or not rows or strides[-1] != 1 or lanes.stride(last) != 0:
        return False
    form = affine_of(last, outer)
    if form is None or form.coefficient != 1:
        return False
    variable = outer.opview.induction_variable
    if any(row is not None and variable in arguments_behind(row) for row in rows):
        return False
    return any(row is not None and lanes.stride(row) not in (0, VARYING) for row in rows)


def _is_uniform(op: ir.Operation, lanes: Lanes) -> bool:
    return op.name == "memref.load" and not any(lanes.stride(index) != 0 for index in _indices(op))


def _are_apart(accesses: list[ir.Operation], lanes: Lanes) -> bool:
    """Whether iterations touch no cell that another one writes: what is written is read at the same place alone."""
    for store in [op for op in accesses if op.name == "memref.store"]:
        memory = store.operands[1]
        if not is_argument(memory) or not has_one_name(memory) or _is_uniform(store, lanes):
            return False
        others = [op for op in accesses if op.operands[MEMORY_OPERAND[op.name]] == memory and op != store]
        if any(op.name == "memref.store" or _indices(op) != _indices(store) for op in others):
            return False
        if not any(lanes.stride(index) not in (0, VARYING) for index in _indices(store)):
            return False
    return True


def _bits(op: ir.Operation) -> int:
    kind = ir.MemRefType(op.operands[MEMORY_OPERAND[op.name]].type).element_type
    known = isinstance(kind, ir.F32Type | ir.F64Type) or (
        isinstance(kind, ir.IntegerType) and kind.width in (8, 16, 32, 64)
    )
    return kind.width if known else 0
