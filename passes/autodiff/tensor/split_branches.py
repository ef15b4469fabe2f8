"""A branch of which a part waits for cotangents becomes two: one of each half of a vjp.

Canonicalization joins a branch and the one that reverses it where nothing lies between them: both have the same
condition. Comes in: a block and its values that need a cotangent. Goes out: the same block, in which no scf.if gives
both such values and others. Read next: `halves`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf

from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.values import free_values


def split_branches(block: ir.Block, late: set[ir.Value]) -> None:
    """Split the branches of `block`; `late` are arguments of it, and is completed by what depends on them."""
    for op in [o.operation for o in block.operations][:-1]:
        if not any(value in late for value in free_values(op)):
            continue
        mine = _late_results(op, late) if op.name == "scf.if" else set(range(len(op.results)))
        early = [k for k in range(len(op.results)) if k not in mine]
        if early:
            _split(op, early, sorted(mine), late)
        else:
            late.update(op.results)


def _late_results(op: ir.Operation, late: set[ir.Value]) -> set[int]:
    """The numbers of the results of a branch that depend on `late`."""
    if op.operands[0] in late:
        return set(range(len(op.results)))
    found: set[int] = set()
    for region in op.regions:
        split_branches(region.blocks[0], set(late))
        inside = _completed(region.blocks[0], late)
        found |= {k for k, value in enumerate(terminator_operands(region.blocks[0])) if value in inside}
    return found


def _completed(block: ir.Block, late: set[ir.Value]) -> set[ir.Value]:
    """`late`, and what depends on it in a block."""
    known = set(late)
    for op in block.operations:
        if any(value in known for value in free_values(op.operation)):
            known.update(op.operation.results)
    return known


def _split(op: ir.Operation, early: list[int], mine: list[int], late: set[ir.Value]) -> None:
    first, second = (_giving(op, numbers) for numbers in (early, mine))
    for region in first.regions:
        inside = _completed(region.blocks[0], late)
        for inner in reversed([o.operation for o in region.blocks[0].operations][:-1]):
            if any(value in inside for value in free_values(inner)):
                inner.erase()
    for region in second.regions:
        for inner in [o.operation for o in region.blocks[0].operations][:-1]:
            if not inner.results:  # what it does was done in the first
                inner.erase()
    for made, numbers in ((first, early), (second, mine)):
        for number, result in zip(numbers, made.results, strict=True):
            op.results[number].replace_all_uses_with(result)
    op.erase()
    late.update(second.results)


def _giving(op: ir.Operation, numbers: list[int]) -> ir.Operation:
    """A copy of a branch, before it, that gives the results `numbers` alone."""
    with ir.InsertionPoint(op), op.location:
        copy = op.clone().operation
        types = [op.results[k].type for k in numbers]
        made = ir.Operation.create("scf.if", results=types, operands=list(op.operands), regions=2)
    for region, target in zip(copy.regions, made.regions, strict=True):
        block = region.blocks[0]
        end = block.operations[len(block.operations) - 1].operation
        with ir.InsertionPoint(end), end.location:
            scf.YieldOp([end.operands[k] for k in numbers])
        end.erase()
        block.append_to(target)
    copy.erase()
    return made
