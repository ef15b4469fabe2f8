"""Which numbers of a launch a kernel's arguments are: lengths and strides of arrays, scalars, counts of work-items.

Comes in: a kernel at the work-item level, without shared memory that the launch sizes. Goes out: numbers of slots, as
`pykern.data.abi` counts them: an array has its address, its lengths and, where it is strided, its strides; a scalar
has one; then come the counts of a plain launch. Read next: `short_numbers`, `substitute_known`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes import kernels


def first_slots(kernel: ir.Operation) -> list[int]:
    """The first slot of each argument, and behind them that of the index space."""
    found = [0]
    for argument in kernels.body(kernel).arguments:
        found.append(found[-1] + _slots_of(argument.type))
    return found


def _slots_of(kind: ir.Type) -> int:
    if not isinstance(kind, ir.MemRefType):
        return 1
    memory = ir.MemRefType(kind)
    return 1 + memory.rank * (2 if is_strided(memory) else 1)


def is_strided(kind: ir.MemRefType) -> bool:
    """Whether the launch gives strides of such an array."""
    return kind.rank > 0 and not isinstance(kind.layout, ir.AffineMapAttr)


def known_numbers(kernel: ir.Operation) -> dict[int, int]:
    """What slots are known to hold."""
    pairs = kernels.integers(kernel, kern.KNOWN) or ()
    return dict(zip(pairs[::2], pairs[1::2], strict=True))
