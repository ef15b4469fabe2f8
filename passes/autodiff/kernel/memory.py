"""Loads, stores and atomics in the reverse sweep: what flows goes through the shadow of the array.

A load adds to the cell of the shadow; a store takes what is there and leaves zero; an atomic add takes
it and leaves it. Where other work-items may add to the same cell, the addition is atomic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.dialect.atomics import AtomicRmwOp
from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import GroupSizeOp, LocalLinearIdOp
from pykern.dialect.memory import BarrierOp, DynamicSharedOp, PrivateOp, SharedOp
from pykern.errors import NotDifferentiable
from pykern.passes import kernels
from pykern.passes.autodiff.kernel.activity import Activity
from pykern.passes.autodiff.kernel.memory_gates import from_cell, is_open, nothing, to_cell
from pykern.passes.autodiff.kernel.sharing import Sharing
from pykern.passes.autodiff.rules.expression import cast_float, flow_type
from pykern.passes.autodiff.rules.gates import Flow, is_singular
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import BUFFERS, MEMORY_OPERAND, index_constant, named

if TYPE_CHECKING:
    from pykern.passes.autodiff.kernel.sweep import Sweep


class Shadows:
    """The shadow of each array that carries a derivative; `restored` arrays get their old cells back.

    With `gated`, the callers' shadows hold gates, all of them (`memory_gates`).
    """

    def __init__(
        self,
        kernel: ir.Operation,
        activity: Activity,
        sharing: Sharing,
        of: dict[ir.Value, ir.Value],
        restored: set[ir.Value],
        gated: bool,
    ) -> None:
        self.activity, self.sharing = activity, sharing
        self.of, self.restored = of, restored
        self._all_gated = gated
        self._singular = self._all_gated or bool(kernels.find(kernel, is_singular))

    def gated(self, memory: ir.Value) -> bool:
        """Whether what flows through the memory keeps its gates: it may go on to infinite factors."""
        kind = ir.MemRefType(memory.type).element_type
        if not self._singular or flow_type(kind) != kind:
            return False
        if self._all_gated or memory in self.restored or not is_argument(memory):
            return True
        return len(self.sharing.accesses[memory].stores) > 1  # one may overwrite another

    def concerns(self, op: ir.Operation) -> bool:
        if op.name not in MEMORY_OPERAND:
            return False
        memory = op.operands[MEMORY_OPERAND[op.name]]
        return memory in self.activity.buffers or (memory in self.restored and op.name == "memref.store")

    def exclusive(self, memory: ir.Value) -> bool:
        """Whether no other work-item touches the cells this one touches."""
        if is_argument(memory):
            return self.sharing.own[memory]
        return memory.owner.operation.name == "kern.private"


def reverse_memory(sweep: Sweep, op: ir.Operation) -> bool:
    """Reverse a load, store or atomic; False for any other op."""
    if op.name == "memref.load":
        _load(sweep, op)
    elif op.name == "memref.store":
        _store(sweep, op)
    elif op.name in ("kern.atomic_rmw", "kern.atomic_cas"):
        _atomic(sweep, op)
    else:
        return False
    return True


def _load(sweep: Sweep, op: ir.Operation) -> None:
    memory, *indices = op.operands
    flow = sweep.adjoints.pop(op.results[0], None)
    if flow is None or memory not in sweep.shadows.of:
        return
    accumulate(
        to_cell(flow) if sweep.shadows.gated(memory) else flow.settled(),
        sweep.shadows.of[memory],
        [sweep.primals.primal(i) for i in indices],
        sweep.shadows.exclusive(memory),
    )


def _store(sweep: Sweep, op: ir.Operation) -> None:
    value, memory, *indices = op.operands
    where = [sweep.primals.primal(i) for i in indices]
    if memory in sweep.shadows.of:
        shadow, gated = sweep.shadows.of[memory], sweep.shadows.gated(memory)
        flowing = memref.LoadOp(shadow, where).result
        sweep.add(value, from_cell(flowing) if gated else flowing)
        zero = constant(value.type, 0.0)
        memref.StoreOp(nothing(value.type) if gated else zero, shadow, where)
    if memory in sweep.shadows.restored:
        old = sweep.primals.overwritten(op)
        memref.StoreOp(old, sweep.primals.forward.values[memory], where)


def _atomic(sweep: Sweep, op: ir.Operation) -> None:
    at = MEMORY_OPERAND[op.name]
    memory, *indices = list(op.operands)[at:]
    if memory not in sweep.shadows.of:
        return
    kind = refuse_atomic(op)
    flowing = memref.LoadOp(sweep.shadows.of[memory], [sweep.primals.primal(i) for i in indices]).result
    gate = is_open(flowing) if sweep.shadows.gated(memory) else None
    sweep.add(op.operands[0], Flow(arith.NegFOp(flowing).result if kind == "sub" else flowing, gate))


def refuse_atomic(op: ir.Operation) -> str:
    """The kind of an atomic on numbers that carry a derivative: "add" or "sub", anything else raises."""
    kind = ir.StringAttr(op.attributes["kind"]).value if op.name == "kern.atomic_rmw" else "compare_exchange"
    used = next(iter(op.results[0].uses), None) is not None
    if kind not in ("add", "sub") or used:
        raise NotDifferentiable(
            f"atomic {kind}{', whose old value is used,' if used else ''} depends on the order of the work-items",
            span_of(op.location),
            "use pk.atomic_add without its result, or pk.group_reduce",
        )
    return kind


def local_shadows(
    kernel: ir.Operation,
    activity: Activity,
    values: dict[ir.Value, ir.Value],
    gated: Callable[[ir.Value], bool] = lambda memory: False,
) -> dict[ir.Value, ir.Value]:
    """Shadows of shared and private memory, zeroed once: in a loop, too, it is one array.

    Where the memory is `gated`, nothing flows to its cells yet.
    """
    made: dict[ir.Value, ir.Value] = {}
    for op in named(kernel, *BUFFERS):
        if op.result in activity.buffers:
            with op.location:
                start = -0.0 if gated(op.result) else 0.0
                sizes = [values[v] for v in op.operands]
                made[op.result] = _shadow_of_local(op, sizes, kernels.rank(kernel), start)
    if any(memory.owner.operation.name != "kern.private" for memory in made):
        BarrierOp.create()
    return made


def _shadow_of_local(op: ir.Operation, operands: list[ir.Value], rank: int, start: float) -> ir.Value:
    """A shadow for shared or private memory, filled with `start`, in a kernel of `rank` dimensions."""
    kind = ir.MemRefType(op.results[0].type)
    if op.name == "kern.dynamic_shared":
        made = DynamicSharedOp.create(operands[0], kind.element_type)
    else:
        create = (SharedOp if op.name == "kern.shared" else PrivateOp).create
        made = create(tuple(kind.shape), kind.element_type)
    _fill(made, start, None if op.name == "kern.private" else rank)
    return made


def accumulate(flowing: ir.Value, shadow: ir.Value, indices: list[ir.Value], exclusive: bool) -> None:
    """Add to a cell of a shadow."""
    kind = ir.MemRefType(shadow.type).element_type
    if exclusive:
        known = cast_float(memref.LoadOp(shadow, indices).result, flow_type(kind))
        memref.StoreOp(cast_float(arith.AddFOp(known, flowing).result, kind), shadow, indices)
    elif flow_type(kind) != kind:
        raise NotDifferentiable(
            "several work-items add to the derivative of one cell, and 8 bits hold no sum",
            span_of(ir.Location.current),
            "convert the array to float32 before the launch",
        )
    else:
        old = AtomicRmwOp.create("add", flowing, shadow, indices)
        old.owner.operation.attributes[kern.LAUNCH_SCOPE] = ir.UnitAttr.get()


def _fill(memory: ir.Value, number: float, group_rank: int | None) -> None:
    """Fill a buffer; the work-items of a group of `group_rank` dimensions share the first dimension."""
    kind = ir.MemRefType(memory.type)
    starts = [index_constant(0) for _ in kind.shape]
    steps = [index_constant(1) for _ in kind.shape]
    ends = [_length(memory, d) for d in range(kind.rank)]
    if group_rank is not None:
        starts[0] = LocalLinearIdOp.create()
        sizes = [GroupSizeOp.create(d) for d in range(group_rank)]
        steps[0] = sizes[0]
        for size in sizes[1:]:
            steps[0] = arith.MulIOp(steps[0], size).result
    _nest(memory, number, list(zip(starts, ends, steps, strict=True)), [])


def _length(memory: ir.Value, dim: int) -> ir.Value:
    kind = ir.MemRefType(memory.type)
    if kind.is_dynamic_dim(dim):
        return memref.DimOp(memory, index_constant(dim)).result
    return index_constant(kind.shape[dim])


def _nest(memory: ir.Value, number: float, bounds: list, indices: list[ir.Value]) -> None:
    if not bounds:
        kind = ir.MemRefType(memory.type).element_type
        memref.StoreOp(constant(kind, number), memory, indices)
        return
    loop = scf.ForOp(*bounds[0])
    with ir.InsertionPoint(loop.body):
        _nest(memory, number, bounds[1:], [*indices, loop.induction_variable])
        scf.YieldOp([])
