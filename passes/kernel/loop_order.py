"""Which dimension of an index space becomes the innermost loop: the one along which arrays lie in memory.

Comes in: a kernel on the kern stage. Goes out: its dimensions, the outermost loop's first. In `x, y = pk.index()` with
`out[y, x]` or `out[y * width + x]`, as in CUDA C++, neighbours in x lie side by side, and x is the innermost loop.

Why: the other way round each access goes to another line of the cache, and vectors are gathered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.passes import kernels
from pykern.passes.ir.values import defining
from pykern.passes.kernels import MEMORY_OPERAND, find

_WITHOUT_ORDER = (
    "kern.global_id",
    "kern.ndrange",
    "kern.private",
    "memref.",
    "scf.",
    "arith.",
    "math.",
    "func.return",
)
"""Beginnings of names of ops of which nobody sees in which order work-items do them; additions to one cell are none."""


def loop_order(kernel: ir.Operation) -> list[int]:
    """The dimensions of a kernel that knows no groups, from the outermost loop to the innermost.

    It is that of the index space where something goes along its last dimension, or where an order can be seen.
    """
    rank = kernels.rank(kernel)
    dims = list(range(rank))
    if rank == 1 or find(kernel, lambda op: not _is_without_order(op)):
        return dims
    accesses = [
        list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]
        for op in find(kernel, lambda op: op.name in MEMORY_OPERAND)
    ]
    along = [sum(_goes_along(indices, _Strides(dim)) for indices in accesses) for dim in dims]
    best = max(dims, key=lambda dim: (along[dim], dim))
    if along[-1] or not along[best]:
        return dims
    return dims[::-1] if best == 0 else [*(dim for dim in dims if dim != best), best]


def _is_without_order(op: ir.Operation) -> bool:
    return op.name.startswith(_WITHOUT_ORDER)


def _goes_along(indices: list[ir.Value], strides: _Strides) -> bool:
    """Whether neighbours in a dimension access neighbouring elements."""
    if not indices:
        return False
    *rows, last = map(strides.of, indices)
    return last == 1 and not any(row != 0 for row in rows)


@dataclass
class _Strides:
    """By how much index values grow from one work-item of a dimension to the next."""

    dim: int
    known: dict[ir.Value, int | None] = field(default_factory=dict)

    def of(self, value: ir.Value) -> int | None:
        """None where that is not known, or not the same everywhere."""
        if value not in self.known:
            self.known[value] = self._computed(value)
        return self.known[value]

    def _computed(self, value: ir.Value) -> int | None:
        op = defining(value)
        if op is None:
            return 0
        if op.name == "kern.global_id":
            return int(ir.IntegerAttr(op.attributes["dim"]).value == self.dim)
        strides = [self.of(operand) for operand in op.operands]
        if all(stride == 0 for stride in strides):
            return 0
        if None in strides or op.name not in ("arith.index_cast", "arith.addi", "arith.subi"):
            return None
        first, *others = (stride or 0 for stride in strides)
        return first + sum(others) if op.name == "arith.addi" else first - sum(others)
