"""Whether the iterations of a loop are independent: each writes cells of its own.

Comes in: a loop over memrefs. Who asks: passes that take iterations for work-items, or run some of them side by side.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.index_arithmetic import affine_of, counted_from
from pykern.passes.ir.memory import has_one_name
from pykern.passes.ir.values import is_argument, is_inside
from pykern.passes.kernels import MEMORY_OPERAND, find

UNDERSTOOD = (
    "arith.",
    "math.",
    "memref.dim",
    "memref.load",
    "memref.store",
    "scf.for",
    "scf.if",
    "scf.yield",
)
"""Beginnings of names of ops whose effects are known."""


def is_independent(loop: ir.Operation) -> bool:
    """Whether an iteration reads and writes, of what the loop writes, cells that no other one touches."""
    accesses = find(loop, lambda op: op.name in MEMORY_OPERAND)
    written = dict.fromkeys(op.operands[1] for op in accesses if op.name == "memref.store")
    return all(
        is_argument(memory) and has_one_name(memory) and _has_own_cells(loop, accesses, memory)
        for memory in written
    )


def indices_of(op: ir.Operation) -> list[ir.Value]:
    """The indices of an access."""
    return list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]


def _has_own_cells(loop: ir.Operation, accesses: list[ir.Operation], memory: ir.Value) -> bool:
    """Whether one index is the same sum of the loop's variable and what does not change in all accesses; reads of
    other rows than are written (`o[k - 1, i]` beside `o[k, j]`) do not count."""
    here = [op for op in accesses if op.operands[MEMORY_OPERAND[op.name]] == memory]
    written = [indices_of(op) for op in here if op.name != "memref.load"]
    rows = written + [
        indices_of(op)
        for op in here
        if op.name == "memref.load" and not all(is_apart(loop, indices_of(op), other) for other in written)
    ]
    for column in zip(*rows, strict=True):
        forms = [affine_of(index, loop) for index in dict.fromkeys(column)]
        if forms[0] is not None and forms[0].coefficient and all(form == forms[0] for form in forms):
            return True
    return False


def is_apart(loop: ir.Operation, first: list[ir.Value], second: list[ir.Value]) -> bool:
    """Whether an index of one is another one than that of the other, whichever iterations they are of."""
    for one, other in zip(first, second, strict=True):
        (a, by), (b, less) = counted_from(one), counted_from(other)
        if by == less or (a is None) != (b is None):
            continue
        if a is None or b is None or (a == b and not is_inside(a, loop)):
            return True
    return False
