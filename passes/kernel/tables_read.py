"""Numbers that a kernel reads from tables: integers of arrays that it does not write, at the same place for many
work-items.

Comes in: a loop over work-items. Goes out: such loads, in front of the loop. Read next: `wrapped_offsets`,
`loops_around_items`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.ir.memory import has_one_name
from pykern.passes.ir.values import defining, is_argument, is_inside
from pykern.passes.kernels import MEMORY_OPERAND, function_around

_SUMS = ("arith.addi", "arith.subi", "arith.index_cast", "arith.extsi", "arith.extui")


def is_table_read(op: ir.Operation) -> bool:
    """Whether an op loads an integer from an array that nothing in the kernel writes."""
    if op.name != "memref.load" or not isinstance(op.results[0].type, ir.IntegerType | ir.IndexType):
        return False
    array = op.operands[0]
    if (
        not is_argument(array)
        or kern.NOALIAS not in function_around(op).attributes
        or not has_one_name(array)
    ):
        return False
    users = [use.owner.operation for use in array.uses]
    return all(user.name in ("memref.load", "memref.dim") for user in users)


def hoist_reads(value: ir.Value, loop: ir.Operation) -> None:
    """Move reads of tables, of which a value is a sum, in front of a loop that runs at least once: those at the top of
    its body, at places that are the same in all iterations."""
    op = defining(value)
    if op is None or not is_inside(value, loop):
        return
    if is_table_read(op) and op.parent is not None and op.parent.operation == loop:
        if all(hoist(index, loop) for index in list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]):
            op.move_before(loop)
    elif op.name in _SUMS:
        for operand in op.operands:
            hoist_reads(operand, loop)
