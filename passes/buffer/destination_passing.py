"""Destination passing: results are written into memory that the caller gives.

Comes in: programs on memrefs that return buffers. Goes out: programs without results, with an argument for each
result that takes no other argument's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import RESHAPES, Positions, root_of
from pykern.passes.ir.structured import indexing_maps, reduces
from pykern.passes.ir.values import free_values, is_argument, made_by
from pykern.passes.kernels import body, identity, integers, programs, update_type


@dataclass(frozen=True)
class DestinationPassing(Pass):
    """Turn results of programs into arguments that the program fills.

    In:  `kern.program` functions returning memrefs; `kern.result_arguments` says which arguments' memory
         results may take, `kern.updated` which of these have to.
    Out: no results. After the arguments there is one more for each result that takes no argument's
         memory; `kern.result_arguments` holds what was possible. Where the buffer of a result can be the
         argument itself it is, also in another shape; a copy at the end is for what remains (an argument
         returned as it is).
    """

    name: ClassVar[str] = "kern-destination-passing"

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            _pass_destinations(function)


def _pass_destinations(function: ir.Operation) -> None:
    block = body(function)
    given = list(block.arguments)
    end = list(block.operations)[-1].operation
    count = len(end.operands)
    wanted = integers(function, kern.RESULT_ARGUMENTS) or (-1,) * count
    updated = set(integers(function, kern.UPDATED) or ())
    placed: list[int] = []
    copies: list[tuple[int, ir.Value]] = []
    for number in range(count):
        value = end.operands[number]  # read anew: placing one result may have changed another
        argument = given[wanted[number]] if wanted[number] >= 0 else None
        if argument is not None:
            there = (
                value == argument
                or _replace(function, value, argument)
                or _replace_reshaped(function, value, argument)
            )
            if there or wanted[number] in updated:
                placed.append(wanted[number])
                copies += [] if there else [(number, argument)]
                continue
        placed.append(-1)
        out = block.add_argument(value.type, function.location)
        if not (_replace(function, value, out) or _replace_reshaped(function, value, out)):
            copies.append((number, out))
    _copy_at_end(end, [(end.operands[number], target) for number, target in copies])
    _finish(function, end, placed)


def _replace(function: ir.Operation, value: ir.Value, target: ir.Value) -> bool:
    """Let the buffer `value` be `target`, where it is one of the program's own and `target` is free by then."""
    if made_by(value, "memref.alloc") is None:
        return False
    if value.type != target.type:
        return False
    block = body(function)
    positions = Positions(function)
    taken = positions.interval(root_of(target), block)
    needed = positions.interval(value, block)
    if taken is not None and needed is not None and taken[1] >= needed[0]:
        ends = _hands_over(function, value, target, positions, taken[1], needed[0])
        if not ends:
            return False
    alloc = value.owner.operation
    value.replace_all_uses_with(target)
    alloc.erase()
    return True


def _replace_reshaped(function: ir.Operation, value: ir.Value, out: ir.Value) -> bool:
    """The same where `value` shows all of one of the program's own buffers in another shape: the buffer is `out` in its
    own shape."""
    views: list[ir.Operation] = []
    buffer = value
    while (view := made_by(buffer, *RESHAPES)) is not None:
        views.append(view)
        buffer = view.operands[0]
    if not views or made_by(buffer, "memref.alloc") is None:
        return False
    kinds = [ir.MemRefType(v.type) for view in views for v in (view.operands[0], view.results[0])]
    if not all(kind.has_static_shape and isinstance(kind.layout, ir.AffineMapAttr) for kind in kinds):
        return False
    if not all(ir.AffineMapAttr(kind.layout) == _plain_layout(kind) for kind in kinds):
        return False
    shown = out
    with ir.InsertionPoint.at_block_begin(body(function)), value.location:
        for view in views:
            shown = _seen_back(view, shown)
    return _replace(function, buffer, shown)


def _plain_layout(kind: ir.MemRefType) -> ir.Attribute:
    return ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank, kind.context))


def _seen_back(view: ir.Operation, result: ir.Value) -> ir.Value:
    """The memory of a reshape's result, in the shape of its operand."""
    kind = ir.MemRefType(view.operands[0].type)
    groups = view.attributes["reassociation"]
    for op in [use.owner.operation for use in result.uses] if is_argument(result) else []:
        if op.name in RESHAPES and op.results[0].type == kind and op.attributes["reassociation"] == groups:
            op.move_before(
                ir.InsertionPoint.current.ref_operation
            )  # an array that is read has a name in this shape
            return op.results[0]
    if view.name == "memref.expand_shape":
        return ir.Operation.create(
            "memref.collapse_shape", results=[kind], operands=[result], attributes={"reassociation": groups}
        ).results[0]
    sizes = ir.DenseI64ArrayAttr.get(kind.shape)
    return ir.Operation.create(
        "memref.expand_shape",
        results=[kind],
        operands=[result],
        attributes={"reassociation": groups, "static_output_shape": sizes},
    ).results[0]


def _hands_over(
    function: ir.Operation, value: ir.Value, target: ir.Value, positions: Positions, last: int, first: int
) -> bool:
    """Whether the last op that reads `target` is the first that writes `value`, element by element."""
    for each in body(function).operations:
        op = each.operation
        if positions.first[identity(op)] == first and positions.last[identity(op)] == last:
            return reads_where_it_writes(op, target, value)
    return False


def reads_where_it_writes(op: ir.Operation, source: ir.Value, target: ir.Value) -> bool:
    """Whether a linalg.generic reads `source` exactly where it writes `target`, by its operands alone: what its body
    loads itself may be any element."""
    if op.name != "linalg.generic":
        return False
    maps = indexing_maps(op)
    operands = list(op.operands)
    roots = (root_of(source), root_of(target))
    if target not in operands or any(root_of(v) in roots and v not in (source, target) for v in operands):
        return False
    if reduces(op) or any(root_of(v) in roots for v in free_values(op, nested_only=True)):
        return False
    out = maps[operands.index(target)]
    return all(maps[n] == out for n, v in enumerate(operands) if v == source)


def _copy_at_end(end: ir.Operation, copies: list[tuple[ir.Value, ir.Value]]) -> None:
    """Copy all; what is overwritten and read by another copy is read first."""
    targets = [root_of(target) for _, target in copies]
    with ir.InsertionPoint(end), end.location:
        sources = []
        for source, target in copies:
            if any(root_of(source) == other and other != target for other in targets):
                kept = memref.AllocOp(ir.MemRefType(source.type), [], []).result
                memref.CopyOp(source, kept)
                source = kept
            sources.append(source)
        for source, (_, target) in zip(sources, copies, strict=True):
            memref.CopyOp(source, target)


def _finish(function: ir.Operation, end: ir.Operation, placed: list[int]) -> None:
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return")
    end.erase()
    update_type(function)
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]
    function.attributes[kern.RESULT_ARGUMENTS] = ir.DenseI64ArrayAttr.get(placed)
