"""Finds the accesses of two nested loops that are contiguous along the outer loop: those that need a transposition.

Comes in: two loops, one directly inside the other. Goes out: `Transposed`; None where there is no such access, or where
some access is contiguous along neither loop. Read next: `transpose_items`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import LINE_BYTES
from pykern.passes.analysis.cost_model.registers import SQUARE_BITS, SQUARE_OPS, SQUARE_SIDE
from pykern.passes.analysis.strides import stride
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.index_arithmetic import affine_of
from pykern.passes.ir.memory import has_one_name
from pykern.passes.ir.values import arguments_behind, defining, is_argument, is_inside, made_by
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
    found = []
    places: set[ir.Value] = set()
    for op in accesses:
        if _is_transposed(op, outer, lanes):
            found.append(op)
        elif _is_transposed_flat(op, outer, lanes):
            found.append(op)
            places |= _behind(_indices(op)[0], inner)
        elif not lanes.is_contiguous(op) and not _is_uniform(op, lanes):
            return None
    varying = {r for op in ops for r in op.results if lanes.stride(r) is VARYING}
    if any(isinstance(r.type, ir.IndexType) and r not in places for r in varying):
        return None
    if not found or not _are_apart(accesses, found, lanes):
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


def _is_transposed_flat(op: ir.Operation, outer: ir.Operation, lanes: Lanes) -> bool:
    """The same of a flat array, `x[j * n + i]`, where rows have a length that is known when launched."""
    indices = _indices(op)
    strides, _ = ir.MemRefType(op.operands[MEMORY_OPERAND[op.name]].type).get_strides_and_offset()
    if len(indices) != 1 or strides != [1] or lanes.stride(indices[0]) is not VARYING:
        return False
    inner = lanes.loop.opview.induction_variable
    return stride(indices[0], outer.opview.induction_variable) == 1 and _is_row_number(indices[0], inner)


def _is_row_number(place: ir.Value, counter: ir.Value) -> bool:
    """Whether a place is a counter times a number that is the same for all, plus what is the same for all."""
    op = made_by(place, "arith.addi", "arith.subi", "arith.muli", "arith.index_cast")
    if op is None:
        return False
    moving = [value for value in op.operands if counter in arguments_behind(value)]
    if len(moving) != 1:
        return False
    return (op.name == "arith.muli" and moving[0] == counter) or _is_row_number(moving[0], counter)


def _behind(value: ir.Value, loop: ir.Operation) -> set[ir.Value]:
    """What is computed in a loop's body for a value, itself included."""
    op = defining(value)
    if op is None or not is_inside(value, loop):
        return set()
    return {value}.union(*(_behind(operand, loop) for operand in op.operands))


def _is_uniform(op: ir.Operation, lanes: Lanes) -> bool:
    return op.name == "memref.load" and not any(lanes.stride(index) != 0 for index in _indices(op))


def _are_apart(accesses: list[ir.Operation], found: list[ir.Operation], lanes: Lanes) -> bool:
    """Whether iterations touch no cell that another one writes: what is written is read at the same place alone."""
    for store in [op for op in accesses if op.name == "memref.store"]:
        memory = store.operands[1]
        if not is_argument(memory) or not has_one_name(memory) or _is_uniform(store, lanes):
            return False
        others = [op for op in accesses if op.operands[MEMORY_OPERAND[op.name]] == memory and op != store]
        if any(op.name == "memref.store" or _indices(op) != _indices(store) for op in others):
            return False
        if store not in found and not any(
            lanes.stride(index) not in (0, VARYING) for index in _indices(store)
        ):
            return False
    return True


def _bits(op: ir.Operation) -> int:
    kind = ir.MemRefType(op.operands[MEMORY_OPERAND[op.name]].type).element_type
    known = isinstance(kind, ir.F32Type | ir.F64Type) or (
        isinstance(kind, ir.IntegerType) and kind.width in (8, 16, 32, 64)
    )
    return kind.width if known else 0
