"""How many words a work-item pushes: as a number, or what decides it.

Comes in: a kernel with `kern.push`. Goes out: an upper bound where all loops around pushes have constant
lengths; and whether loops and branches around pushes follow from the launch's words alone.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect.index_space import NdrangeOp
from pykern.passes import kernels
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import is_constant, named

PUSH = "kern.push"
_IDS = ("kern.global_id", "kern.local_id", "kern.group_id", "kern.group_size", "kern.num_groups",
        "kern.local_linear_id", "kern.subgroup_size", "kern.subgroup_id", "kern.lane_id",
        NdrangeOp.OPERATION_NAME)  # fmt: skip


def known_words(kernel: ir.Operation) -> int | None:
    """The most words that a work-item has on its tape; None where that depends on values."""
    return _in_block(kernels.body(kernel))


def _in_block(block: ir.Block) -> int | None:
    total = 0
    for op in (o.operation for o in block.operations):
        words = _in_op(op)
        if words is None:
            return None
        total += words
    return total


def _in_op(op: ir.Operation) -> int | None:
    if op.name == PUSH:
        return 1
    if not op.regions or not named(op, PUSH):
        return 0
    inner = [_in_block(block) for region in op.regions for block in region.blocks]
    sizes = [words for words in inner if words is not None]
    if len(sizes) < len(inner):
        return None
    if op.name == "scf.if":
        return max(sizes)
    bounds = [is_constant(v) for v in list(op.operands)[:3]] if op.name == "scf.for" else [None]
    numbers = [n for n in bounds if n is not None]
    if len(numbers) < len(bounds):
        return None
    lower, upper, step = numbers
    return max(0, -(-(upper - lower) // step)) * sizes[0]


def told_by_slots(kernel: ir.Operation) -> bool:
    """Whether launches with the same lengths and scalars push the same, whatever is in the arrays."""
    origins = _Origins(kernel)
    for push in named(kernel, PUSH):
        parent = push.parent
        while parent is not None and parent.operation != kernel:
            op = parent.operation
            deciding = {"scf.for": 3, "scf.if": 1}.get(op.name)
            if deciding is None or not all(map(origins.told, list(op.operands)[:deciding])):
                return False
            parent = op.parent
    return True


class _Origins:
    """Which values are made of scalars, lengths, ids and counters of such loops alone."""

    def __init__(self, kernel: ir.Operation) -> None:
        self.kernel = kernel
        self.found: dict[ir.Value, bool] = {}

    def told(self, value: ir.Value) -> bool:
        if value not in self.found:
            self.found[value] = self._argument(value) if is_argument(value) else self._result(value)
        return self.found[value]

    def _argument(self, value: ir.Value) -> bool:
        holder = value.owner.owner.operation
        if holder == self.kernel:
            return not isinstance(value.type, ir.MemRefType)
        counter = holder.name == "scf.for" and ir.BlockArgument(value).arg_number == 0
        return counter and all(map(self.told, list(holder.operands)[:3]))

    def _result(self, value: ir.Value) -> bool:
        op = value.owner.operation
        if op.name in _IDS:
            return True
        if op.name == "memref.dim":
            return is_argument(op.operands[0]) and self.told(op.operands[1])
        return op.name.startswith("arith.") and not op.regions and all(map(self.told, op.operands))
