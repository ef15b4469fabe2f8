"""Loops that add values up at computed places, as gradients of look-ups have them: a work-item a value, atomics.

Comes in: a nest of `scf.for` of known lengths. Goes out: `scatter_of`, which tells whether it is of that kind, and
`launch_scatter`. Work-items come in any order, so the last bits of a float sum may differ from run to run; nests of
few values stay loops in order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir

from pykern.dialect.atomics import AtomicRmwOp
from pykern.passes.analysis.cost_model.devices import FEWEST_SCATTERED
from pykern.passes.codegen.device.kernel import Kernel, KernelContext, is_pure
from pykern.passes.codegen.device.points import Items
from pykern.passes.ir.clone import clone
from pykern.passes.ir.memory import root_of
from pykern.passes.ir.values import defining, free_values, made_by
from pykern.passes.kernels import body, identity, is_constant

ADDITIONS = ("arith.addf", "arith.addi")


@dataclass
class Scatter:
    """``memory[places] += value`` in the innermost of `loops`; `held` loads what is there before."""

    loops: list[ir.Operation]
    lengths: list[int]
    held: ir.Operation
    store: ir.Operation
    value: ir.Value


def scatter_of(loop: ir.Operation) -> Scatter | None:
    """The nest as a scatter; None where it is something else, or short."""
    loops, lengths = [], []
    inner = loop
    while True:
        bounds = [is_constant(v) for v in list(inner.operands)[:3]]
        if list(inner.results) or bounds[0] != 0 or bounds[1] is None or bounds[2] != 1:
            return None
        loops.append(inner)
        lengths.append(bounds[1])
        ops = [o.operation for o in body(inner).operations][:-1]
        if len(ops) != 1 or ops[0].name != "scf.for":
            break
        inner = ops[0]
    if math.prod(lengths) < FEWEST_SCATTERED:
        return None
    return _addition(ops, loops, lengths)


def _addition(ops: list[ir.Operation], loops: list[ir.Operation], lengths: list[int]) -> Scatter | None:
    stores = [op for op in ops if op.name == "memref.store"]
    if len(stores) != 1 or not all(op.name == "memref.load" or is_pure(op) for op in ops if op != stores[0]):
        return None
    store = stores[0]
    added = made_by(store.operands[0], *ADDITIONS)
    if added is None or added.block != store.block:
        return None
    place = list(store.operands)[1:]
    for held, value in (list(added.operands), list(reversed(added.operands))):
        load = defining(held)
        if load is not None and load.name == "memref.load" and list(load.operands) == place:
            return _alone(ops, added, Scatter(loops, lengths, load, store, value))
    return None


def _alone(ops: list[ir.Operation], added: ir.Operation, found: Scatter) -> Scatter | None:
    """The scatter, if nothing else reads what it writes."""
    target = root_of(found.store.operands[1])
    others = [op for op in ops if op.name == "memref.load" and identity(op) != identity(found.held)]
    used_once = [len(list(v.uses)) for v in (found.held.results[0], added.results[0])] == [1, 1]
    return found if used_once and all(root_of(op.operands[0]) != target for op in others) else None


def launch_scatter(place: KernelContext, scatter: Scatter) -> None:
    """Make the kernel and launch it before the loops."""
    outermost, innermost = scatter.loops[0], scatter.loops[-1]
    items = Items(tuple(scatter.lengths))
    with Kernel(place, outermost, items.ndrange, items.workgroup) as kernel:
        known = {value: kernel.value(value) for value in free_values(outermost)}
        counters = [body(loop).arguments[0] for loop in scatter.loops]
        known |= dict(zip(counters, items.coordinates(), strict=True))
        skipped = {
            identity(op) for op in (scatter.held, scatter.store, scatter.store.operands[0].owner.operation)
        }
        for op in [o.operation for o in body(innermost).operations][:-1]:
            if identity(op) not in skipped:
                copy = clone(op, lambda v: known.get(v, v))
                known.update(zip(op.results, copy.results, strict=True))
        memory, *places = [known.get(v, v) for v in list(scatter.store.operands)[1:]]
        AtomicRmwOp.create("add", known[scatter.value], memory, places)
