"""Collectives in the reverse sweep. Their adjoints are collectives of the same work-items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

from pykern.dialect.collectives import (
    COLLECTIVES,
    SubgroupExclusiveScanOp,
    SubgroupReduceOp,
    SubgroupScanOp,
)
from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import LaneIdOp
from pykern.errors import NotDifferentiable
from pykern.passes.autodiff.kernel import lanes
from pykern.passes.autodiff.rules.gates import Flow, both
from pykern.passes.ir.constants import constant

_REDUCTIONS = ("kern.subgroup_reduce", "kern.group_reduce")
_SCANS = {"kern.subgroup_scan": False, "kern.subgroup_exclusive_scan": True}
"""Scans, and whether they leave out the lane itself."""

if TYPE_CHECKING:
    from pykern.passes.autodiff.kernel.sweep import Sweep


def reverse_collective(sweep: Sweep, op: ir.Operation) -> bool:
    """Reverse a subgroup or group operation; False for any other op."""
    if op.name not in COLLECTIVES:
        return False
    flow = sweep.adjoints.pop(op.results[0], None)
    if flow is not None and sweep.activity.varied(op.operands[0]):
        found = _flowing(sweep, op, flow.settled(), flow.gate)
        found = found if isinstance(found, Flow) else Flow(found)
        if flow.gate is not None:
            found = Flow(found.value, both(found.gate, _open(sweep, op, flow)), factored=True)
        sweep.add(op.operands[0], found)
    return True


def _open(sweep: Sweep, op: ir.Operation, flow: Flow) -> ir.Value | None:
    """Whether any cotangent reaches this work-item: send a one from each work-item whose gate is open, and test the
    sum."""
    kind = flow.value.type
    ones = arith.SelectOp(flow.gate, constant(kind, 1.0), constant(kind, 0.0)).result
    if op.name in _REDUCTIONS:
        total = type(op.opview).create("add", ones)
    elif op.name in _SCANS and ir.StringAttr(op.attributes["kind"]).value in ("add", "mul"):
        total = _behind(op, ones)
    else:
        total = _flowing(sweep, op, ones, None)
    assert isinstance(total, ir.Value)
    return arith.CmpFOp(arith.CmpFPredicate.OGT, total, constant(kind, 0.0)).result


def collective_tangent(op: ir.Operation, values: dict[ir.Value, ir.Value], tangent: ir.Value) -> ir.Value:
    """The tangent of a collective's result; `values` are those of the copy."""
    kind = ir.StringAttr(op.attributes["kind"]).value if "kind" in op.attributes else "add"
    create = type(op.opview).create
    if "kind" not in op.attributes:
        return create(tangent, values[op.operands[1]])
    if kind == "add":
        return create("add", tangent)
    if op.name in _REDUCTIONS and kind in ("min", "max"):
        wins, zero, count = _winners(op, values[op.operands[0]], values[op.results[0]])
        return arith.DivFOp(create("add", arith.SelectOp(wins, tangent, zero).result), count).result
    value, scanned = values[op.operands[0]], values[op.results[0]]
    if op.name in _REDUCTIONS and kind == "mul":
        return create("add", arith.MulFOp(lanes.product_factor(create, value), tangent).result)
    if op.name in _SCANS and kind == "mul":
        return lanes.product_scan_tangent(value, tangent, _SCANS[op.name])
    if op.name in _SCANS and kind in ("min", "max"):
        return lanes.extreme_scan_tangent(value, scanned, tangent, _SCANS[op.name])
    raise _refused(op, kind)


def _behind(op: ir.Operation, value: ir.Value) -> ir.Value:
    """The sum over the lanes whose scan includes this lane: those behind it, and the lane itself for an inclusive
    scan."""
    other = SubgroupScanOp if _SCANS[op.name] else SubgroupExclusiveScanOp
    return arith.SubFOp(SubgroupReduceOp.create("add", value), other.create("add", value)).result


def _flowing(sweep: Sweep, op: ir.Operation, adjoint: ir.Value, gate: ir.Value | None) -> Flow | ir.Value:
    kind = ir.StringAttr(op.attributes["kind"]).value if "kind" in op.attributes else ""
    primal = sweep.primals.primal
    if op.name in _REDUCTIONS and kind in ("add", "mul", "min", "max"):
        reduce = type(op.opview).create
        total = reduce("add", adjoint)
        if kind == "mul":
            return arith.MulFOp(lanes.product_factor(reduce, primal(op.operands[0])), total).result
        return total if kind == "add" else _to_winners(sweep, op, total)
    if op.name in _SCANS and kind == "add":
        return _behind(op, adjoint)
    if op.name == "kern.subgroup_broadcast":
        total = SubgroupReduceOp.create("add", adjoint)
        chosen = arith.CmpIOp(arith.CmpIPredicate.eq, LaneIdOp.create(), primal(op.operands[1])).result
        return arith.SelectOp(chosen, total, constant(adjoint.type, 0.0)).result
    if op.name == "kern.subgroup_shuffle":
        return lanes.shuffle_adjoint(primal(op.operands[1]), adjoint)
    if op.name in _SCANS and kind == "mul":
        return lanes.product_scan_adjoint(primal(op.operands[0]), adjoint, gate, _SCANS[op.name])
    if op.name in _SCANS and kind in ("min", "max"):
        value, scanned = primal(op.operands[0]), primal(op.results[0])
        return lanes.extreme_scan_adjoint(value, scanned, adjoint, _SCANS[op.name])
    raise _refused(op, kind)


def _refused(op: ir.Operation, kind: str) -> NotDifferentiable:
    return NotDifferentiable(
        f"`{op.name.removeprefix('kern.')}`{f' of kind {kind}' if kind else ''} has no rule of differentiation",
        span_of(op.location),
        "use a reduction of kind add, min or max, or shared memory",
    )


def _to_winners(sweep: Sweep, op: ir.Operation, total: ir.Value) -> Flow:
    """The work-item that holds the extreme value gets the derivative; if there are several, each gets an equal part."""
    wins, zero, count = _winners(
        op, sweep.primals.primal(op.operands[0]), sweep.primals.primal(op.results[0])
    )
    return Flow(arith.SelectOp(wins, arith.DivFOp(total, count).result, zero).result, wins)


def _winners(op: ir.Operation, value: ir.Value, extreme: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Whether this work-item holds the extreme value, a zero, and the number of work-items that hold it."""
    wins = arith.CmpFOp(arith.CmpFPredicate.OEQ, value, extreme).result
    zero, one = constant(value.type, 0.0), constant(value.type, 1.0)
    return wins, zero, type(op.opview).create("add", arith.SelectOp(wins, one, zero).result)
