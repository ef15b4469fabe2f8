"""The attributes of a kernel agree with one another, and with what its body asks for.

Comes in: a function marked `kern.kernel` whose attributes have their forms (`attributes`). Goes out: nothing, or a
`VerifyError` at the function's place. Read next: `index_space` (what reads the dimensions of a kernel).
"""

from __future__ import annotations

import math

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import VerifyError

MAX_ITEMS = 2**63 - 1
"""Work-items of a launch, and of a group: an index numbers them."""


def check_kernel(function: ir.Operation) -> None:
    """Raises `VerifyError` where two attributes contradict each other."""
    rank = _integer(function, kern.RANK)
    for name in (kern.NDRANGE, kern.WORKGROUP):
        lengths = _lengths(function, name)
        if lengths is None:
            continue
        if rank is not None and len(lengths) != rank:
            raise _refused(function, f"`{name}` has {len(lengths)} lengths, and `kern.rank` is {rank}")
        if math.prod(lengths) > MAX_ITEMS:
            raise _refused(function, f"`{name}` has {math.prod(lengths)} work-items, more than {MAX_ITEMS}")


def check_dimension(op: ir.Operation, dim: int) -> None:
    """Raises `VerifyError` where `op` asks for a dimension that the kernel around it does not have."""
    parent = op.parent
    while parent is not None:
        if kern.KERNEL in parent.operation.attributes:
            rank = _integer(parent.operation, kern.RANK)
            if rank is not None and dim >= rank:
                what = "1 dimension" if rank == 1 else f"{rank} dimensions"
                raise VerifyError(
                    f"`{op.name}` asks for dimension {dim} of a kernel of {what}", span_of(op.location)
                )
            return
        parent = parent.operation.parent


def _integer(function: ir.Operation, name: str) -> int | None:
    return ir.IntegerAttr(function.attributes[name]).value if name in function.attributes else None


def _lengths(function: ir.Operation, name: str) -> tuple[int, ...] | None:
    return tuple(ir.DenseI64ArrayAttr(function.attributes[name])) if name in function.attributes else None


def _refused(function: ir.Operation, reason: str) -> VerifyError:
    return VerifyError(
        f"attributes of a kernel that contradict each other: {reason}", span_of(function.location)
    )
