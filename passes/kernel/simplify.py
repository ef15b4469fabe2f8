"""What upstream's canonicalization leaves of the kern dialect: it does not know that ids have no effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import DimensionOp, GlobalIdOp, NdrangeOp, SubgroupScalarOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.values import has_uses, made_by
from pykern.passes.kernels import BUFFERS, find, identity, index_constant, is_constant, named, replace


@dataclass(frozen=True)
class Simplify(Pass):
    """Common subexpressions, constants and dead code of kern ops.

    In:  a kernel at the work-item level.
    Out: each id once, at the top; the number of a work-item in its group plus that of the group times its size, as CUDA
         C++ computes it, is `kern.global_id`, where the launch begins at 0 in steps of 1; `kern.ndrange` of a static
         launch and `kern.group_size` of a static workgroup are constants; ids and buffers nobody uses are gone; of two
         barriers with nothing between them one is left.
    """

    name: ClassVar[str] = "kern-simplify"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            _add_up_ids(kernel)
            _fold_static(kernel)
            _unite_ids(kernel)
            for op in named(kernel, *BUFFERS):
                if next(iter(op.result.uses), None) is None:
                    op.erase()
            _drop_repeated_barriers(kernel)


def _add_up_ids(kernel: ir.Operation) -> None:
    if kern.PLAIN not in kernel.attributes:
        return
    sizes = kernels.integers(kernel, kern.WORKGROUP)
    for local in named(kernel, "kern.local_id"):
        dim = local.opview.dim
        for op in [use.owner.operation for use in local.result.uses]:
            others = [operand for operand in op.operands if operand != local.result]
            if op.name == "arith.addi" and len(others) == 1 and _begins_group(others[0], dim, sizes):
                with ir.InsertionPoint(op), op.location:
                    replace(op, [GlobalIdOp.create(dim)])
                if not has_uses(others[0]):
                    others[0].owner.operation.erase()


def _begins_group(value: ir.Value, dim: int, sizes: tuple[int, ...] | None) -> bool:
    """Whether a value is the number of the group times its size."""
    product = made_by(value, "arith.muli")
    for number, size in () if product is None else (tuple(product.operands), tuple(product.operands)[::-1]):
        group, length = made_by(number, "kern.group_id"), made_by(size, "kern.group_size")
        if group is None or group.opview.dim != dim:
            continue
        if length is not None and length.opview.dim == dim:
            return True
        if sizes is not None and is_constant(size) == sizes[dim]:
            return True
    return False


def _fold_static(kernel: ir.Operation) -> None:
    tables = {NdrangeOp.OPERATION_NAME: kern.NDRANGE, "kern.group_size": kern.WORKGROUP}
    for op in named(kernel, *tables):
        known = kernels.integers(kernel, tables[op.name])
        if known is not None:
            with ir.InsertionPoint(op), op.location:
                value = index_constant(known[op.opview.dim])
            replace(op, [value])


def _unite_ids(kernel: ir.Operation) -> None:
    """The first op of each kind moves to the top and serves all; an unused one goes."""
    top = kernels.body(kernel).operations[0].operation
    first: dict[tuple[str, int], ir.Value] = {}
    for op in find(kernel, lambda op: isinstance(op.opview, DimensionOp | SubgroupScalarOp)):
        if next(iter(op.result.uses), None) is None:
            if identity(op) == identity(top):
                top = kernels.body(kernel).operations[1].operation
            op.erase()
            continue
        key = (op.name, op.opview.dim if isinstance(op.opview, DimensionOp) else 0)
        if key in first:
            replace(op, [first[key]])
        else:
            first[key] = op.result
            if identity(op) != identity(top):
                op.move_before(top)


def _drop_repeated_barriers(kernel: ir.Operation) -> None:
    for op in named(kernel, "kern.barrier"):
        operations = [o.operation for o in op.block.operations]
        position = next(i for i, o in enumerate(operations) if identity(o) == identity(op))
        if position and operations[position - 1].name == "kern.barrier":
            op.erase()
