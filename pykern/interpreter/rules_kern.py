"""How kern and gpu read in Python. Where work-items meet, the function yields what it brings and is sent the result."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.index_space import NdrangeOp
from pykern.interpreter.emit import Emitter, integer, rule
from pykern.interpreter.rules_memref import make_buffer

_PLACES = {
    "kern.global_id": "global_id",
    "kern.local_id": "local_id",
    "kern.group_id": "group_id",
    "kern.group_size": "group_size",
    "kern.num_groups": "num_groups",
    NdrangeOp.OPERATION_NAME: "counts",
}
_SCALARS = {
    "kern.subgroup_size": "subgroup_size",
    "kern.subgroup_id": "subgroup_id",
    "kern.lane_id": "lane_id",
    "kern.local_linear_id": "number",
}
_AXES = {
    "gpu.thread_id": "local_id",
    "gpu.block_id": "group_id",
    "gpu.block_dim": "group_size",
    "gpu.grid_dim": "grid",
}


@rule(*_PLACES)
def _place(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"np.int64(it.{_PLACES[op.name]}[{integer(op, 'dim')}])")


@rule(*_SCALARS)
def _scalar(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"np.int64(it.{_SCALARS[op.name]})")


@rule(*_AXES)
def _axis(e: Emitter, op: ir.Operation) -> None:
    axis = next(n for n, letter in enumerate("xyz") if f" {letter}>" in str(op.attributes["dimension"]))
    e.assign(op, f"np.int64(it.along_axis(it.{_AXES[op.name]}, {axis}))")


@rule("kern.shared")
def _shared(e: Emitter, op: ir.Operation) -> None:
    make_buffer(e, op, "it.shared")


@rule("kern.dynamic_shared")
def _dynamic(e: Emitter, op: ir.Operation) -> None:
    key = e.object(object(), "key")
    kind = e.dtype(op.results[0].type)
    e.assign(op, f"it.shared({key}, (int({e.name(op.operands[0])}) // {kind}.itemsize,), {kind})")


@rule("kern.private")
def _private(e: Emitter, op: ir.Operation) -> None:
    make_buffer(e, op, "it.private")


@rule("kern.guard", "llvm.fence", "llvm.intr.assume", "llvm.intr.prefetch", "memref.prefetch",
      "llvm.intr.lifetime.start", "llvm.intr.lifetime.end")  # fmt: skip
def _nothing(e: Emitter, op: ir.Operation) -> None:
    e.line("pass")


@rule("kern.barrier", "gpu.barrier")
def _barrier(e: Emitter, op: ir.Operation) -> None:
    e.line(f"yield {e.object(object(), 'key')}, 'barrier', '', None, None")


@rule("kern.subgroup_reduce", "kern.subgroup_scan", "kern.subgroup_exclusive_scan", "kern.group_reduce")
def _together(e: Emitter, op: ir.Operation) -> None:
    kind = ir.StringAttr(op.attributes["kind"]).value
    what = op.name.removeprefix("kern.")
    e.assign(op, f"yield {e.object(object(), 'key')}, {what!r}, {kind!r}, {e.name(op.operands[0])}, None")


@rule("kern.subgroup_shuffle", "kern.subgroup_broadcast")
def _shuffle(e: Emitter, op: ir.Operation) -> None:
    value, lane = map(e.name, op.operands)
    e.assign(op, f"yield {e.object(object(), 'key')}, 'subgroup_shuffle', '', {value}, {lane}")


@rule("kern.atomic_rmw")
def _atomic(e: Emitter, op: ir.Operation) -> None:
    value, memory, *index = map(e.name, op.operands)
    kind = ir.StringAttr(op.attributes["kind"]).value
    changed = f"lambda old, new={value}: nb.COMBINE[{kind!r}](old, new)"
    e.assign(op, f"{memory}.change({', '.join([changed, *index])})")


@rule("kern.atomic_cas")
def _exchange(e: Emitter, op: ir.Operation) -> None:
    expected, desired, memory, *index = map(e.name, op.operands)
    changed = f"lambda old, a={expected}, b={desired}: b if old == a else old"
    e.assign(op, f"{memory}.change({', '.join([changed, *index])})")


@rule("kern.push")
def _push(e: Emitter, op: ir.Operation) -> None:
    e.line(f"it.tape.append({e.name(op.operands[0])})")


@rule("kern.pop")
def _pop(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, "it.tape.pop()")


@rule("kern.print")
def _print(e: Emitter, op: ir.Operation) -> None:
    e.line("pass")  # what is compared is arrays


@rule("kern.assert")
def _assert(e: Emitter, op: ir.Operation) -> None:
    e.line(f"it.report.failures += not {e.name(op.operands[0])}")


@rule("kern.report_bounds", "kern.report_nan", "kern.report_timeout")
def _report(e: Emitter, op: ir.Operation) -> None:
    e.line("it.report.failures += 1")


@rule("kern.failures")
def _failures(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, "np.int32(it.report.failures)")


@rule("kern.expired")
def _expired(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, "np.bool_(False)")  # nobody limits the time of an interpreted stage


@rule("kern.stop_gradient")
def _as_it_is(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, e.name(op.operands[0]))
