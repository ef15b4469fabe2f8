"""Loads of offsets from tables: integers of arrays that the kernel does not write, at an index that is loop-invariant.

Comes in: a loop over work-items. Goes out: these loads, hoisted in front of the loop. Read next: `wrapped_offsets`,
`loops_around_items`, `split_edges`, `unroll_index_loops`.
"""

from __future__ import annotations

import functools

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes.ir.constants import constant
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.ir.memory import has_one_name
from pykern.passes.ir.values import arguments_behind, defining, is_argument, is_inside
from pykern.passes.kernels import MEMORY_OPERAND, find, function_around, index_constant

COMPARED = ("arith.remsi", "arith.cmpi", "arith.maxsi", "arith.minsi")
"""Where an offset keeps an index from being a sum: it wraps around, is tested or clamped."""
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


def added_tables(root: ir.Operation, items: ir.Operation) -> list[ir.Operation]:
    """The loads from tables within `root` that are invariant in the loop `items` and are added to its variable, where
    the sum is compared, clamped or goes through a modulo."""
    variable = items.opview.induction_variable
    tables = [op for op in find(root, is_table_read) if variable not in arguments_behind(op.results[0])]
    if not tables:
        return []
    found: set[ir.Value] = set()
    for op in find(root, lambda op: op.name in COMPARED):
        for operand in op.operands:
            behind = _sum_of(operand)
            if variable in behind:
                found |= behind
    return [op for op in tables if op.results[0] in found]


def _sum_of(value: ir.Value) -> set[ir.Value]:
    """All values behind one through integer arithmetic, and itself."""
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            op = defining(one)
            if op is not None and op.name.startswith("arith."):
                waiting.extend(op.operands)
    return seen


def hoist_added(loop: ir.Operation) -> None:
    """Move such reads in front of a loop over work-items, which may be empty: beyond a table nothing is read there."""
    for op in added_tables(loop, loop):
        array, *indices = op.operands
        if not all(hoist(index, loop) for index in indices):
            continue
        if not indices:  # one number, which is always there
            op.move_before(loop)
            continue
        with ir.InsertionPoint(loop), op.location:
            tests = []
            for axis, index in enumerate(indices):
                length = memref.DimOp(array, index_constant(axis)).result
                tests.append(arith.CmpIOp(arith.CmpIPredicate.ult, index, length).result)
            holds = functools.reduce(lambda a, b: arith.AndIOp(a, b).result, tests)
            branch = scf.IfOp(holds, [op.results[0].type], has_else=True)
            with ir.InsertionPoint(branch.then_block):
                end = scf.YieldOp([op.results[0]]).operation
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp([constant(op.results[0].type, 0)])
        op.results[0].replace_all_uses_with(branch.results[0])
        end.operands[0] = op.results[0]
        op.move_before(end)


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
