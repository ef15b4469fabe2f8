"""What two loops compute of the same elements, and costs much, is computed once: ``s += exp(x[i, k] - m)``, and
``o[i, k] = exp(x[i, k] - m) / s``.

Comes in: a kernel as loops over work-items. Goes out: the first loop stores what it has where the second one writes,
and that one reads it there. Read next: `vectorize.items`, `vectorize.ordered`, which run such loops in lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.code_size import VERSIONED_OPS
from pykern.passes.arithmetic.vector_math.expand_math import RULES
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import attributes_of
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.memory import ancestor_in, has_one_name
from pykern.passes.ir.values import defining, is_argument, is_inside, is_nested_in, parent_of
from pykern.passes.kernels import find, is_constant, replace, unaliased_loops
from pykern.passes.remarks import remark

_HARMLESS = ("arith.", "math.", "memref.dim", "memref.load", "memref.store", "scf.for", "scf.if", "scf.yield")


@dataclass(frozen=True)
class KeepElements(Pass):
    """Compute an elementary function once, where two loops of one block compute it of the same elements.

    In:  kernels as loops over work-items, marked `kern.noalias`.
    Out: the first loop stores the function's values in the array that the second loop writes, and the second loop loads
         them. Required: both loops have the same trip count, the second one writes a different element in each
         iteration of each work-item, and nothing reads or writes that array in between. Where the loops end at two
         numbers, these are compared in front of all work-items, and a copy of the loops runs as it did.
    """

    name: ClassVar[str] = "kern-keep-elements"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = tuple(RULES)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for loop in unaliased_loops(module):
            for store in list(_stores(loop)):
                changed |= any(_keep(earlier, loop, store) for earlier in _earlier(loop))
        return changed


def _keep(first: ir.Operation, second: ir.Operation, store: ir.Operation) -> bool:
    """Keep a function of the first loop where the store of the second one writes, if there is one."""
    found = _computed_twice(first, second, store)
    if found is None or not _let_be_of_one_length(first, second):
        return False
    other, op = found
    memory, *indices = list(store.operands)[1:]
    counters = first.regions[0].blocks[0].arguments[0], second.regions[0].blocks[0].arguments[0]
    remark(op, f"`{op.name}` is kept from the loop before, where this one writes")
    with ir.InsertionPoint.after(other), other.location:
        places = [counters[0] if index == counters[1] else index for index in indices]
        memref.StoreOp(other.results[0], memory, places)
    with ir.InsertionPoint(op), op.location:
        replace(op, [memref.LoadOp(memory, indices).result])
    return True


def _let_be_of_one_length(first: ir.Operation, second: ir.Operation) -> bool:
    """Let two loops end at one number, in a copy of all loops if that is known at run time alone."""
    ends = first.operands[1], second.operands[1]
    if ends[0] == ends[1]:
        return True
    outermost = _around(second)[-1]
    constants = [is_constant(end) is not None for end in ends]
    too_long = len(find(outermost, lambda _: True)) > VERSIONED_OPS
    if all(constants) or too_long or outermost == second or any(is_inside(end, outermost) for end in ends):
        return False
    with ir.InsertionPoint(outermost), outermost.location:
        branch_on(outermost, arith.CmpIOp(arith.CmpIPredicate.eq, *ends).result)
    second.operands[1] = ends[0]
    return True


def _stores(loop: ir.Operation) -> Iterator[ir.Operation]:
    """Stores of a loop to an element for each iteration of all loops around."""
    counters = {parent.regions[0].blocks[0].arguments[0] for parent in _around(loop)}
    for op in [o.operation for o in loop.regions[0].blocks[0].operations]:
        if op.name == "memref.store" and is_argument(op.operands[1]) and has_one_name(op.operands[1]):
            indices = list(op.operands)[2:]
            if counters <= set(indices) and not any(
                is_inside(index, loop) and index not in counters for index in indices
            ):
                yield op


def _around(loop: ir.Operation) -> list[ir.Operation]:
    """The loop and those around it, the outermost last."""
    found, op = [], loop
    while op.name != "func.func":
        found += [op] if op.name == "scf.for" else []
        op = parent_of(op)
    return found


def _earlier(loop: ir.Operation) -> list[ir.Operation]:
    """Loops in front of a loop, in its block, that begin at the same number and go by the same steps."""
    lower, _, step = list(loop.operands)[:3]
    others = [o.operation for o in loop.block.operations if o.operation.name == "scf.for"]
    return [
        one
        for one in others
        if one != loop
        and one.is_before_in_block(loop)
        and (one.operands[0], one.operands[2]) == (lower, step)
        and ("unsignedCmp" in one.attributes) == ("unsignedCmp" in loop.attributes)
    ]


def _computed_twice(
    first: ir.Operation, second: ir.Operation, store: ir.Operation
) -> tuple[ir.Operation, ir.Operation] | None:
    """A function that both loops compute, of the same numbers, and that can be kept where the store writes."""
    memory, *indices = list(store.operands)[1:]
    element = ir.MemRefType(memory.type).element_type
    if not _is_free(memory, first, second, store) or not _is_simple(first, second):
        return None
    if any(_comes_behind(index, first) for index in indices if not is_inside(index, second)):
        return None
    written = {op.operands[1] for op in _between(first, second) if op.name == "memref.store"}
    counters = first.regions[0].blocks[0].arguments[0], second.regions[0].blocks[0].arguments[0]
    for op in [o.operation for o in second.regions[0].blocks[0].operations]:
        if op.name not in RULES or op.results[0].type != element or not op.is_before_in_block(store):
            continue
        for other in [o.operation for o in first.regions[0].blocks[0].operations]:
            if other.name == op.name and _is_equal(
                other.results[0], op.results[0], counters, first, second, written
            ):
                return other, op
    return None


def _is_free(memory: ir.Value, first: ir.Operation, second: ir.Operation, store: ir.Operation) -> bool:
    """Whether nobody else touches an array from the beginning of the first loop to the end of the second one, but those
    who ask for its lengths. Other loops over work-items come before or behind all of this one."""
    outermost = _around(second)[-1]
    for use in memory.uses:
        op = use.owner.operation
        if op.name == "memref.dim" or op == store or not is_nested_in(op, outermost):
            continue
        place = ancestor_in(op, second.block)
        if place is None or not (place.is_before_in_block(first) or second.is_before_in_block(place)):
            return False
    return True


def _is_simple(first: ir.Operation, second: ir.Operation) -> bool:
    return all(op.name.startswith(_HARMLESS) for op in _between(first, second))


def _between(first: ir.Operation, second: ir.Operation) -> list[ir.Operation]:
    """Ops from the beginning of one loop to the end of another one."""
    ops = [o.operation for o in first.block.operations]
    ops = [op for op in ops if not (op.is_before_in_block(first) or second.is_before_in_block(op))]
    return [one for op in ops for one in (op, *find(op, lambda _: True))]


def _comes_behind(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value of the loop's block is not there yet in front of the loop."""
    op = defining(value)
    return op is not None and op.block == loop.block and not op.is_before_in_block(loop)


def _is_equal(
    one: ir.Value,
    other: ir.Value,
    counters: tuple[ir.Value, ir.Value],
    first: ir.Operation,
    second: ir.Operation,
    written: set[ir.Value],
) -> bool:
    """Whether two values are computed alike, each in an iteration of its loop with the same number."""
    if (one, other) == counters or one == other:
        return one == counters[0] or not is_inside(one, first)
    maker, same = defining(one), defining(other)
    if maker is None or same is None or maker.name != same.name or len(maker.results) != 1 or maker.regions:
        return False
    if maker.block != first.regions[0].blocks[0] or same.block != second.regions[0].blocks[0]:
        return False
    if maker.name == "memref.load":
        if maker.operands[0] in written or not is_argument(maker.operands[0]):
            return False
    elif not maker.name.startswith(("arith.", "math.")):
        return False
    return (
        one.type == other.type
        and attributes_of(maker) == attributes_of(same)
        and len(maker.operands) == len(same.operands)
        and all(
            _is_equal(a, b, counters, first, second, written)
            for a, b in zip(maker.operands, same.operands, strict=True)
        )
    )
