"""Loops that a flag ends: the iteration that sets the flag leaves the loop itself.

``break`` is a flag that the loop carries, and what follows it is chosen by the flag. So the next iteration, which only
finds the flag set, would wait for what decided it, as would every iteration before it. With a branch of its own the
processor predicts it and goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, cf

from pykern.passes.framework import Pass
from pykern.passes.module_facts import ModuleFacts

_PURE = ("arith.", "math.", "memref.load", "index.")
"""What a test may do that need not be done any more."""


@dataclass(frozen=True)
class ThreadExits(Pass):
    """Thread the jump of an iteration that sets the exit flag of its loop past the loop's test.

    In:  cf.br and cf.cond_br; a loop's test wants flags that it carries to be false. Out: the end of the loop's body
         branches by the flags. On the way to the next iteration they are false, and choices by them are taken.
    """

    name: ClassVar[str] = "kern-thread-exits"

    def record(self, facts: ModuleFacts, changed: bool) -> None:
        """Constants and branches are all that is new."""

    def run(self, module: ir.Module) -> bool:
        changed = False
        for function in module.body.operations:
            for region in function.regions:
                for header in list(region.blocks):
                    changed |= _thread(region, header)
        return changed


def _thread(region: ir.Region, header: ir.Block) -> bool:
    test = header.operations[len(header.operations) - 1].operation
    if test.name != "cf.cond_br" or not len(header.arguments):
        return False
    body, leave = test.successors
    flags = [
        n for n, a in enumerate(header.arguments) if any(_is_not(v, a) for v in _conjuncts(test.operands[0]))
    ]
    if not flags:
        return False
    inside = _reached(body, header)
    latches = [b for b in inside if b != header and header in _successors(b)]
    if header not in inside or len(latches) != 1 or leave in inside:
        return False
    latch = latches[0]
    jump = latch.operations[len(latch.operations) - 1].operation
    if jump.name != "cf.br" or not _may_be_left_out(header, inside) or _reads_test(header, test):
        return False
    given = list(jump.operands)
    set_here = [given[n] for n in flags if _bool(given[n]) is None and given[n] != header.arguments[n]]
    if not set_here or any(_bool(given[n]) for n in flags):  # the loop's end sets that one always
        return False
    _branch(region, header, latch, leave, set_here, flags, inside)
    return True


def _branch(
    region: ir.Region,
    header: ir.Block,
    latch: ir.Block,
    leave: ir.Block,
    set_here: list[ir.Value],
    flags: list[int],
    inside: list[ir.Block],
) -> None:
    """The way out is a block that takes what the loop carries; code behind the loop reads it there."""
    jump = latch.operations[len(latch.operations) - 1].operation
    test = header.operations[len(header.operations) - 1].operation
    carried, given = list(header.arguments), list(jump.operands)
    out = region.blocks.append(*(v.type for v in carried), arg_locs=[jump.location] * len(carried))
    passed, on_exit = _operands_of(test)
    for old, new in zip(carried, out.arguments, strict=True):
        for use in list(old.uses):
            if not _is_inside(use.owner, inside):
                use.owner.operands[use.operand_number] = new
    taken = dict(zip(carried, out.arguments, strict=True))
    with ir.InsertionPoint(out), test.location:
        cf.br([taken.get(v, v) for v in on_exit], leave)
    with ir.InsertionPoint(test), test.location:
        cf.cond_br(test.operands[0], passed, carried, test.successors[0], out)
    test.erase()
    with ir.InsertionPoint(jump), jump.location:
        ends = set_here[0]
        for value in set_here[1:]:
            ends = arith.ori(ends, value)
        never = arith.constant(ends.type, False)
        going = {v for value in set_here for v in _disjuncts(value)}
        following = [never if n in flags else _chosen(v, going) for n, v in enumerate(given)]
        cf.cond_br(ends, given, following, out, header)
    jump.erase()


def _conjuncts(value: ir.Value, by: str = "arith.andi") -> Iterator[ir.Value]:
    """The values of which one is the conjunction; `by` joins them."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == by:
        for operand in owner.operation.operands:
            yield from _conjuncts(operand, by)
    else:
        yield value


def _bool(value: ir.Value) -> bool | None:
    """The bool that a constant is."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return bool(ir.BoolAttr(owner.operation.attributes["value"]).value)


def _is_not(value: ir.Value, of: ir.Value) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.xori":
        return False
    one, other = owner.operation.operands
    return one == of and _bool(other) is True


def _disjuncts(value: ir.Value) -> Iterator[ir.Value]:
    """Values that are false where `value` is."""
    for part in _conjuncts(value, "arith.ori"):
        yield part
        owner = part.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "arith.select":
            condition, chosen, _ = owner.operation.operands
            if _bool(chosen) is True:
                yield condition


def _chosen(value: ir.Value, false: set[ir.Value]) -> ir.Value:
    """What a choice gives where these conditions are false."""
    while not isinstance(owner := value.owner, ir.Block) and owner.operation.name == "arith.select":
        condition, _, other = owner.operation.operands
        if condition not in false:
            break
        value = other
    return value


def _successors(block: ir.Block) -> list[ir.Block]:
    return list(block.operations[len(block.operations) - 1].operation.successors)


def _reached(start: ir.Block, header: ir.Block) -> list[ir.Block]:
    """The blocks between the header's test and the header; the header itself where they come back to it."""
    found: list[ir.Block] = []
    todo = [start]
    while todo:
        block = todo.pop()
        if block not in found:
            found.append(block)
            todo += [] if block == header else _successors(block)
    return found


def _may_be_left_out(header: ir.Block, inside: list[ir.Block]) -> bool:
    """Whether the test only computes, and only for the loop."""
    tested = list(header.operations)[:-1]
    pure = all(op.operation.name.startswith(_PURE) for op in tested)
    return pure and all(
        _is_inside(use.owner, inside) for op in tested for result in op.results for use in result.uses
    )


def _reads_test(header: ir.Block, test: ir.Operation) -> bool:
    """Whether the code behind the loop gets a value that the test computes."""
    return any(
        not isinstance(v.owner, ir.Block) and v.owner.operation.block == header for v in _operands_of(test)[1]
    )


def _is_inside(op: ir.Operation, blocks: list[ir.Block]) -> bool:
    return op.operation.block in blocks


def _operands_of(test: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
    """What a conditional branch passes to where it goes on, and to where it goes else."""
    counts = list(ir.DenseI32ArrayAttr(test.attributes["operandSegmentSizes"]))
    operands = list(test.operands)
    return operands[1 : 1 + counts[1]], operands[1 + counts[1] :]
