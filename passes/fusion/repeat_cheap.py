"""Cheap elementwise operations with several readers are duplicated, so that each copy fuses with its reader.

Comes in: tensors, before fusion. Goes out: the same, with a copy of the operation for each reader. For
``y = x * 2; a = y.sum(0); b = y.sum(1)``:

    before: y = x * 2 is written to memory, and read twice
    after:  a = sum of x * 2 along 0, b = sum of x * 2 along 1; y is never in memory
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.code_size import FOLLOWED_READERS, REPEATED_CHEAP_OPS
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.structured import Structured, indexing_maps, is_elementwise, loops_in, reduction_loops
from pykern.passes.kernels import identity, named

_CHEAP = frozenset({
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.extf", "arith.truncf", "arith.sitofp",
    "arith.uitofp", "arith.addi", "arith.subi", "arith.muli",
})  # fmt: skip


@dataclass(frozen=True)
class RepeatCheap(Pass):
    """Duplicate a cheap elementwise op for each of its readers; fusion then joins each copy with its reader.

    It costs as much to read the op's operand again as to read its result, and the result need not be written. Nothing
    is done where all readers go over rows, because these share values within a row (`rows`).

    In:  linalg.generic on tensors, before fusion.
    Out: a copy of the op for each reader. An op stays single if it reads two arrays of its own size, is a result of the
         program, or is read by a matrix product or by an op with more loops.
    """

    name: ClassVar[str] = "kern-repeat-cheap"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        operations = named(module.operation, "linalg.generic")
        if not any(map(_sums_across, operations)):
            return  # all readers go by rows
        for op in reversed(operations):
            if _has_readers(op) and _is_cheap(op):
                _repeat(op)


def _has_readers(op: ir.Operation) -> bool:
    """Whether a result has at least two uses. Most have one, so this comes first."""
    return any(len(list(itertools.islice(result.uses, 2))) == 2 for result in op.results)


def _sums_across(op: ir.Operation) -> bool:
    """Whether it reduces along a loop that is not the last one, and is no matrix product."""
    return any(reduction_loops(op)[:-1]) and not _is_product(op)


def _is_cheap(op: ir.Operation) -> bool:
    """Whether it computes elements from those of one array of its size, which are no wider, and of smaller arrays."""
    if not is_elementwise(op) or len(list(op.results)) != 1:
        return False
    view = Structured(op)
    if (
        view.loops == 0
        or len(view.ops) > REPEATED_CHEAP_OPS
        or any(each.name not in _CHEAP for each in view.ops)
    ):
        return False
    whole = [v for v, m in zip(view.inputs, view.maps, strict=False) if len(loops_in(m)) == view.loops]
    return len(whole) == 1 and _width(whole[0]) <= _width(op.results[0])


def _width(value: ir.Value) -> int:
    kind = ir.ShapedType(value.type).element_type
    return kind.width if isinstance(kind, ir.FloatType | ir.IntegerType) else 64


def _repeat(op: ir.Operation) -> None:
    uses = list(op.results[0].uses)
    readers: list[ir.Operation] = []
    for use in uses:
        reader = use.owner.operation
        if (
            reader.name != "linalg.generic"
            or reader.block != op.block
            or not _may_compute(reader, use.operand_number)
        ):
            return
        if reader not in readers:
            readers.append(reader)
    if all(map(_goes_by_rows, readers)):
        return
    for reader in readers[1:]:
        with ir.InsertionPoint(reader):
            copy = op.clone()
        for use in uses:
            if use.owner.operation == reader:
                reader.operands[use.operand_number] = copy.results[0]


def _goes_by_rows(reader: ir.Operation) -> bool:
    """Whether it may belong to a group of operations that go over a row together (`rows`), and share its values:
    neither it nor the operations that follow it reduce along a loop that is not the last one."""
    waiting, seen = [reader], set[int]()
    while waiting and len(seen) < FOLLOWED_READERS:
        op = waiting.pop()
        is_view = op.name in TENSOR_RESHAPES
        if not (is_view or op.name == "linalg.generic") or identity(op) in seen:
            continue
        seen.add(identity(op))
        if not is_view and _sums_across(op):
            return False
        if is_view or not any(reduction_loops(op)):
            waiting += [use.owner.operation for result in op.results for use in result.uses]
    return True


def _is_product(op: ir.Operation) -> bool:
    """Whether it is a matrix product: it reads an element of a factor in several iterations, a plain sum of products in
    one."""
    return multiplies(op) and not all(len(loops_in(m)) == m.n_dims for m in indexing_maps(op)[:2])


def _may_compute(reader: ir.Operation, operand: int) -> bool:
    """Whether a reader reads each element in one iteration, and is no product of matrices."""
    read = indexing_maps(reader)[operand]
    is_input = operand < len(list(reader.operands)) - len(list(reader.results))
    return is_input and len(loops_in(read)) == read.n_dims and not _is_product(reader)
