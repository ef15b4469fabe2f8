"""Atomic additions to one cell from a whole loop become one: a sum in a register, added at the end."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.dialect.atomics import AtomicRmwOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake
from pykern.passes.ir.reduction import neutral
from pykern.passes.ir.values import defining, has_uses, home, is_argument
from pykern.passes.kernels import MEMORY_OPERAND, find, identity, named
from pykern.passes.remarks import remark

_FREE = arith.FastMathFlags.reassoc | arith.FastMathFlags.contract


@dataclass(frozen=True)
class HoistAtomics(Pass):
    """Move ``atomic add`` with a fixed cell out of loops, innermost loops first.

    In:  loops with `kern.atomic_rmw`. Out: where the cell does not change in a loop, nothing else in
         the loop touches the array, under whatever name, and nobody asks for the old value, the loop carries
         a sum. Atomics promise no order, so the sum may be reassociated (and vectorised).
    """

    name: ClassVar[str] = "kern-hoist-atomics"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("kern.atomic_rmw",)

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            overlap = kern.NOALIAS not in kernel.attributes
            for loop in named(kernel, "scf.for"):  # a walk comes to the inner loop first
                current: ir.Operation | None = loop
                while current is not None:  # one addition at a time: each makes the loop anew
                    current = _hoist(current, overlap)


def _hoist(loop: ir.Operation, overlap: bool) -> ir.Operation | None:
    """Move one addition out; the loop that stands in place of `loop`, None where there was nothing to move."""
    body = loop.regions[0].blocks[0]
    inside = {identity(op) for op in find(loop, lambda op: True)} | {identity(loop)}
    op = next((op for op in named(loop, "kern.atomic_rmw") if _can_move(op, loop, inside, overlap)), None)
    if op is None:
        return None
    memory, *indices = list(op.operands)[1:]
    given = [op.operands[0]]
    if indices:
        with ir.InsertionPoint(op), op.location:
            given.append(arith.ConstantOp(ir.IntegerType.get_signless(1), 1).result)
    remark(op, "the atomic additions of the whole loop become one behind it")
    block, location, marked = op.block, op.location, kern.LAUNCH_SCOPE in op.attributes
    op.erase()
    made = _carry(loop, _lifted(block, given, body))
    results = list(made.results)[len(made.results) - len(given) :]
    with ir.InsertionPoint(_after(made)), location:
        _add(results, memory, indices, marked)
    return made


def _can_move(op: ir.Operation, loop: ir.Operation, inside: set[int], overlap: bool) -> bool:
    """An addition in the body, or in branches of it, to a cell that stays the same."""
    if not _only_adds(op):
        return False
    cell = list(op.operands)[1:]
    if any(_defined_in(v, inside) for v in cell):
        return False
    parent = op.parent
    while parent is not None and parent.operation.name == "scf.if":
        parent = parent.operation.parent
    if parent is None or identity(parent.operation) != identity(loop):
        return False
    return not any(
        _meets(other, cell[0], overlap)
        for other in find(loop, lambda o: o.name in MEMORY_OPERAND)
        if identity(other) != identity(op)
    )


def _meets(other: ir.Operation, memory: ir.Value, overlap: bool) -> bool:
    """Whether another access may see or change what is added to `memory`. Additions to an array that overlaps may
    come in any order; arguments overlap with arguments only."""
    touched = other.operands[MEMORY_OPERAND[other.name]]
    if touched == memory or not overlap:
        return touched == memory
    return is_argument(touched) and is_argument(memory) and not _only_adds(other)


def _only_adds(op: ir.Operation) -> bool:
    """Whether it is an atomic addition whose old value nobody asks for."""
    return (
        op.name == "kern.atomic_rmw"
        and ir.StringAttr(op.attributes["kind"]).value == "add"
        and not has_uses(op.results[0])
    )


def _defined_in(value: ir.Value, inside: set[int]) -> bool:
    maker = defining(value)
    return identity(home(value).owner.operation if maker is None else maker) in inside


def _lifted(inner: ir.Block, values: list[ir.Value], body: ir.Block) -> list[ir.Value]:
    """Values of the block `inner` as values of the loop's body: where the branch is not taken, nothing."""
    while inner != body:
        branch = inner.owner.operation
        side = 0 if inner == branch.regions[0].blocks[0] else 1
        inner = branch.block
        values = _through(branch, values, side)
    return values


def _through(branch: ir.Operation, values: list[ir.Value], side: int) -> list[ir.Value]:
    """The branch with more results: `values` on their side, nothing on the other."""
    with ir.InsertionPoint(branch), branch.location:
        made = ir.Operation.create(
            "scf.if", results=[*(r.type for r in branch.results), *(v.type for v in values)],
            operands=[branch.operands[0]], regions=2,
        )  # fmt: skip
    for number, (old, new) in enumerate(zip(branch.regions, made.regions, strict=True)):
        extra = values if number == side else None
        if len(old.blocks):
            old.blocks[0].append_to(new)
            end = _last(new.blocks[0])
            with ir.InsertionPoint(end), end.location:
                scf.YieldOp([*end.operands, *(extra or (neutral("add", v.type) for v in values))])
            end.erase()
        else:
            with ir.InsertionPoint(new.blocks.append()), branch.location:
                scf.YieldOp([neutral("add", v.type) for v in values])
    for old, new in zip(branch.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    branch.erase()
    results: list[ir.Value] = list(made.results)
    return results[len(results) - len(values) :]


def _carry(loop: ir.Operation, values: list[ir.Value]) -> ir.Operation:
    """The loop with sums of values of its body as further results."""
    body = loop.regions[0].blocks[0]
    with ir.InsertionPoint(loop), loop.location:
        starts = [neutral("add", v.type) for v in values]
        results = [*(r.type for r in loop.results), *(v.type for v in values)]
        made = remake(loop, [*loop.operands, *starts], results, regions=1)
    body.append_to(made.regions[0])
    end = _last(body)
    sums = [body.add_argument(v.type, loop.location) for v in values]
    with ir.InsertionPoint(end), end.location:
        scf.YieldOp([*end.operands, *map(_sum, sums, values)])
    end.erase()
    for old, new in zip(loop.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    loop.erase()
    return made


def _add(results: list[ir.Value], memory: ir.Value, indices: list[ir.Value], marked: bool) -> None:
    """One addition for the whole loop; an index is only trusted where an iteration used it."""
    branch = scf.IfOp(results[1]) if indices else None
    with ir.InsertionPoint(branch.then_block) if branch else contextlib.nullcontext():
        old = AtomicRmwOp.create("add", results[0], memory, indices)
        if marked:
            old.owner.operation.attributes[kern.LAUNCH_SCOPE] = ir.UnitAttr.get()
        if branch:
            scf.YieldOp([])


def _sum(total: ir.Value, value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.FloatType):
        return arith.AddFOp(total, value, fastmath=_FREE).result
    one_bit = isinstance(value.type, ir.IntegerType) and value.type.width == 1
    return (arith.OrIOp if one_bit else arith.AddIOp)(total, value).result


def _last(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _after(op: ir.Operation) -> ir.Operation:
    operations = [o.operation for o in op.block.operations]
    position = next(n for n, o in enumerate(operations) if identity(o) == identity(op))
    return operations[position + 1]
