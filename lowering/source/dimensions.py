"""Which dimension of the index space a loop runs over.

Comes in: a loop over work-items. Goes out: its dimension, as loops have it that are made of it (`kern.dimension`).
"""

from __future__ import annotations

from mlir import ir

from pykern.passes import kernels
from pykern.passes.ir.values import parent_of


def dimension_of(loop: ir.Operation) -> ir.Attribute:
    """The dimension of the index space that a loop over work-items runs over."""
    around, number = parent_of(loop), 0
    while around.name == "scf.for":
        around, number = parent_of(around), number + 1
    dimension = kernels.dimension_of(kernels.function_around(loop), number)
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
