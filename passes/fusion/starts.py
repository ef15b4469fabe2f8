"""What the sums of a reduction start from, where the operation before it fills its output with a number.

Comes in: operations of a program on buffers, in order. Goes out: the numbers; the fills are erased, and each sum starts
from its number in a register.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlir import ir

from pykern.passes.fusion.legality import is_quiet
from pykern.passes.ir.memory import outputs_of, whole
from pykern.passes.ir.structured import indexing_maps, reduces
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import body, identity

Starts = list["ir.Value | None"]
"""For each output of an operation the number that it was filled with; None: what is in memory counts."""


def starts_of(operations: list[ir.Operation]) -> tuple[dict[int, Starts], set[int]]:
    """What each op starts from, by its identity, and the identities of fills, which are erased."""
    starts: dict[int, Starts] = {}
    fills: set[int] = set()
    blocks: dict[ir.Block, _Order] = {}
    for op in operations:
        starts[identity(op)] = [None] * outputs_of(op)
    for op in reversed(operations):
        if identity(op) in fills or not reduces(op):
            continue
        for n, out in enumerate(list(op.operands)[-outputs_of(op) :]):
            if not _reaches_all(op, n):
                continue
            if op.block not in blocks:
                blocks[op.block] = _Order(op.block)
            fill = _fill_before(blocks[op.block].before(op), out)
            if fill is not None:
                starts[identity(op)][n] = _filled_with(fill, out)
                fills.add(identity(fill))
                blocks[op.block].erase(fill)
    return starts, fills


class _Order:
    """The operations of a block, which are many: they are looked at once."""

    def __init__(self, block: ir.Block) -> None:
        self.operations: list[ir.Operation | None] = [each.operation for each in block.operations]
        self.places = {
            identity(each): place for place, each in enumerate(self.operations) if each is not None
        }

    def before(self, op: ir.Operation) -> Iterator[ir.Operation]:
        """What stands in front of an operation, the nearest first."""
        for place in reversed(range(self.places[identity(op)])):
            each = self.operations[place]
            if each is not None:
                yield each

    def erase(self, op: ir.Operation) -> None:
        self.operations[self.places.pop(identity(op))] = None
        op.erase()


def _reaches_all(op: ir.Operation, output: int) -> bool:
    """Whether the op writes every element of the output: not where an index occurs twice, as on a diagonal."""
    return indexing_maps(op)[-outputs_of(op) :][output].is_projected_permutation


def _fill_before(before: Iterable[ir.Operation], out: ir.Value) -> ir.Operation | None:
    for each in before:
        if _filled_with(each, out) is not None:
            return each
        if each.name == "linalg.generic" and _filled_with(each, list(each.operands)[-1]) is not None:
            continue  # another output's
        if not is_quiet(each):
            return None
    return None


def _filled_with(op: ir.Operation, out: ir.Value) -> ir.Value | None:
    """The scalar that an op fills all of `out` with."""
    if op.name != "linalg.generic" or outputs_of(op) != 1 or whole(list(op.operands)[-1]) != whole(out):
        return None
    block = body(op)
    value = list(block.operations)[-1].operation.operands[0]
    if reduces(op) or len(list(block.operations)) != 1:
        return None
    if is_argument(value) and value.owner == block:
        number = list(block.arguments).index(value)
        value = op.operands[number]
        return None if isinstance(value.type, ir.MemRefType) else value
    return value
