"""Which work-items of a group are neighbours in a subgroup: those that access neighbouring elements.

Comes in: a kernel whose work-items have ids. Goes out: the dimensions of its index space in the order in which a group
numbers its work-items, the slowest first. In `x, y = pk.index()` with `out[y * width + x]`, as in CUDA C++, neighbours
in x lie side by side, and the device numbers along x.

Why: a subgroup's access to one line of memory is one request; the other way round each lane has a line of its own.
"""

from __future__ import annotations

from collections import Counter

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.dialect.collectives import CONVERGENT
from pykern.lowering.gpu.grid import Grid
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import SQUARE_SIDE
from pykern.passes.analysis.strides import stride
from pykern.passes.ir.index_arithmetic import row_major
from pykern.passes.ir.memory import root_of
from pykern.passes.ir.values import made_by, parent_of
from pykern.passes.kernel.loop_order import goes_along
from pykern.passes.kernels import BUFFERS, GROUP_OPS, MEMORY_OPERAND, find, index_constant, named

_ORDERED = (CONVERGENT - {"kern.barrier"}) | {
    "kern.local_linear_id", "kern.lane_id", "kern.subgroup_id", "kern.push", "kern.pop",
    "kern.load_fragments", "kern.store_fragments", "kern.multiply_fragments",
}  # fmt: skip
"""Ops that see in which order a group's work-items are numbered, and tapes, whose slots are numbered so."""
_COUNTERS = ("kern.global_id", "kern.local_id")


def item_order(kernel: ir.Operation) -> list[int]:
    """The dimensions, the slowest first: the last one and that along which most goes have changed places.

    It is that of the index space where the kernel sees the numbers, or where as much goes along its last dimension.
    """
    rank = kernels.rank(kernel)
    order, last = list(range(rank)), rank - 1
    if rank == 1 or kern.SEQUENTIAL in kernel.attributes or kern.TAPE in kernel.attributes:
        return order
    if find(kernel, lambda op: op.name in _ORDERED):
        return order
    found = [_accesses_along(kernel, dim) for dim in order]
    depths = sorted({depth for along in found for depth in along}, reverse=True)
    most = max(order, key=lambda dim: ([found[dim][depth] for depth in depths], dim))
    counts, group = kernels.integers(kernel, kern.NDRANGE), kernels.integers(kernel, kern.WORKGROUP)
    if (counts is None or counts[most] >= SQUARE_SIDE) and (group is None or group[most] > 1):
        order[most], order[last] = last, most
    return order


def open_group(kernel: ir.Operation, order: list[int], usual: tuple[int, ...]) -> tuple[int, ...]:
    """The group of a launch that leaves it open: a square where dimensions have changed places and the kernel knows no
    groups, so that its work-items are numbered for nothing; else the usual one."""
    (fast, last), rank = (order[-1], len(order) - 1), len(order)
    if fast == last or find(kernel, lambda op: op.name in GROUP_OPS):
        return usual
    return tuple(SQUARE_SIDE if dim in (fast, last) else 1 for dim in range(rank))


def numbered(grid: Grid, order: list[int], local: list[ir.Value]) -> list[ir.Value]:
    """The places in a group, one a dimension, of work-items that the device has numbered by `local` in the order of
    the index space."""
    fast, last = order[-1], grid.rank - 1
    if grid.size[fast] == grid.size[last]:
        return [local[dim] for dim in order]  # the two have changed places
    rest, placed = row_major(grid.size, local), list(local)
    for dim in reversed(order):
        size = index_constant(grid.size[dim])
        placed[dim] = rest if dim == order[0] else arith.RemUIOp(rest, size).result
        rest = arith.DivUIOp(rest, size).result if dim != order[0] else rest
        placed[dim].owner.operation.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([0, grid.size[dim] - 1])
    return placed


def _accesses_along(kernel: ir.Operation, dim: int) -> Counter[int]:
    """How many accesses to arrays go along a dimension, by the number of loops around them."""
    known: dict[ir.Value, int | None] = {
        op.results[0]: 1 for op in named(kernel, *_COUNTERS) if op.opview.dim == dim
    }
    if not known:
        return Counter()
    counter = next(iter(known))
    for loop in sorted(named(kernel, "scf.for"), key=lambda loop: _depth(loop, kernel)):
        known[loop.regions[0].blocks[0].arguments[0]] = stride(loop.operands[0], counter, known)
    found: Counter[int] = Counter()
    for op in named(kernel, *MEMORY_OPERAND):
        memory, *indices = list(op.operands)[MEMORY_OPERAND[op.name] :]
        if made_by(root_of(memory), *BUFFERS, "memref.alloca") is None:
            found[_depth(op, kernel)] += goes_along([stride(i, counter, known) for i in indices])
    return found


def _depth(op: ir.Operation, kernel: ir.Operation) -> int:
    """The number of loops around an operation."""
    depth = 0
    while (op := parent_of(op)) != kernel:
        depth += op.name in ("scf.for", "scf.while")
    return depth
