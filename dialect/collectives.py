"""Operations that the work-items of a subgroup or a workgroup do together."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.base import KernOp, is_number, kern_op

REDUCTIONS = ("add", "mul", "min", "max", "umin", "umax", "and", "or", "xor")

_REDUCE = """
    %type = irdl.any
    %kind = irdl.base "#builtin.string"
    irdl.operands(value: %type)
    irdl.results(out: %type)
    irdl.attributes { "kind" = %kind }
"""
_LANE = """
    %type = irdl.any
    %index = irdl.is index
    irdl.operands(value: %type, lane: %index)
    irdl.results(out: %type)
"""


class ReductionOp(KernOp):
    """Base of the ops that combine one value per work-item with `kind`."""

    IRDL = _REDUCE

    @classmethod
    def create(cls, kind: str, value: ir.Value) -> ir.Value:
        return cls.build([value], [value.type], kind=ir.StringAttr.get(kind)).result

    @property
    def kind(self) -> str:
        return ir.StringAttr(self.attributes["kind"]).value

    def check(self) -> None:
        if not is_number(self.result.type):
            raise self.refuse(f"combines numbers, not {self.result.type}")
        if self.kind not in REDUCTIONS:
            raise self.refuse(f"has no kind `{self.kind}`: {', '.join(REDUCTIONS)}")
        if not isinstance(self.result.type, ir.IntegerType | ir.IndexType) and self.kind in (
            "and",
            "or",
            "xor",
        ):
            raise self.refuse(f"cannot combine {self.result.type} with `{self.kind}`")


class LaneOp(KernOp):
    """Base of the ops that read another lane's value."""

    IRDL = _LANE

    @classmethod
    def create(cls, value: ir.Value, lane: ir.Value) -> ir.Value:
        return cls.build([value, lane], [value.type]).result

    def check(self) -> None:
        if not is_number(self.result.type):
            raise self.refuse(f"reads a number, not {self.result.type}")


@kern_op
class SubgroupReduceOp(ReductionOp):
    """Every work-item of a subgroup gets the reduction of its values.

    ``%s = "kern.subgroup_reduce"(%v) {kind = "add"} : (f32) -> f32``
    """

    OPERATION_NAME = "kern.subgroup_reduce"


@kern_op
class SubgroupScanOp(ReductionOp):
    """Inclusive scan over the lanes of a subgroup.

    ``%s = "kern.subgroup_scan"(%v) {kind = "add"} : (f32) -> f32``
    """

    OPERATION_NAME = "kern.subgroup_scan"


@kern_op
class SubgroupExclusiveScanOp(ReductionOp):
    """Exclusive scan over the lanes of a subgroup; lane 0 gets the neutral element.

    ``%s = "kern.subgroup_exclusive_scan"(%v) {kind = "add"} : (f32) -> f32``
    """

    OPERATION_NAME = "kern.subgroup_exclusive_scan"


@kern_op
class GroupReduceOp(ReductionOp):
    """Every work-item of a workgroup gets the reduction of its values.

    ``%s = "kern.group_reduce"(%v) {kind = "max"} : (f32) -> f32``
    """

    OPERATION_NAME = "kern.group_reduce"


@kern_op
class SubgroupShuffleOp(LaneOp):
    """The value of lane `lane`, which may differ from work-item to work-item.

    ``%o = "kern.subgroup_shuffle"(%v, %lane) : (f32, index) -> f32``
    """

    OPERATION_NAME = "kern.subgroup_shuffle"


@kern_op
class SubgroupBroadcastOp(LaneOp):
    """The value of lane `lane`, the same for the whole subgroup.

    ``%o = "kern.subgroup_broadcast"(%v, %lane) : (f32, index) -> f32``
    """

    OPERATION_NAME = "kern.subgroup_broadcast"


COLLECTIVES = frozenset(
    cls.OPERATION_NAME
    for cls in (
        SubgroupReduceOp, SubgroupScanOp, SubgroupExclusiveScanOp, GroupReduceOp,
        SubgroupShuffleOp, SubgroupBroadcastOp,
    )
)  # fmt: skip
CONVERGENT = COLLECTIVES | {
    "kern.barrier",
    "kern.multiply_matrices",
    "kern.load_matrices",
    "kern.multiply_panels",
    "kern.multiply_words",
}
"""Ops at which the work-items of a group wait for each other."""
