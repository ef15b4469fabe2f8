"""Whether two operations on buffers may be computed together: what memory they touch, what stands between them.

Comes in: operations of one block, after bufferization. Goes out: answers that hold for the CPU and for devices. All
that fuses operations on buffers asks here; on tensors the values themselves tell, but for `may_wait`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.memory import VIEWS, ancestor_in, may_alias, outputs_of, root_of, users, writes
from pykern.passes.ir.structured import is_fill
from pykern.passes.ir.values import defining
from pykern.passes.kernels import find, identity

ARITHMETIC = ("arith.", "math.", "index.")
"""Dialects that compute numbers from numbers."""
TENSORS = (
    "tensor.empty",
    "tensor.extract_slice",
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "linalg.generic",
)
"""Operations on tensors past which another one may move, as far as they do not write what it reads."""


@dataclass(frozen=True)
class Touch:
    """Memory that an operation reads or writes; `root` is no view."""

    root: ir.Value
    written: bool


def is_quiet(op: ir.Operation) -> bool:
    """Whether an operation neither reads nor writes memory: it makes or views a buffer, or computes with numbers."""
    return op.name in ("memref.alloc", "memref.alloca", *VIEWS) or op.name.startswith(ARITHMETIC)


def touches(op: ir.Operation) -> list[Touch]:
    """The memory that an operation reads or writes, with all ops of its regions."""
    return [
        Touch(root_of(value), writes(each, number))
        for each in (op, *find(op, lambda _: True))
        if not is_quiet(each)
        for number, value in enumerate(each.operands)
        if isinstance(value.type, ir.MemRefType)
    ]


def may_swap(first: Sequence[Touch], second: Sequence[Touch]) -> bool:
    """Whether two operations may change places: neither writes what the other one touches."""
    return not any(
        (one.written or other.written) and may_alias(one.root, other.root)
        for one in first
        for other in second
    )


def between(first: ir.Operation, last: ir.Operation) -> list[ir.Operation] | None:
    """The operations of a block behind the first one and in front of the last one; None where `last` comes first."""
    found: list[ir.Operation] | None = None
    for each in first.block.operations:
        if each.operation == last:
            return found
        if found is not None:
            found.append(each.operation)
        elif each.operation == first:
            found = []
    return None


def may_move_to(op: ir.Operation, later: ir.Operation) -> bool:
    """Whether an operation whose result only `later` reads may be computed there."""
    mine, passed = touches(op), between(op, later)
    return passed is not None and all(may_swap(mine, touches(each)) for each in passed)


def only_user(buffer: ir.Value, known: tuple[ir.Operation, int]) -> tuple[ir.Operation, int] | None:
    """The one use of a buffer, an operation and the number of its operand, beside the known one; None where it has
    several, or stands in another block."""
    found = [user for user in users(buffer) if user != known]
    return found[0] if len(found) == 1 and found[0][0].block == known[0].block else None


class Order:
    """Where the operations of blocks stand, as long as none is added or moved."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._blocks: dict[int, list[ir.Operation]] = {}

    def place(self, op: ir.Operation) -> int:
        """Its number in its block."""
        if identity(op) not in self._places:
            self._look(op.block)
        return self._places[identity(op)]

    def between(self, first: ir.Operation, second: ir.Operation) -> list[ir.Operation]:
        """The operations behind one and in front of another one of the same block."""
        begin, end = self.place(first), self.place(second)
        return self._blocks[identity(first)][begin + 1 : end]

    def _look(self, block: ir.Block) -> None:
        operations = [each.operation for each in block.operations]
        for number, op in enumerate(operations):
            self._places[identity(op)], self._blocks[identity(op)] = number, operations


def may_wait(first: ir.Operation, second: ir.Operation, order: Order) -> bool:
    """Whether the first of two operations on tensors may run where the second one stands.

    Nothing on the way needs its results, or is bufferized into a tensor that it reads.
    """
    end = order.place(second)
    for result in first.results:
        for use in result.uses:
            user = ancestor_in(use.owner.operation, first.block)
            if user is None or (order.place(user) <= end and user != second):
                return False
    read = [v for v in first.operands if not is_made_for_one(v)]
    for op in order.between(first, second):
        if op.name not in TENSORS and not op.name.startswith(ARITHMETIC):
            return False
        if op.name == "linalg.generic" and any(v in read for v in list(op.operands)[-outputs_of(op) :]):
            return False
    return not any(v in read for v in list(second.operands)[-outputs_of(second) :])


def is_made_for_one(value: ir.Value) -> bool:
    """Whether a tensor is empty or filled with a scalar: every operation gets one of its own in the end."""
    op = defining(value)
    return op is not None and (op.name == "tensor.empty" or is_fill(op))
