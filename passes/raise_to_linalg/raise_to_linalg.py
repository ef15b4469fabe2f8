"""The pass `kern-raise-to-linalg`, and the question whether a kernel can be raised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import NotRaisable
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import body, find, index_constant, update_type
from pykern.passes.raise_to_linalg.builder import Builder
from pykern.passes.raise_to_linalg.flat_arrays import split_flat_arrays
from pykern.passes.raise_to_linalg.forms import Form
from pykern.passes.raise_to_linalg.independence import ArrayAccess, Proof, accesses, conflicts
from pykern.passes.raise_to_linalg.program import Bind, Program, written
from pykern.passes.raise_to_linalg.reading import KernelReader
from pykern.passes.raise_to_linalg.scalars import Scalars
from pykern.passes.raise_to_linalg.updates import Updates
from pykern.passes.raise_to_linalg.writing import ProgramWriter
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class RaiseToLinalg(Pass):
    """Turn kernels into linalg on tensors.

    In:  func.func marked `kern.kernel` on the kern stage, simplified and canonical.
    Out: the function marked `kern.raised`, with the launch as arguments after its own: per dimension the
         count, and start and step where the ndrange is not `kern.plain`; static counts take no argument.
         Arrays are tensors from `bufferization.to_tensor` to `bufferization.materialize_in_destination`.
    Raises `NotRaisable` where a kernel has no proved form; the module is then as it was.
    """

    name: ClassVar[str] = "kern-raise-to-linalg"

    def run(self, module: ir.Module) -> None:
        plans = [_plan(kernel) for kernel in kernels.kernels(module)]
        for plan in plans:
            remark(plan.kernel, "raised to operations on whole arrays")
            plan.write()


def raisable(module: ir.Module) -> NotRaisable | None:
    """Why the first kernel of the module that cannot be raised cannot; None where all can."""
    with module.context:
        try:
            for kernel in kernels.kernels(module):
                _plan(kernel)
        except NotRaisable as reason:
            return reason
    return None


@dataclass(eq=False)
class _Plan:
    """A kernel that was read and proved."""

    kernel: ir.Operation
    builder: Builder
    program: Program
    shapes: dict[int, tuple[int, ...]]
    """Of flat arrays that are taken apart into rows."""

    def write(self) -> None:
        block = body(self.kernel)
        old = [o.operation for o in block.operations]
        counts = _launch_arguments(self.kernel)
        used = _arrays_used(self.program)
        with ir.InsertionPoint(old[-1]), self.kernel.location:
            given = _static_counts(self.kernel)
            changed = written(self.program.body)
            tensors = {
                n: _taken_apart(_to_tensor(a, n in changed), self.shapes.get(n))
                for n, a in self.program.arrays.items()
                if n in used
            }
            updates = self._updates(_ascending({**counts, **given}))
            writer = ProgramWriter(updates, dict(tensors))
            writer.run(self.program.body, [])
            for array in changed:
                _materialize(_flat(writer.state[array], self.shapes.get(array)), self.program.arrays[array])
        for op in reversed(old[:-1]):
            op.erase()
        for name in (kern.KERNEL, kern.PLAIN, kern.UNIT, kern.RANK, kern.NDRANGE, kern.NOALIAS):
            if name in self.kernel.attributes:
                del self.kernel.attributes[name]
        self.kernel.attributes[kern.RAISED] = ir.UnitAttr.get()

    def _updates(self, counts: dict[tuple[str, int], ir.Value]) -> Updates:
        scalars = Scalars(arrays=self.program.arrays, counts=counts)
        lengths = {
            number: tuple(self.builder.length(number, d, kind) for d in range(kind.rank))
            for number, array in self.program.arrays.items()
            for kind in [ir.MemRefType(array.type)]
        }
        lengths.update({n: tuple(Form((), length) for length in shape) for n, shape in self.shapes.items()})
        updates = Updates(self.builder, scalars, lengths)
        scalars.hold = lambda fold: updates.hold(fold, updates.boxes.full(()))[1]
        return updates


def _plan(kernel: ir.Operation) -> _Plan:
    with kernel.context, kernel.location:
        stores = find(kernel, lambda op: op.name in ("memref.store", "kern.atomic_rmw"))
        targets = [op.operands[1] for op in stores]
        numbers = (n for n, a in enumerate(body(kernel).arguments) if a in targets)
        proof = Proof(frozenset(numbers))
        builder = Builder()
        program = KernelReader(kernel, builder, proof).read()
        _prove_independence(kernel, program, proof)
        return _Plan(kernel, builder, program, split_flat_arrays(program))


def _prove_independence(kernel: ir.Operation, program: Program, proof: Proof) -> None:
    """That no work-item touches a cell another one writes. Raises `NotRaisable` at the access."""
    touched = accesses(program.body)
    changed = written(program.body)
    if changed and kern.NOALIAS not in kernel.attributes and len({a.array for a in touched}) > 1:
        raise NotRaisable(
            "the arrays may overlap", span_of(kernel.location), "pass arrays that share no memory"
        )
    for one, other in conflicts(touched):
        if not proof.agree(one, other, program.items):
            raise _race(kernel, one, other)


def _race(kernel: ir.Operation, one: ArrayAccess, other: ArrayAccess) -> NotRaisable:
    write, read = (one, other) if one.writes else (other, one)
    what = (
        "written by one work-item and by another"
        if read.writes
        else "written by one work-item and read by another"
    )
    name = f"`{_name(kernel, write.array)}`"
    places = [span_of(_location(a)) for a in (write, read)]
    notes = () if one is other or places[0] == places[1] else (("the other access", places[1]),)
    return NotRaisable(
        f"an element of {name} may be {what}: their order would matter",
        places[0],
        "write to cells given by the work-item's own index, or use an atomic",
        notes,
    )


def _location(access: ArrayAccess) -> ir.Location:
    statement = access.statement
    return statement.load.location if isinstance(statement, Bind) else statement.location


def _name(kernel: ir.Operation, number: int) -> str:
    if "arg_attrs" in kernel.attributes:
        given = ir.DictAttr(ir.ArrayAttr(kernel.attributes["arg_attrs"])[number])
        if kern.NAME in given:
            return ir.StringAttr(given[kern.NAME]).value
    return f"argument {number}"


# -- the function's frame -------------------------------------------------------------------------


def _launch_arguments(kernel: ir.Operation) -> dict[tuple[str, int], ir.Value]:
    """Append the launch to the arguments."""
    block, counts = body(kernel), {}
    known = kernels.integers(kernel, kern.NDRANGE)
    names = ("count",) if kern.PLAIN in kernel.attributes else ("count", "start", "step")
    for dim in range(kernels.rank(kernel)):
        for name in names:
            if name != "count" or known is None:
                counts[name, dim] = block.add_argument(ir.IndexType.get(), kernel.location)
    update_type(kernel)
    return counts


def _static_counts(kernel: ir.Operation) -> dict[tuple[str, int], ir.Value]:
    known = kernels.integers(kernel, kern.NDRANGE) or ()
    return {("count", dim): index_constant(count) for dim, count in enumerate(known)}


def _ascending(counts: dict[tuple[str, int], ir.Value]) -> dict[tuple[str, int], ir.Value]:
    """The launch with positive steps: the order of work-items is free."""
    made = dict(counts)
    for what, dim in counts:
        if what == "step":
            start, step = counts["start", dim], counts["step", dim]
            last = arith.MulIOp(arith.SubIOp(counts["count", dim], index_constant(1)).result, step).result
            made["start", dim] = arith.MinSIOp(start, arith.AddIOp(start, last).result).result
            made["step", dim] = arith.MaxSIOp(step, arith.SubIOp(index_constant(0), step).result).result
    return made


def _arrays_used(program: Program) -> set[int]:
    return {a.array for a in accesses(program.body)}


def _to_tensor(array: ir.Value, changes: bool) -> ir.Value:
    kind = ir.MemRefType(array.type)
    made = ir.RankedTensorType.get(kind.shape, kind.element_type)
    attributes = {"restrict": ir.UnitAttr.get()}
    if changes:  # nothing else may serve as memory for results on their way
        attributes["writable"] = ir.UnitAttr.get()
    return ir.Operation.create("bufferization.to_tensor", [made], [array], attributes=attributes).results[0]


def _taken_apart(flat: ir.Value, shape: tuple[int, ...] | None) -> ir.Value:
    if shape is None:
        return flat
    made = ir.RankedTensorType.get(shape, ir.RankedTensorType(flat.type).element_type)
    return tensor.ExpandShapeOp(made, flat, [list(range(len(shape)))], [], shape).result


def _flat(array: ir.Value, shape: tuple[int, ...] | None) -> ir.Value:
    if shape is None:
        return array
    made = ir.RankedTensorType.get([math.prod(shape)], ir.RankedTensorType(array.type).element_type)
    return tensor.CollapseShapeOp(made, array, [list(range(len(shape)))]).result


def _materialize(value: ir.Value, array: ir.Value) -> None:
    attributes = {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}
    ir.Operation.create("bufferization.materialize_in_destination", [], [value, array], attributes=attributes)
