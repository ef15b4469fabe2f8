"""Where a work-item stands: ids, sizes and counts, one dimension each."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.attribute_forms import small_integer
from pykern.dialect.attributes import MAX_DIMENSIONS
from pykern.dialect.base import KernOp, i64_attr, kern_op
from pykern.dialect.kernels import check_dimension

_DIMENSION = """
    %index = irdl.is index
    %dim = irdl.any
    irdl.results(id: %index)
    irdl.attributes { "dim" = %dim }
"""
_SCALAR = """
    %index = irdl.is index
    irdl.results(id: %index)
"""


class DimensionOp(KernOp):
    """Base of the ops that read one dimension of the index space."""

    IRDL = _DIMENSION

    @classmethod
    def create(cls, dim: int) -> ir.Value:
        return cls.build(results=[ir.IndexType.get()], dim=i64_attr(dim)).result

    @property
    def dim(self) -> int:
        return ir.IntegerAttr(self.attributes["dim"]).value

    def check(self) -> None:
        dim = small_integer(self.attributes["dim"])
        if dim is None or not 0 <= dim < MAX_DIMENSIONS:
            raise self.refuse(f"needs `dim` as an integer in 0..{MAX_DIMENSIONS - 1}")
        if dim:  # every kernel has the first
            check_dimension(self.operation, dim)


class SubgroupScalarOp(KernOp):
    """Base of the ops that place a work-item in its subgroup."""

    IRDL = _SCALAR

    @classmethod
    def create(cls) -> ir.Value:
        return cls.build(results=[ir.IndexType.get()]).result


@kern_op
class GlobalIdOp(DimensionOp):
    """Coordinate of the work-item in the ndrange; a range's start and step are in it.

    ``%i = "kern.global_id"() {dim = 0} : () -> index``
    """

    OPERATION_NAME = "kern.global_id"


@kern_op
class LocalIdOp(DimensionOp):
    """Coordinate of the work-item in its workgroup.

    ``%i = "kern.local_id"() {dim = 0} : () -> index``
    """

    OPERATION_NAME = "kern.local_id"


@kern_op
class GroupIdOp(DimensionOp):
    """Coordinate of the workgroup.

    ``%g = "kern.group_id"() {dim = 0} : () -> index``
    """

    OPERATION_NAME = "kern.group_id"


@kern_op
class GroupSizeOp(DimensionOp):
    """Size of a full workgroup in a dimension.

    ``%n = "kern.group_size"() {dim = 0} : () -> index``
    """

    OPERATION_NAME = "kern.group_size"


@kern_op
class NumGroupsOp(DimensionOp):
    """Number of workgroups in a dimension, a partial last one included.

    ``%n = "kern.num_groups"() {dim = 0} : () -> index``
    """

    OPERATION_NAME = "kern.num_groups"


@kern_op
class NdrangeOp(DimensionOp):
    """Number of work-items in a dimension.

    ``%n = "kern.ndrange"() {dim = 0} : () -> index``
    """

    OPERATION_NAME = "kern.ndrange"


@kern_op
class SubgroupSizeOp(SubgroupScalarOp):
    """Work-items in a full subgroup.

    ``%n = "kern.subgroup_size"() : () -> index``
    """

    OPERATION_NAME = "kern.subgroup_size"


@kern_op
class SubgroupIdOp(SubgroupScalarOp):
    """Number of the subgroup in its workgroup; work-items are dealt in row-major order.

    ``%s = "kern.subgroup_id"() : () -> index``
    """

    OPERATION_NAME = "kern.subgroup_id"


@kern_op
class LaneIdOp(SubgroupScalarOp):
    """Place of the work-item in its subgroup.

    ``%l = "kern.lane_id"() : () -> index``
    """

    OPERATION_NAME = "kern.lane_id"


@kern_op
class LocalLinearIdOp(SubgroupScalarOp):
    """Row-major number of the work-item in its full workgroup.

    ``%n = "kern.local_linear_id"() : () -> index``
    """

    OPERATION_NAME = "kern.local_linear_id"
