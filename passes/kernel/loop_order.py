"""Which dimension of an index space becomes the innermost loop: the one along which arrays lie in memory.

Comes in: a kernel on the kern stage. Goes out: its dimensions, the outermost loop's first. In `x, y = pk.index()` with
`out[y, x]` or `out[y * width + x]`, as in CUDA C++, neighbours in x lie side by side, and x is the innermost loop.

Why: the other way round each access goes to another line of the cache, and vectors are gathered.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import NdrangeOp
from pykern.passes import kernels
from pykern.passes.analysis.strides import stride
from pykern.passes.kernels import MEMORY_OPERAND, find, named

_WITHOUT_ORDER = (
    "kern.global_id", NdrangeOp.OPERATION_NAME, "kern.private", "memref.", "scf.", "arith.", "math.", "func.return",
)  # fmt: skip
"""Beginnings of names of ops whose order among work-items nobody sees. Atomics show it, and so do reports."""


def order_in_memory(kernel: ir.Operation) -> list[int]:
    """The dimensions of a kernel that knows no groups, from the outermost loop to the innermost.

    It is that of the index space where something goes along its last dimension, or where an order can be seen.
    """
    rank = kernels.rank(kernel)
    dims = list(range(rank))
    if (
        rank == 1
        or kern.SEQUENTIAL in kernel.attributes
        or find(kernel, lambda op: not _is_without_order(op))
    ):
        return dims
    accesses = [
        list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]
        for op in find(kernel, lambda op: op.name in MEMORY_OPERAND)
    ]
    counters: dict[int, ir.Value] = {op.opview.dim: op.results[0] for op in named(kernel, "kern.global_id")}
    along = [0] * rank
    for dim, counter in counters.items():
        known: dict[ir.Value, int | None] = {counter: 1}
        along[dim] = sum(goes_along([stride(i, counter, known) for i in indices]) for indices in accesses)
    best = max(dims, key=lambda dim: (along[dim], dim))
    if along[-1] or not along[best]:
        return dims
    return dims[::-1] if best == 0 else [*(dim for dim in dims if dim != best), best]


def _is_without_order(op: ir.Operation) -> bool:
    return op.name.startswith(_WITHOUT_ORDER)


def goes_along(strides: list[int | None]) -> bool:
    """Whether neighbours in a dimension access neighbouring elements, by the strides of an access's indices."""
    return strides[-1:] == [1] and not any(row != 0 for row in strides[:-1])
