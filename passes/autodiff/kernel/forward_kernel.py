"""`kern-forward-kernel`: a kernel that carries tangents along.

In: a kernel, and the numbers of the arguments that are differentiated. Out: the same function with a
shadow behind each of these, which holds the tangent: an array for an array, a 0-d array for a scalar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.dialect.atomics import AtomicRmwOp
from pykern.dialect.collectives import COLLECTIVES
from pykern.dialect.tape import PopOp, PushOp
from pykern.passes import kernels
from pykern.passes.autodiff.kernel.activity import Activity
from pykern.passes.autodiff.kernel.collectives import collective_tangent
from pykern.passes.autodiff.kernel.copying import copy_of
from pykern.passes.autodiff.kernel.memory import local_shadows, refuse_atomic
from pykern.passes.autodiff.kernel.shadow_arguments import replace_function
from pykern.passes.autodiff.kernel.sweep import no_rule, zero
from pykern.passes.autodiff.parts import tangent_of
from pykern.passes.autodiff.rules import table
from pykern.passes.framework import Pass

Values = dict[ir.Value, ir.Value]


@dataclass(frozen=True)
class ForwardKernel(Pass):
    """Forward mode. Raises `NotDifferentiable` at the line that prevents it."""

    name: ClassVar[str] = "kern-forward-kernel"
    active: tuple[int, ...] = ()
    """Numbers of the function's arguments that get a shadow."""
    strided: tuple[int, ...] = ()
    """Those of them whose shadow may have any strides."""

    def run(self, module: ir.Module) -> None:
        for kernel in list(kernels.kernels(module)):
            forward_kernel(kernel, self.active, self.strided)


def forward_kernel(
    kernel: ir.Operation, active: tuple[int, ...], strided: tuple[int, ...] = ()
) -> ir.Operation:
    """Put the kernel with tangents in the place of one kernel; see `ForwardKernel`."""
    with kernel.location:
        return replace_function(kernel, active, strided, _Tangents(kernel, active).emit)


class _Tangents:
    """Copies the kernel; `values` and `tangents` map its values to those of the copy."""

    def __init__(self, kernel: ir.Operation, active: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.activity = Activity(kernel, active)
        self.values: Values = {}
        self.tangents: Values = {}
        self.shadows: Values = {}

    def emit(self, values: Values, shadows: Values) -> None:
        """The new body. `values` and `shadows` map the kernel's arguments to the new function's."""
        self.values.update(values)
        for argument, shadow in shadows.items():
            if isinstance(argument.type, ir.MemRefType):
                self.shadows[argument] = shadow
            else:
                self.tangents[argument] = memref.LoadOp(shadow, []).result
        self.shadows.update(local_shadows(self.kernel, self.activity, self.values))
        self._block(kernels.body(self.kernel))

    def _block(self, block: ir.Block, carried: list[int] | None = None) -> None:
        """Copy a block; `carried` are the operands of its terminator whose tangents go along."""
        operations = [o.operation for o in block.operations]
        for op in operations:
            with tangent_of(op.location):
                if carried is not None and op == operations[-1]:
                    tangents = [self._tangent(op.operands[n]) for n in carried]
                    copy_of(op, [*self._of(op.operands), *tangents])
                else:
                    self._operation(op)

    def _operation(self, op: ir.Operation) -> None:
        if op.name in _STRUCTURED:
            _STRUCTURED[op.name](self, op)
        elif op.name == "kern.push" and self.activity.taped(op.operands[0].type):
            PushOp.create(self.values[op.operands[0]])
            PushOp.create(self._tangent(op.operands[0]))
        elif op.name == "kern.pop" and self.activity.taped(op.results[0].type):
            self.tangents[op.results[0]] = PopOp.create(op.results[0].type)
            self.values[op.results[0]] = PopOp.create(op.results[0].type)
        else:
            made = copy_of(op, self._of(op.operands))
            self.values.update(zip(op.results, made.results, strict=True))
            self._straight(op)

    # -- branches and loops --------------------------------------------------------------------

    def _if(self, op: ir.Operation) -> None:
        flowing = self._varied(op.results)
        made = copy_of(op, self._of(op.operands), tuple(op.results[n].type for n in flowing))
        for region, copy in zip(op.regions, made.regions, strict=True):
            if len(region.blocks):
                with ir.InsertionPoint(copy.blocks.append()):
                    self._block(region.blocks[0], flowing)
        self._results(op, made, flowing)

    def _for(self, op: ir.Operation) -> None:
        body = op.regions[0].blocks[0]
        flowing = self._varied(list(body.arguments)[1:])
        starts = [self._tangent(op.operands[3 + n]) for n in flowing]
        made = copy_of(op, [*self._of(op.operands), *starts], tuple(v.type for v in starts))
        self._region(op, made, 0, [n + 1 for n in flowing], flowing)
        self._results(op, made, flowing)

    def _while(self, op: ir.Operation) -> None:
        before, after = (region.blocks[0] for region in op.regions)
        tested, passed = self._varied(before.arguments), self._varied(after.arguments)
        starts = [self._tangent(op.operands[n]) for n in tested]
        made = copy_of(op, [*self._of(op.operands), *starts], tuple(op.results[n].type for n in passed))
        self._region(op, made, 0, tested, [n + 1 for n in passed])
        self._region(op, made, 1, passed, tested)
        self._results(op, made, passed)

    def _region(
        self, op: ir.Operation, made: ir.Operation, number: int, arguments: list[int], ends: list[int]
    ) -> None:
        """Copy a body; the arguments with these numbers have tangents, given behind all arguments."""
        block = op.regions[number].blocks[0]
        types = [a.type for a in block.arguments]
        copy = made.regions[number].blocks.append(*types, *(types[n] for n in arguments))
        self.values.update(zip(block.arguments, copy.arguments, strict=False))
        given = list(copy.arguments)[len(types) :]
        self.tangents.update(zip([block.arguments[n] for n in arguments], given, strict=True))
        with ir.InsertionPoint(copy):
            self._block(block, ends)

    def _results(self, op: ir.Operation, made: ir.Operation, flowing: list[int]) -> None:
        self.values.update(zip(op.results, made.results, strict=False))
        given = list(made.results)[len(op.results) :]
        self.tangents.update(zip([op.results[n] for n in flowing], given, strict=True))

    def _varied(self, values) -> list[int]:
        return [n for n, v in enumerate(values) if self.activity.varied(v)]

    # -- straight-line code --------------------------------------------------------------------

    def _straight(self, op: ir.Operation) -> None:
        """The tangent of an op that was just copied."""
        if op.name == "memref.load":
            if op.operands[0] in self.shadows:
                memory, *indices = op.operands
                self.tangents[op.results[0]] = memref.LoadOp(self.shadows[memory], self._of(indices)).result
        elif op.name == "memref.store":
            value, memory, *indices = op.operands
            if memory in self.shadows:
                memref.StoreOp(self._tangent(value), self.shadows[memory], self._of(indices))
        elif op.name in ("kern.atomic_rmw", "kern.atomic_cas"):
            self._atomic(op)
        elif any(self.activity.varied(v) for v in op.operands) and any(
            self.activity.varied(v) for v in op.results
        ):
            self.tangents[op.results[0]] = self._scalar(op)

    def _scalar(self, op: ir.Operation) -> ir.Value:
        if op.name in COLLECTIVES:
            return collective_tangent(op, self.values, self._tangent(op.operands[0]))
        if not table.has_rule(op):
            raise no_rule(op)
        read = {n: self.values[v] for i in range(len(op.operands)) for n, v in table.reads(op, i).items()}
        tangents = [self.tangents.get(v) if self.activity.varied(v) else None for v in op.operands]
        return table.jvp(op, read, tangents) or zero(op.results[0].type)

    def _atomic(self, op: ir.Operation) -> None:
        at = kernels.MEMORY_OPERAND[op.name]
        memory, *indices = list(op.operands)[at:]
        if memory not in self.shadows:
            return
        refuse_atomic(op)
        kind = ir.StringAttr(op.attributes["kind"]).value
        AtomicRmwOp.create(kind, self._tangent(op.operands[0]), self.shadows[memory], self._of(indices))

    def _of(self, values) -> list[ir.Value]:
        return [self.values[v] for v in values]

    def _tangent(self, value: ir.Value) -> ir.Value:
        return self.tangents.get(value) or zero(value.type)


_STRUCTURED = {"scf.if": _Tangents._if, "scf.for": _Tangents._for, "scf.while": _Tangents._while}
